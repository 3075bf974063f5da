package runner

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// razed is a Namespace or a definition that a unit deleted, with objects of other units in it.
type razed struct {
	by engine.UnitID
	at time.Time
	// kind is that of a definition.
	kind schema.GroupKind
}

// razedFor is how long it is remembered who deleted a Namespace or a definition.
const razedFor = 10 * time.Minute

// razes has the units fail at once that had objects in a Namespace or a definition which another one has deleted, and remembers that.
func (r *Runner) razes(u *unit, id engine.ObjectID) {
	if !id.Encloses() {
		return
	}
	for known, was := range r.razed {
		if time.Since(was.at) > razedFor {
			delete(r.razed, known)
		}
	}
	for _, x := range r.units {
		lost := r.inside(x, id)
		if x == u || x.Deleting || len(lost) == 0 {
			continue
		}
		r.razed[id] = razed{by: u.ID, at: time.Now(), kind: lost[0].ID.GroupKind()}
		message := fmt.Sprintf("%s deleted %s, and with it %s", u.ID, id, engine.OccupantOf(x.ID, lost))
		if x.Suspended || x.busy || x.pass != nil || x.Observed {
			// What it says next comes of what is missing.
			r.note(x, x.phase, message, true)
			r.mark(x.ID)
			continue
		}
		r.fail(x, engine.Failure{Reason: engine.ReasonFailed, Message: message, After: x.RetryInterval}, false)
	}
}

// razedWith says by whom, and with what, an object was deleted; it is empty where no unit did that.
func (r *Runner) razedWith(object engine.ObjectID) string {
	for id, was := range r.razed {
		if time.Since(was.at) > razedFor || id.Cluster != object.Cluster {
			continue
		}
		if id.Defines() && was.kind == object.GroupKind() || !id.Defines() && (id.Name == object.Namespace || id == object) {
			return fmt.Sprintf("with %s by %s", id, was.by)
		}
	}
	return ""
}

// nameRazers adds to what a pass failed with, or waits for, who deleted the Namespace or the definition that it needs.
func (r *Runner) nameRazers(u *unit, results []apply.Result, failure *engine.Failure) {
	var named []string
	for _, result := range results {
		if result.Err == nil && result.Wait == nil {
			continue
		}
		if with := r.razedWith(result.Entry.ID); with != "" {
			named = append(named, fmt.Sprintf("%s was deleted %s", result.Entry.ID, with))
		}
	}
	if len(named) == 0 {
		return
	}
	text := "; " + strings.TrimSpace(engine.First(named, 1))
	if failure != nil {
		failure.Message += text
	} else if n := len(u.pass.Pending); n > 0 {
		u.pass.Pending[n-1].Reason += text
	}
}
