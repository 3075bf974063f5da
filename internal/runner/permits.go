package runner

import "github.com/headgate-dev/headgate/internal/engine"

// bar notes what the gate of a unit does not permit of what it declares.
func (r *Runner) bar(u *unit) {
	u.unpermitted = map[engine.ObjectID]bool{}
	gate, gated := u.driver.(Gatekeeper)
	t := r.at(u)
	if !gated || t == nil {
		return
	}
	for _, e := range u.rendering.entries {
		if gate.Permits(u.ID, e, t.cluster.Kinds) != nil {
			u.unpermitted[e.ID] = true
		}
	}
}
