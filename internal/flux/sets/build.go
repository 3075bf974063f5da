package sets

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/resourceset"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// Build makes the objects of a ResourceSet, and tells from how many sets of inputs. Its templates are executed in the sandbox.
func Build(ctx context.Context, in *sandbox.Client, rs *fluxcdv1.ResourceSet, providers []*fluxcdv1.ResourceSetInputProvider, reader access.Reader) ([]*unstructured.Unstructured, int, error) {
	work, err := workOf(rs, providers)
	if err != nil {
		return nil, 0, err
	}
	input, err := sandbox.Encode(work)
	if err != nil {
		return nil, 0, err
	}
	output, err := in.Do(ctx, setJob{}, input, nil)
	if err != nil {
		return nil, 0, ended(ctx, err)
	}
	var made product
	if err := sandbox.Decode(output, &made); err != nil {
		return nil, 0, err
	}
	objects := make([]*unstructured.Unstructured, 0, len(made.Objects))
	for _, fields := range made.Objects {
		o := &unstructured.Unstructured{Object: fields}
		if err := engine.Strings(fields); err != nil {
			return nil, 0, &buildFailed{engine.ReasonBuildFailed, true, fmt.Errorf("%s: %w", engine.IDOf(o), err)}
		}
		objects = append(objects, o)
	}
	return objects, made.Sets, fillIn(ctx, objects, reader)
}

// ended is why there are no objects. A mistake in a template stays one, while a process that was ended may have wanted for something else.
func ended(ctx context.Context, err error) error {
	var limit *sandbox.Death
	var waits *sandbox.Quarantined
	switch {
	case ctx.Err() != nil:
		return err
	case errors.As(err, &limit):
		return &buildFailed{engine.ReasonBuildFailed, false, fmt.Errorf("executing the templates: %w", err)}
	default:
		return &buildFailed{engine.ReasonBuildFailed, !errors.As(err, &waits), err}
	}
}

// work is a ResourceSet as the job is given it. The sets of inputs are put together there: there may be thousands of the same values.
type work struct {
	Declared  resourceset.Declared
	Providers []resourceset.Provider
	Permute   bool
}

// product is what the job gives.
type product struct {
	Objects []map[string]any
	// Sets is how many sets of inputs there are.
	Sets int
}

// Jobs are what this package has done in the sandbox.
func Jobs() []sandbox.Job { return []sandbox.Job{setJob{}} }

// setJob executes the templates of a ResourceSet.
type setJob struct{}

// Name is that of the job.
func (setJob) Name() string { return "resourceset" }

// Run makes the objects.
func (setJob) Run(input []byte, _ sandbox.Asker) ([]byte, error) {
	var w work
	if err := sandbox.Decode(input, &w); err != nil {
		return nil, err
	}
	combine := resourceset.Flatten
	if w.Permute {
		combine = resourceset.Permute
	}
	var err error
	if w.Declared.Inputs, err = combine(w.Providers); err != nil {
		return nil, fmt.Errorf("spec.inputStrategy: %w", err)
	}
	objects, err := resourceset.Render(w.Declared)
	if err != nil {
		return nil, err
	}
	made := product{Sets: len(w.Declared.Inputs)}
	for _, o := range objects {
		made.Objects = append(made.Objects, o.Object)
	}
	return sandbox.Encode(made)
}

// workOf is what a ResourceSet declares, with inputs from itself and from others.
func workOf(rs *fluxcdv1.ResourceSet, all []*fluxcdv1.ResourceSetInputProvider) (*work, error) {
	own := resourceset.Provider{
		APIVersion: fluxcdv1.GroupVersion.String(), Kind: fluxcdv1.ResourceSetKind, Namespace: rs.Namespace, Name: rs.Name, UID: string(rs.UID),
	}
	for i, in := range rs.Spec.Inputs {
		values, err := valuesOf(in)
		if err != nil {
			return nil, &buildFailed{engine.ReasonBuildFailed, true, fmt.Errorf("spec.inputs[%d]: %w", i, err)}
		}
		own.Sets = append(own.Sets, values)
	}
	w := &work{}
	switch {
	case len(own.Sets) > 0:
		w.Providers = append(w.Providers, own)
	case len(rs.Spec.InputsFrom) == 0:
		own.Sets = []map[string]any{{}}
		w.Providers = append(w.Providers, own)
	}
	referred, err := referredProviders(rs, all)
	if err != nil {
		return nil, &buildFailed{engine.ReasonBuildFailed, false, err}
	}
	for _, p := range referred {
		sets, err := exportedBy(p)
		if err != nil {
			return nil, &buildFailed{engine.ReasonBuildFailed, false, fmt.Errorf("%s %s/%s: %w", fluxcdv1.ResourceSetInputProviderKind, p.Namespace, p.Name, err)}
		}
		w.Providers = append(w.Providers, resourceset.Provider{
			APIVersion: fluxcdv1.GroupVersion.String(), Kind: fluxcdv1.ResourceSetInputProviderKind, Namespace: p.Namespace, Name: p.Name,
			UID: string(p.UID), Sets: sets,
		})
	}
	if strategy := rs.Spec.InputStrategy; strategy != nil {
		w.Permute = strategy.Name == fluxcdv1.InputStrategyPermute
	}
	w.Declared = resourceset.Declared{Namespace: rs.Namespace}
	if w.Declared.Templates, err = templatesOf(rs); err != nil {
		return nil, &buildFailed{engine.ReasonBuildFailed, true, err}
	}
	if m := rs.Spec.CommonMetadata; m != nil {
		w.Declared.Labels, w.Declared.Annotations = m.Labels, m.Annotations
	}
	return w, nil
}
