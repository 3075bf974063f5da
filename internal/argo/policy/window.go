package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // time zones have to mean the same wherever the engine runs, images without files of them included

	"github.com/robfig/cron/v3"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// The kinds of windows.
const (
	allowWindow = "allow"
	denyWindow  = "deny"
)

// window is a window with the name that people know it by.
type window struct {
	v1alpha1.SyncWindow
	name string
}

// matches is true for a window that is for an Application: with any of its patterns, or with each of its lists where
// spec.syncWindows[].andOperator says so. A window without patterns applies to nothing.
func (w window) matches(app *v1alpha1.Application, cluster settings.Cluster) bool {
	to := app.Spec.Destination
	lists := []struct {
		patterns []string
		texts    []string
	}{
		{w.Applications, []string{app.Name}},
		{w.Clusters, []string{to.Name, strings.TrimRight(to.Server, "/"), cluster.Name, cluster.Server}},
		{w.Namespaces, []string{to.Namespace}},
	}
	set, matched := 0, 0
	for _, l := range lists {
		if len(l.patterns) == 0 {
			continue
		}
		set++
		if anyGlob(l.patterns, l.texts...) {
			matched++
		}
	}
	if w.UseAndOperator {
		return set > 0 && matched == set
	}
	return matched > 0
}

// timetable is when a window is open.
type timetable struct {
	window
	schedule cron.Schedule
	duration time.Duration
	zone     *time.Location
}

// read reads the schedule. An unknown time zone is an error: hours that are not those of the user protect nothing.
func (w window) read() (timetable, error) {
	t := timetable{window: w}
	if w.Kind != allowWindow && w.Kind != denyWindow {
		return t, fmt.Errorf("%s: kind '%s' mismatch: can only be allow or deny", w.name, w.Kind)
	}
	var err error
	if t.schedule, err = parseSchedule(w.Schedule); err != nil {
		return t, fmt.Errorf("%s: cannot parse schedule '%s': %w", w.name, w.Schedule, err)
	}
	if t.duration, err = time.ParseDuration(w.Duration); err != nil {
		return t, fmt.Errorf("%s: cannot parse duration '%s': %w", w.name, w.Duration, err)
	}
	if t.zone, err = time.LoadLocation(w.TimeZone); err != nil || w.TimeZone == "Local" {
		return t, fmt.Errorf("%s: unknown timeZone '%s'; use a name such as Europe/Berlin", w.name, w.TimeZone)
	}
	return t, nil
}

// parseSchedule reads the five fields of cron. The library parses a zone before them without checking for its end.
func parseSchedule(text string) (cron.Schedule, error) {
	if strings.Contains(text, "TZ=") && !strings.Contains(text, " ") {
		return nil, errors.New("no schedule after the time zone")
	}
	return cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(text)
}

// open is true while the window is open: from when it opens until just before it closes.
func (t timetable) open(at time.Time) bool {
	if t.duration <= 0 {
		return false
	}
	opens := t.schedule.Next(at.In(t.zone).Add(-t.duration))
	return !opens.IsZero() && !opens.After(at)
}

// maxOverlaps bounds how many overlapping openings are evaluated.
const maxOverlaps = 64

// changes is when the window opens or closes next, zero where it never does. It may be too early for a window that
// opens again before it closes, and never is too late.
func (t timetable) changes(at time.Time) time.Time {
	if !t.open(at) {
		if t.duration <= 0 {
			return time.Time{}
		}
		return t.schedule.Next(at.In(t.zone))
	}
	opened := t.schedule.Next(at.In(t.zone).Add(-t.duration))
	for range maxOverlaps {
		again := t.schedule.Next(opened)
		if again.IsZero() || again.After(opened.Add(t.duration)) {
			break
		}
		opened = again
	}
	return opened.Add(t.duration)
}

// timetables reads windows, and joins what is bad about them.
func timetables(windows []window) ([]timetable, error) {
	var all []timetable
	var errs []error
	for _, w := range windows {
		t, err := w.read()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, t)
	}
	return all, errors.Join(errs...)
}

// ofKind are the windows of a kind that are open, or closed, at a time.
func ofKind(all []timetable, kind string, open bool, at time.Time) []timetable {
	return slices.DeleteFunc(slices.Clone(all), func(t timetable) bool { return t.Kind != kind || t.open(at) != open })
}

// every is true when there are windows and all of them say so.
func every(all []timetable, says func(timetable) bool) bool {
	return len(all) > 0 && !slices.ContainsFunc(all, func(t timetable) bool { return !says(t) })
}
