package runner

import (
	"slices"

	"github.com/headgate-dev/headgate/internal/engine"
)

// readChanged begins a new desired state when an object that the render read is different now. A
// render in progress is checked when it is done.
func (r *Runner) readChanged(u *unit, id engine.ObjectID) {
	rec, _ := r.home.cluster.Objects.Get(id)
	if u.versions == nil || u.versions[id] == rec.ResourceVersion {
		return
	}
	u.versions[id] = rec.ResourceVersion
	u.inputs++
	u.cached = nil
}

// readMeanwhile searches for objects that have become newer than what a render read.
func (r *Runner) readMeanwhile(u *unit) {
	for _, id := range u.Reads {
		rec, ok := r.home.cluster.Objects.Get(id)
		if version, noted := u.versions[id]; ok && noted && rec.ResourceVersion > version {
			r.readChanged(u, id)
		}
	}
}

// InputsChanged reports whether what a render reads beside its source is different now, where no object of
// Reads says so.
func (r *Runner) InputsChanged(id engine.UnitID) {
	r.mail.post(func() {
		if u, ok := r.units[id]; ok {
			u.inputs++
			u.cached = nil
			r.mark(id)
		}
	})
}

// followRead begins to follow what the render of a unit without a source has read.
func (r *Runner) followRead(u *unit) {
	for id := range u.versions {
		if u.sourceless() && !slices.Contains(u.Reads, id) {
			u.Reads = append(slices.Clone(u.Reads), id)
			r.follow(r.home, u, id, "v1")
		}
	}
}
