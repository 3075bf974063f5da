package progress

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// family describes the kinds of the printed units, and what those wait for that are made of others: each of
// their children has lines of its own, and so a parent names its wave and its children and nothing more.
type family struct {
	kinds   map[schema.GroupKind]bool
	waiting map[engine.UnitID]awaited
}

// awaited are the stage that a unit is in, and what it has been printed to wait for there.
type awaited struct {
	stage string
	on    map[engine.Subject]bool
}

func newFamily() family {
	return family{kinds: map[schema.GroupKind]bool{}, waiting: map[engine.UnitID]awaited{}}
}

// note takes a note in. The text is what to print of a wait for other units, empty for anything else. A wait for less than
// was printed is no news, since what is waited for no more has said so itself.
func (f *family) note(n runner.Note) (text string, news bool) {
	f.kinds[n.Unit.GroupKind()] = true
	if n.Failed || n.Phase == engine.PhaseReady {
		delete(f.waiting, n.Unit)
	}
	if len(n.Waits) == 0 || n.Phase != engine.PhaseApplying && n.Phase != engine.PhaseWaitingForHealth {
		return "", true
	}
	now := f.waiting[n.Unit]
	if now.on == nil || now.stage != n.Waits[0].Stage {
		now = awaited{stage: n.Waits[0].Stage, on: map[engine.Subject]bool{}}
	}
	children, on := true, []engine.Subject{}
	for _, w := range n.Waits {
		children = children && f.kinds[w.On.GroupKind()]
		on = append(on, w.On)
		news = news || !now.on[w.On]
		now.on[w.On] = true
	}
	f.waiting[n.Unit] = now
	if !children {
		return "", news
	}
	text = "waits for " + engine.Named(on)
	if now.stage != "" {
		text = now.stage + ": " + text
	}
	return text, news
}
