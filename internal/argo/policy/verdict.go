package policy

import (
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// Verdict says whether the windows of a project let syncs of an Application begin. That of an Application without
// windows, which is the zero value as well, permits everything.
type Verdict struct {
	// Why names the window by which a sync is blocked; it is empty where nothing is.
	Why string
	// Next is when the verdict may change, zero for never.
	Next time.Time

	windows []timetable
	at      time.Time
	// broken is true where a window could not be read.
	broken bool
}

// Windows is the verdict on an Application at a time. The cluster is its destination, so that windows hold for it
// whether they name it by its server or by its name.
//
// The error joins what is bad about windows and names each. As long as one that is for the Application cannot be read,
// nothing begins: who knows what it was to protect. A project that does not exist has no windows: it may be deleted while
// a sync is in progress.
func Windows(p *Project, app *v1alpha1.Application, cluster settings.Cluster, now time.Time) (Verdict, error) {
	if p == nil {
		return Verdict{at: now}, nil
	}
	var mine []window
	for _, w := range p.windows {
		if w.matches(app, cluster) {
			mine = append(mine, w)
		}
	}
	all, err := timetables(mine)
	v := Verdict{windows: all, at: now, broken: err != nil}
	if err != nil {
		v.Why = "invalid sync windows: " + err.Error()
		return v, err
	}
	if w, blocked := v.blocker(false, now); blocked {
		v.Why = blockedByWindow + ": " + w.describe(now)
	}
	for _, w := range all {
		if next := w.changes(now); !next.IsZero() && (v.Next.IsZero() || next.Before(v.Next)) {
			v.Next = next
		}
	}
	return v, nil
}

// describe is a window as people look for it.
func (t timetable) describe(at time.Time) string {
	text := t.name + " " + t.Schedule + " for " + t.Duration
	if t.TimeZone != "" {
		text += " " + t.TimeZone
	}
	if t.Description != "" {
		text += " (" + t.Description + ")"
	}
	if t.open(at) {
		return text + " is open"
	}
	return text + " is closed"
}

// CanSync is true if a sync may start: a requested one, or an automated one.
func (v Verdict) CanSync(manual bool) bool {
	if v.broken {
		return false
	}
	_, blocked := v.blocker(manual, v.at)
	return !blocked
}

// CanGoOn is true where a sync that began earlier may go on: it still could begin, or it could when it began and every
// window in its way has spec.syncWindows[].syncOverrun.
func (v Verdict) CanGoOn(manual bool, began time.Time) bool {
	if v.CanSync(manual) {
		return true
	}
	if v.broken || began.IsZero() {
		return false
	}
	inTheWay := ofKind(v.windows, denyWindow, true, v.at)
	if len(inTheWay) == 0 {
		inTheWay = ofKind(v.windows, allowWindow, false, v.at)
	}
	if !every(inTheWay, func(t timetable) bool { return t.SyncOverrun }) {
		return false
	}
	_, blocked := v.blocker(manual, began)
	return !blocked
}

// blocker is a window by which a sync is blocked. Open denials come first, then an open permission is enough, and
// then closed permissions block. What a person asks for passes where all of those have manualSync.
func (v Verdict) blocker(manual bool, at time.Time) (timetable, bool) {
	first := func(all []timetable) (timetable, bool) {
		for _, t := range all {
			if !manual || !t.ManualSync {
				return t, true
			}
		}
		return timetable{}, false
	}
	if denials := ofKind(v.windows, denyWindow, true, at); len(denials) > 0 {
		return first(denials)
	}
	if len(ofKind(v.windows, allowWindow, true, at)) > 0 {
		return timetable{}, false
	}
	return first(ofKind(v.windows, allowWindow, false, at))
}
