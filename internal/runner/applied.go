package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// settleClaims lets the unit hold what it has applied. No one keeps an object from others by declaring it: what its account may not
// write, or what the server's policies deny, it does not even declare.
func (r *Runner) settleClaims(u *unit, results []apply.Result) {
	for _, result := range results {
		id := result.Entry.ID
		switch {
		case result.Err == nil && result.Wait == nil && (result.Action != engine.Skip || !result.Orphaned && r.marked(u, id)):
			delete(u.refused, id)
			r.seize(u, result.Entry)
		case !u.owned[id] && (apierrors.IsForbidden(result.Err) && u.Target.User != "" || apply.Denied(result.Err)):
			if u.refused == nil {
				u.refused = map[engine.ObjectID]bool{}
			}
			u.refused[id] = true
			if heir, changed := r.owners.Withdraw(id, u.ID); changed {
				r.bequeath(u, id, heir)
			}
		}
	}
}

// clearConflicts checks conflicts again that were found before the apply: an object that has been
// handed over meanwhile is applied next.
func (r *Runner) clearConflicts(u *unit, results []apply.Result) {
	for i := range results {
		id := results[i].Entry.ID
		if !errors.Is(results[i].Err, apply.ErrConflict) {
			continue
		}
		switch r.contention(u, id).standing {
		case conflicting, disputing, contested:
			continue
		case yielded, together, waiting:
		}
		results[i].Err = nil
		results[i].Wait = &apply.Need{
			Wait: engine.Wait{On: id, Reason: "it was just handed over"}, What: apply.ObjectReleased, Object: id,
		}
	}
}

func (r *Runner) count(u *unit, result apply.Result) {
	switch result.Action {
	case engine.Create, engine.Configure, engine.Delete:
		if result.Err == nil && result.Wait == nil {
			u.changes = append(u.changes, result)
			r.stats.Applied++
			if result.Action == engine.Delete {
				r.razes(u, result.Entry.ID)
			}
		}
	case engine.Unchanged, engine.Skip:
		r.stats.Unchanged++
	}
}

// failureOf words what failed in an apply or a deletion; nil when nothing did.
func failureOf(results []apply.Result) *engine.Failure {
	var failed, waiting []engine.Wait
	transient, refused := true, false
	for _, result := range results {
		if result.Err == nil {
			if result.Wait != nil {
				waiting = append(waiting, result.Wait.Wait)
			}
			continue
		}
		transient = transient && apply.Transient(result.Err)
		refused = refused || apply.Refused(result.Err)
		on := result.Entry.ID
		failed = append(failed, engine.Wait{On: on, Reason: strings.TrimPrefix(result.Err.Error(), on.String()+": ")})
	}
	if len(failed) == 0 {
		return nil
	}
	message := engine.Grouped(failed)
	if len(results) > 1 {
		message = fmt.Sprintf("%d of %d objects failed: %s", len(failed), len(results), message)
	}
	if len(waiting) > 0 {
		message += fmt.Sprintf("; %d more cannot be applied: %s", len(waiting), engine.Grouped(waiting))
	}
	return &engine.Failure{Reason: engine.ReasonFailed, Message: message, Transient: transient, Refused: refused}
}

// awaitNeeds enters what the objects of the unit need into the indexes, and reports whether some of
// it has come meanwhile.
func (r *Runner) awaitNeeds(u *unit) bool {
	came := false
	for _, need := range u.needs {
		if need.What == apply.KindServed {
			r.byKind.add(kindIn{need.Kind, u.Target.Cluster}, u.ID)
			came = came || r.kindCame(u, need)
			continue
		}
		r.byObject.add(need.Object, u.ID)
		r.needy[u.ID] = true
		came = came || r.objectCame(u, need)
	}
	return came
}

func (r *Runner) kindCame(u *unit, need apply.Need) bool {
	t := r.at(u)
	if t == nil {
		return false
	}
	for _, o := range u.rendering.objects {
		if o.GroupVersionKind().GroupKind() != need.Kind {
			continue
		}
		if _, served := t.cluster.Kinds.Lookup(o.GroupVersionKind()); served {
			return true
		}
	}
	return false
}

func (r *Runner) objectCame(u *unit, need apply.Need) bool {
	_, exists := r.record(u, need.Object)
	switch need.What {
	case apply.ObjectThere:
		return exists
	case apply.ObjectGone:
		return !exists
	case apply.ObjectReleased:
		// When the owner has read the revision and keeps the object, trying again finds a conflict.
		return r.contention(u, need.Object).standing != waiting
	default:
		return false
	}
}

// countDrift reports reverted drift, and counts it for the tug-of-war.
func (r *Runner) countDrift(u *unit, results []apply.Result) {
	for _, result := range results {
		if result.Drift == nil || result.Err != nil {
			continue
		}
		drift := *result.Drift
		if drift.Manager == "" {
			drift.With = r.razedWith(drift.ID)
		}
		now, t := time.Now(), r.tugOf(drift.ID)
		id, times, back := u.ID, 1, time.Duration(0)
		if drift.With == "" {
			times, back = t.count(drift, now), t.delay(now)
		}
		text := "drift corrected: " + drift.String()
		if back > 0 {
			text = fmt.Sprintf("tug-of-war: %s, %d times; next correction in %s", drift, times, back)
		}
		r.note(u, u.phase, text, back > 0)
		r.work(id, func(ctx context.Context) func() {
			r.dialects.Drifted(ctx, id, drift, times, back)
			return func() {}
		}, func(error) {})
	}
}

// tugOf is what is counted of an object.
func (r *Runner) tugOf(id engine.ObjectID) tug {
	if r.tug[id] == nil {
		r.tug[id] = tug{}
	}
	return r.tug[id]
}

// reconsider looks again at objects that changed while the unit was busy: most of these changes
// were its own.
func (r *Runner) reconsider(u *unit) {
	suspects := u.suspect
	u.suspect = nil
	for id := range suspects {
		r.consider(u, id)
	}
}

// consider enters an object as drifted if it is no longer what was applied.
func (r *Runner) consider(u *unit, id engine.ObjectID) {
	if t := r.at(u); t == nil || u.Suspended || u.Deleting || !r.differs(u, t, id) {
		return
	}
	if owner, owned := r.corrector(id); owned && owner != u.ID {
		return
	}
	if u.drift == nil {
		u.drift = map[engine.ObjectID]bool{}
	}
	u.drift[id] = true
	now := time.Now()
	if wait := r.tug[id].delay(now); wait > 0 {
		u.driftAt = sooner(u.driftAt, now.Add(wait))
		return
	}
	u.driftAt = time.Time{}
}

// differs reports whether an object is no longer what was applied, or what a driver left.
func (r *Runner) differs(u *unit, t *target, id engine.ObjectID) bool {
	if u.declares() {
		return t.applier.Drifted(id)
	}
	was, known := u.left[id]
	return known && was != t.stateOf(id)
}

// stateOf is what is known of an object beside its status.
func (t *target) stateOf(id engine.ObjectID) string {
	rec, exists := t.cluster.Objects.Get(id)
	if !exists {
		return ""
	}
	return fmt.Sprintf("%s %d %s", rec.UID, rec.Generation, rec.Owned)
}

// noteLeft notes what a driver left, so that a change of it by others is seen at once.
func (r *Runner) noteLeft(u *unit) {
	t := r.at(u)
	if !u.FollowsDrift || t == nil {
		return
	}
	u.left = make(map[engine.ObjectID]string, len(u.inventory))
	for _, e := range u.inventory {
		u.left[e.ID] = t.stateOf(e.ID)
	}
}

// countLooks counts how often a driver checks objects since they changed: a manager that changes one again and
// again has to wait.
func (r *Runner) countLooks(u *unit) {
	now := time.Now()
	for id := range u.drift {
		r.tugOf(id).count(apply.Drift{ID: id}, now)
	}
	u.drift, u.driftAt, u.left = nil, time.Time{}, nil
}

// setInventory replaces what the unit holds and keeps the indexes true.
func (r *Runner) setInventory(u *unit, entries []engine.Entry) {
	u.inventory = entries
	now := make(map[engine.ObjectID]bool, len(entries))
	for _, e := range entries {
		now[e.ID] = true
		if !u.owned[e.ID] {
			r.byObject.add(e.ID, u.ID)
		}
	}
	for id := range u.owned {
		if !now[id] && !r.interested(u, id) {
			r.byObject.remove(id, u.ID)
		}
	}
	u.owned = now
}

// interested reports whether the unit checks an object that it does not hold.
func (r *Runner) interested(u *unit, id engine.ObjectID) bool {
	for _, check := range u.Health.Checks {
		if check.ID == id {
			return true
		}
	}
	for _, read := range u.Reads {
		if read == id {
			return true
		}
	}
	if slices.Contains(append(r.seen(u), r.elsewhereServed(u)...), id) {
		return true
	}
	for _, need := range u.needs {
		if need.Object == id {
			return true
		}
	}
	return false
}
