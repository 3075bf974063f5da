package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// schedule requests a rebuild when the last time that was due has not been acted on: one, however many have passed. The outputs stay until
// the new ones are ready. A run that is active at that time is taken for the rebuild.
func (p *pass) schedule() {
	p.status.NextScheduleTime = nil
	s := p.build.Spec.Schedule
	if s == nil || s.Suspend {
		return
	}
	times, zone, err := parseSchedule(s.Cron, s.Timezone)
	if err != nil {
		p.invalid = err.Error()
		return
	}
	now := p.facts.Now.In(zone)
	if p.status.LastScheduleTime == nil {
		from := p.seconds()
		p.status.LastScheduleTime = &from
	}
	if due := last(times, p.status.LastScheduleTime.In(zone), now); !due.IsZero() {
		at := metav1.NewTime(due.UTC())
		p.status.LastScheduleTime = &at
		if p.status.Active == nil && p.status.LastSuccess != nil {
			p.status.RebuildEpoch++
		}
	}
	if next := times.Next(now); !next.IsZero() {
		at := metav1.NewTime(next.UTC())
		p.status.NextScheduleTime = &at
		p.wakeAt(next)
	}
}

// parseSchedule reads a schedule and its time zone.
func parseSchedule(text, timezone string) (cron.Schedule, *time.Location, error) {
	zone := time.UTC
	if timezone != "" {
		var err error
		if zone, err = time.LoadLocation(timezone); err != nil {
			return nil, nil, fmt.Errorf("spec.schedule.timezone %q is unknown", timezone)
		}
	}
	if strings.Contains(text, "TZ=") {
		return nil, nil, fmt.Errorf("spec.schedule.cron %q: set the time zone as spec.schedule.timezone", text)
	}
	times, err := cron.ParseStandard(text)
	if err != nil {
		return nil, nil, fmt.Errorf("spec.schedule.cron %q: %w", text, err)
	}
	return times, zone, nil
}

// maxMissed bounds how many times are passed over after a long pause.
const maxMissed = 10_000

// last is the last time after one and not after another one at which something was due; zero if there is none.
func last(times cron.Schedule, after, until time.Time) time.Time {
	var found time.Time
	for range maxMissed {
		next := times.Next(after)
		if next.IsZero() || next.After(until) {
			return found
		}
		found, after = next, next
	}
	return found
}
