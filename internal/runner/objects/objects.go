// Package objects is the driver of units that are objects to apply: rendered from a source, or given by their own declaration.
//
// It renders, applies in stages and deletes. What is claimed, shared and waited for is the runner's; what a declaration means
// is asked of its dialect.
package objects

import (
	"context"
	"errors"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/source"
)

// Declarations are what a dialect knows of such units.
type Declarations interface {
	// Inputs gathers what a unit is made from beside its source. Beside an error, they have the versions of what was read.
	Inputs(ctx context.Context, id engine.UnitID) (runner.Inputs, error)
	// Orphaned says why the objects of a deleted unit can no longer be deleted, so that they stay; nil when they can be.
	Orphaned(ctx context.Context, id engine.UnitID) error
}

// Driver is the driver of units that are objects to apply.
type Driver struct {
	Declarations
	renderer *render.Renderer
	renders  *rounds.Slots
}

// New returns the driver of the units of a dialect. As many render at a time as there are processors.
func New(renderer *render.Renderer, declarations Declarations) *Driver {
	return &Driver{Declarations: declarations, renderer: renderer, renders: rounds.PerProcessor()}
}

var (
	_ runner.Driver    = (*Driver)(nil)
	_ runner.Abandoner = (*Driver)(nil)
)

// Traits are those of units whose objects are known before they are applied, that own them together with others, and that
// leave deletions to the runner.
func (d *Driver) Traits() runner.Traits {
	return runner.Traits{Declares: true, Shares: true, Prunes: true}
}

// Prepare renders a unit, unless that would give the same again. Beside an error, it returns what the files mention.
func (d *Driver) Prepare(ctx context.Context, p runner.Preparation) (runner.Prepared, error) {
	out, err := d.prepare(ctx, p)
	if err != nil && !errors.Is(err, render.ErrPathNotFound) {
		out.Mentions = mentions(out)
	}
	return out, err
}

// mentions is what the files of a unit mention, and the variables that are replaced in them.
func mentions(p runner.Prepared) engine.Mentions {
	var m engine.Mentions
	o := p.Options
	if p.Tree != nil {
		paths := []string{o.Path}
		for _, component := range o.Components {
			paths = append(paths, path.Join(o.Path, component))
		}
		for _, text := range render.Texts(p.Tree, paths...) {
			m.Read(text)
		}
	}
	if o.Substitute != nil {
		for _, value := range o.Substitute.Variables {
			m.Read(value)
		}
	}
	return m
}

func (d *Driver) prepare(ctx context.Context, p runner.Preparation) (runner.Prepared, error) {
	out := runner.Prepared{}
	if p.Sourced {
		tree, err := open(p.Artifact)
		if err != nil {
			return out, err
		}
		out.Tree = tree
	}
	inputs, err := d.inputs(ctx, p)
	if out.Inputs = inputs; err != nil {
		// What was read is followed, and nothing else of it is complete.
		out.Digest = ""
		return out, err
	}
	out.Options.Elsewhere = render.NewElsewhere(out.Options.Remotes, p.Fresh)
	if repeats(p, out) {
		same, err := out.Options.Elsewhere.Before(ctx, p.Before.Result.Elsewhere)
		if err != nil {
			return out, err
		}
		if same {
			out.Result, out.Same = p.Before.Result, true
			return out, nil
		}
	}
	err = out.Options.Elsewhere.Complete(ctx, func() (err error) {
		out.Result, err = d.build(ctx, p, out)
		return err
	})
	out.Options.Elsewhere = nil
	return out, err
}

func (d *Driver) inputs(ctx context.Context, p runner.Preparation) (runner.Inputs, error) {
	if p.Inputs != nil {
		return *p.Inputs, nil
	}
	return d.Inputs(ctx, p.Unit)
}

// open returns the files of a source.
func open(artifact *source.Artifact) (*source.Tree, error) {
	if artifact == nil {
		return nil, errors.New("the source no longer has an artifact")
	}
	return artifact.Open()
}

// repeats reports whether the last render would give the same again, as far as it read its source.
func repeats(p runner.Preparation, now runner.Prepared) bool {
	before := p.Before
	if before == nil || p.Fresh || before.Digest != now.Digest {
		return false
	}
	return !p.Sourced || before.Tree.Digest() == now.Tree.Digest() || before.Result.Reads.Unchanged(now.Tree)
}

// build makes the objects of a unit, when a processor is free. Namespaces share them.
func (d *Driver) build(ctx context.Context, p runner.Preparation, made runner.Prepared) (*render.Result, error) {
	turn, free := d.renders.Take(ctx, p.Unit.Namespace)
	if !free {
		return nil, context.Cause(ctx)
	}
	defer turn.End()
	if !p.Sourced {
		return &render.Result{Objects: made.Objects, Digest: made.Digest}, nil
	}
	return d.renderer.Build(ctx, made.Tree, made.Options)
}

// Act applies what was rendered.
func (d *Driver) Act(ctx context.Context, w runner.Work) runner.Acted {
	// What is only checked is not watched for being applied.
	w.Cluster.Objects.Read(ctx, w.Cluster.Objects.Unwatched(w.Declared.Health.Checks))
	set := apply.Set{Orders: make([]apply.Order, len(w.Objects)), Superseded: w.Superseded}
	for i, o := range w.Objects {
		set.Orders[i] = order(w, o)
	}
	out := w.Applier.Apply(ctx, set)
	return runner.Acted{Entries: out.Entries(), Watched: true, Results: out.Results, Superseded: out.Superseded, Waits: true}
}

// order is how an object is written, or why it is not.
func order(w runner.Work, o *unstructured.Unstructured) apply.Order {
	order := apply.Order{Object: o, Mode: apply.Beside, Force: w.Declared.Force, Fresh: w.Fresh, Ignore: w.Declared.Ignore}
	e := w.Applier.Entry(o)
	if shared, is := w.Shared[e.ID]; is {
		order.Shared = &shared
	}
	if owner, conflict := w.Conflicts[e.ID]; conflict {
		order.Refused = apply.Conflicting(e, owner)
	} else if disputes := w.Disputes[e.ID]; len(disputes) > 0 {
		order.Refused = apply.Disputed(e, disputes)
	} else if wait, deferred := w.Deferred[e.ID]; deferred {
		order.Refused = apply.Waiting(e, wait.Why)
	}
	return order
}

// Destroy deletes what a deleted unit holds.
func (d *Driver) Destroy(ctx context.Context, w runner.Work) (runner.Destroyed, error) {
	deletion := apply.Deletion{Unit: w.Unit, Entries: engine.Leftover(w.Held, nil), Former: w.Former}
	return runner.Destroyed{Results: w.Applier.Delete(ctx, deletion)}, nil
}
