package cron

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Schedules are when runs are due.
type Schedules struct {
	zone *time.Location
	all  []cron.Schedule
	text string
}

// maxSchedules bounds the schedules of one object: each is evaluated for each time that was missed.
const maxSchedules = 100

// ParseSchedules reads the schedules of a spec, in either spelling, with their time zone.
func ParseSchedules(spec *v1alpha1.CronWorkflowSpec) (Schedules, error) {
	texts := slices.Clone(spec.Schedules)
	if spec.Schedule != "" && !slices.Contains(texts, spec.Schedule) {
		texts = append(texts, spec.Schedule)
	}
	if len(texts) == 0 {
		return Schedules{}, fmt.Errorf("cron workflow must have at least one schedule")
	}
	if len(texts) > maxSchedules {
		return Schedules{}, fmt.Errorf("cron workflow has %d schedules of at most %d", len(texts), maxSchedules)
	}
	s := Schedules{zone: time.UTC}
	if spec.Timezone != "" {
		zone, err := time.LoadLocation(spec.Timezone)
		if err != nil {
			return Schedules{}, fmt.Errorf("timezone %q is unknown: %w", spec.Timezone, err)
		}
		s.zone = zone
	}
	for i, text := range texts {
		// The library reads a zone before the fields, without checking for its end.
		if strings.Contains(text, "TZ=") {
			return Schedules{}, fmt.Errorf("cron schedule %q is malformed: set the zone as timezone", text)
		}
		schedule, err := cron.ParseStandard(text)
		if err != nil {
			return Schedules{}, fmt.Errorf("cron schedule %q is malformed: %w", text, err)
		}
		s.all = append(s.all, schedule)
		if spec.Timezone != "" {
			texts[i] = "CRON_TZ=" + spec.Timezone + " " + text
		}
	}
	s.text = strings.Join(texts, ",")
	return s, nil
}

// String is what is recorded, to notice that the schedules were changed.
func (s Schedules) String() string { return s.text }

// Next is when a run is due next after a time; zero for never.
func (s Schedules) Next(after time.Time) time.Time {
	var next time.Time
	for _, schedule := range s.all {
		at := once(schedule, after.In(s.zone))
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next.UTC()
}

// everyHour is the bit of a schedule whose hours are a star.
const everyHour = 1 << 63

// once is when a schedule is due next. A time of day that comes twice, since the clock is put back, is due the first time only; a schedule for every hour
// is due in every hour.
func once(schedule cron.Schedule, after time.Time) time.Time {
	next := schedule.Next(after)
	fields, byClock := schedule.(*cron.SpecSchedule)
	if next.IsZero() || !byClock || fields.Hour&everyHour != 0 {
		return next
	}
	before := next.Add(-time.Hour)
	if before.Hour() == next.Hour() && before.Minute() == next.Minute() && before.Day() == next.Day() {
		return once(schedule, next)
	}
	return next
}

// maxMissed bounds how many missed times are counted after a long pause. Earlier ones do not matter: only the last one may still be run.
const maxMissed = 10_000

// Last is the last time after one and not after another one at which a run was due; zero if there is none.
func (s Schedules) Last(after, until time.Time) time.Time {
	var last time.Time
	for range maxMissed {
		next := s.Next(after)
		if next.IsZero() || next.After(until) {
			return last
		}
		last, after = next, next
	}
	// Something that is due every second was not evaluated for hours: the last hour is enough.
	return s.Last(until.Add(-time.Hour), until)
}
