package runner

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
)

// doubt is another unit that may have an object. Only the cluster can tell: its status names the object, which counts where the
// live object is marked so, or it declares the object, which counts where its account may write it.
type doubt struct {
	unit  engine.UnitID
	names apply.Names
	// partner is set when an object that is marked as that of the asking unit may be of both.
	partner bool
	// declares is set for a unit that only declares the object: target is where and as whom it would write it.
	declares bool
	target   engine.Target
	object   *unstructured.Unstructured
}

// doubts are those about several objects, as a unit asks.
type doubts struct {
	runner *Runner
	asks   engine.UnitID
	names  apply.Names
	of     map[engine.Entry][]doubt
}

func (r *Runner) doubts(u *unit) doubts {
	return doubts{runner: r, asks: u.ID, names: r.names[u.Target.Owner], of: map[engine.Entry][]doubt{}}
}

// settle says which objects other units have. What cannot be read is an error: no one deletes what may be another one's.
func (d doubts) settle(ctx context.Context, t *target) (map[engine.ObjectID]engine.UnitID, error) {
	others := map[engine.ObjectID]engine.UnitID{}
	for e, all := range d.of {
		owner, other, err := d.settleOne(ctx, t, e, all)
		if err != nil {
			return nil, fmt.Errorf("finding out whose it is: %w", err)
		}
		if other {
			others[e.ID] = owner
		}
	}
	return others, nil
}

func (d doubts) settleOne(ctx context.Context, t *target, e engine.Entry, all []doubt) (owner engine.UnitID, other bool, err error) {
	var live *unstructured.Unstructured
	read := false
	for _, one := range all {
		if one.declares {
			if d.runner.mayWrite(ctx, one, e) {
				return one.unit, true, nil
			}
			continue
		}
		if !read {
			if live, err = d.runner.marksOf(ctx, t, e); err != nil {
				return engine.UnitID{}, false, err
			}
			read = true
		}
		if one.names.Marks(live, one.unit) || one.partner && d.names.Marks(live, d.asks) {
			return one.unit, true, nil
		}
	}
	return engine.UnitID{}, false, nil
}

// mayWrite reports whether a unit that declares an object could write it. It counts as if it could unless the server says no.
func (r *Runner) mayWrite(ctx context.Context, d doubt, e engine.Entry) bool {
	t, err := r.reach(ctx, d.unit, d.target)
	if err != nil {
		return true
	}
	err = t.applier.Try(ctx, e, d.object)
	return !apierrors.IsForbidden(err) && !apply.Denied(err)
}

// marksOf reads an object for its marks; where the account of a unit may not read it, the engine does.
func (r *Runner) marksOf(ctx context.Context, t *target, e engine.Entry) (*unstructured.Unstructured, error) {
	live, err := t.applier.Live(ctx, e)
	if base := r.targets.get(engine.Target{Cluster: t.cluster.Name}); apierrors.IsForbidden(err) && base != nil {
		return base.applier.Live(ctx, e)
	}
	return live, err
}

// stake is what another unit has of an object that one is about to delete.
type stake int

const (
	// none: it has nothing, or will not have it.
	none stake = iota
	// doubtful: the cluster has to be asked.
	doubtful
	// certain: it has the object, or is about to.
	certain
)

// stakeOf is what a unit has of an object that another one is about to delete.
func (r *Runner) stakeOf(u *unit, id engine.ObjectID, but *unit) (stake, doubt) {
	d := doubt{unit: u.ID, names: r.names[u.Target.Owner]}
	grip := r.owners.Grip(id, u.ID)
	switch {
	case grip >= engine.Applying:
		return certain, d
	case r.owners.Declares(id, u.ID) && r.applies(u):
		if u.Target.User == "" || but != nil && u.Target == but.Target {
			return certain, d
		}
		d.declares, d.target, d.object = true, u.Target, u.rendering.object(id)
		return doubtful, d
	case grip < engine.Recorded:
		return none, d
	case r.marked(u, id), but != nil && r.mayShare(u, id, but.ID):
		return certain, d
	case r.refuted(u, id):
		return none, d
	}
	d.partner = but != nil && r.partners(u, but, id)
	return doubtful, d
}

// applies reports whether a unit is one that applies what it declares, be it later: one that is suspended or cannot be followed
// holds nothing by its declaration.
func (r *Runner) applies(u *unit) bool {
	return !u.Suspended && !u.Deleting && u.Invalid == (engine.Invalid{})
}
