package managed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/declared"
)

// connect resolves the references of the resource, and connects to what is outside.
func (p *pass) connect(ctx context.Context) error {
	if p.object.GetDeletionTimestamp() == nil {
		if err := p.resolve(ctx); err != nil {
			return &stepError{Cause{Reason: "CannotResolveResourceReferences"}, err}
		}
	}
	configuration, err := p.configuration(ctx)
	if err != nil {
		return err
	}
	p.resource = NewResource(p.served.Kind, p.object, configuration, p)
	p.external, err = p.served.Connect(ctx, p.resource)
	return err
}

// unresolved is the creation whose result is unknown; zero when all are known.
func (p *pass) unresolved() Intent {
	if c := CreationOf(p.object); c.Incomplete() {
		return c.Unresolved()
	}
	return Intent{}
}

// find searches for what a creation made.
func (p *pass) find(ctx context.Context) error {
	finder, finds := p.external.(Finder)
	if !finds {
		return errors.New("what was created cannot be searched for")
	}
	found, err := finder.Find(ctx, p.unresolved())
	if err != nil {
		return err
	}
	p.found = &found
	return nil
}

// observe observes what is outside, and writes its connection details.
func (p *pass) observe(ctx context.Context) error {
	o, err := p.external.Observe(ctx)
	if err != nil {
		return err
	}
	p.observation, p.shown = &o, o.AtProvider
	if p.object.GetDeletionTimestamp() != nil {
		return nil
	}
	return p.publish(ctx, o.Connection)
}

// finalize puts the finalizer on, or takes it off.
func (p *pass) finalize(ctx context.Context, on bool) error {
	u, err := p.writer().Finalizer(ctx, p.object, Finalizer, on)
	p.took(u)
	return err
}

// initialize stores values that were not declared.
func (p *pass) initialize(ctx context.Context) error {
	patch := map[string]any{
		"metadata": map[string]any{"resourceVersion": p.object.GetResourceVersion()},
		"spec":     map[string]any{"forProvider": p.observation.Initialized},
	}
	u, err := p.writer().Patch(ctx, p.object, patch)
	p.took(u)
	p.initialized = true
	return err
}

// adopt stores the name of what an interrupted creation made. What it made besides is named.
func (p *pass) adopt(ctx context.Context, d Decision) (*ending, error) {
	last := CreationOf(p.object).Last
	if open := p.unresolved(); open.Attempt != 0 || !open.Began.IsZero() {
		last = open
	}
	if err := p.annotate(ctx, succeeded(last, p.found.Name, time.Now())); err != nil {
		return nil, err
	}
	message := fmt.Sprintf("Adopted external resource %q, which an interrupted creation made", p.found.Name)
	if len(p.found.Others) > 0 {
		p.emit("Warning", "FoundOtherExternalResources", fmt.Sprintf("external resources %q were created for it as well, and are left alone: delete them if nothing uses them", p.found.Others))
	}
	d.After = time.Nanosecond
	return &ending{Decision: d, event: Cause{"AdoptedExternalResource", message}}, nil
}

// create creates what is outside. What it is about to do is stored before, and fails when the resource has changed meanwhile.
func (p *pass) create(ctx context.Context, d Decision) (*ending, error) {
	i := Intent{Attempt: CreationOf(p.object).Last.Attempt + 1, Began: time.Now()}
	if err := p.patchAnnotations(ctx, begun(i), true); err != nil {
		return nil, err
	}
	p.resource.Object = p.object
	made, err := p.external.Create(ctx, i)
	if err != nil {
		if ambiguous(err) {
			return nil, err
		}
		// The status says why it failed; without the annotation it would be searched for.
		return nil, errors.Join(err, p.annotate(ctx, failed(i, time.Now())))
	}
	if err := p.annotate(ctx, succeeded(i, made.ExternalName, time.Now())); err != nil {
		return nil, err
	}
	if err := p.publish(ctx, made.Connection); err != nil {
		return nil, err
	}
	if v := made.Ready.verdict(); v != nil {
		d.Ready = v
	}
	d.After = made.Next
	e := &ending{Decision: d, event: Cause{"CreatedExternalResource", "Successfully requested creation of external resource"}}
	if again := p.served.Repeatable && d.After == 0; again && !p.created {
		// It is there already: its readiness is observed without another pass.
		p.tell(e.event)
		p.created, p.external, p.observation = true, nil, nil
		return nil, nil
	} else if again {
		e.After = time.Nanosecond
	}
	e.repeat = e.After == 0
	return e, nil
}

// update has what is outside agree with what is declared. When it never does, that is tried ever later.
func (p *pass) update(ctx context.Context, d Decision) (*ending, error) {
	made, err := p.external.Update(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.publish(ctx, made.Connection); err != nil {
		return nil, err
	}
	if v := made.Ready.verdict(); v != nil {
		d.Ready = v
	}
	p.memory.updates++
	d.After = made.Next
	e := &ending{Decision: d, event: Cause{"UpdatedExternalResource", "Successfully requested update of external resource"}}
	switch {
	case p.memory.updates > 1:
		e.repeat = d.After == 0
	case d.After == 0 && p.served.Poll < 0:
		e.After = time.Nanosecond
	}
	return e, nil
}

// delete deletes what is outside. The next pass observes whether it is gone.
func (p *pass) delete(ctx context.Context, d Decision) (*ending, error) {
	made, err := p.external.Delete(ctx)
	if err != nil {
		return nil, err
	}
	if v := made.Ready.verdict(); v != nil {
		d.Ready = v
	}
	d.After = made.Next
	return &ending{Decision: d, repeat: made.Next == 0, event: Cause{"DeletedExternalResource", "Successfully requested deletion of external resource"}}, nil
}

// release lets the resource go.
func (p *pass) release(ctx context.Context) (*ending, error) {
	if releaser, has := p.served.Connector.(Releaser); has {
		if err := releaser.Release(ctx, NewResource(p.served.Kind, p.object, nil, p)); err != nil {
			return nil, err
		}
	}
	if err := p.unpublish(ctx); err != nil {
		return nil, err
	}
	if err := p.unuse(ctx); err != nil {
		return nil, err
	}
	if err := p.finalize(ctx, false); err != nil {
		return nil, err
	}
	p.released = true
	return &ending{}, nil
}

// writer writes the resource.
func (p *pass) writer() declared.Writer {
	return declared.Writer{Client: p.Home.Dynamic.Resource(p.served.GroupVersionResource()), Manager: manager}
}

// took takes what a write returned that fails when the object was changed before; nil for none.
func (p *pass) took(u *unstructured.Unstructured) {
	if u == nil {
		return
	}
	p.object = u
	p.held.wrote(p.key, u)
	if p.resource != nil {
		p.resource.Object = u
	}
}

// merged takes what any other write returned, of which the annotations are ours. It may have changes of others as well, whose
// own notice comes too late to be news.
func (p *pass) merged(u *unstructured.Unstructured, annotations map[string]string) {
	if u == nil {
		return
	}
	p.outdated = p.outdated || changed(p.object, u, annotations)
	p.took(u)
}
