package objects

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// Observe reads the object, and compares it with the manifest.
func (x *external) Observe(ctx context.Context) (managed.Observation, error) {
	if !x.deleting() {
		if err := x.resolve(ctx); err != nil {
			return managed.Observation{}, fmt.Errorf("cannot resolve resource references: %w", err)
		}
	}
	of := x.target()
	if err := x.permitted(of); err != nil {
		return managed.Observation{}, err
	}
	if x.deleting() && x.gone(ctx, of) {
		return managed.Observation{ReadOnly: x.manifest.bare}, nil
	}
	live, polled, err := x.Get(ctx, x.resource.Key(), of.gvk(), of.name())
	if err != nil {
		return managed.Observation{}, fmt.Errorf("cannot get object: %w", err)
	}
	o := managed.Observation{Exists: live != nil, ReadOnly: x.manifest.bare}
	if polled {
		o.Next = managed.DefaultPoll
	}
	if x.manifest.bare {
		x.warn(ctx)
	}
	if live == nil || x.deleting() {
		return o, nil
	}
	x.live = live
	o.AtProvider = map[string]any{"manifest": x.manifest.shown(live)}
	if o.UpToDate, err = x.upToDate(ctx); err != nil {
		return managed.Observation{}, fmt.Errorf("cannot get desired state: %w", err)
	}
	if !o.UpToDate {
		o.Difference = fmt.Sprintf("%s is not as its manifest", of)
	}
	o.Ready = readiness(x.spec.Readiness, live, o.UpToDate)
	if o.UpToDate {
		if o.Connection, err = x.details(ctx); err != nil {
			return managed.Observation{}, fmt.Errorf("cannot get connection details: %w", err)
		}
	}
	return o, nil
}

// gone reports whether the kind of an object is gone, and with it the object.
func (x *external) gone(ctx context.Context, of referent) bool {
	if _, served := x.Kinds.Lookup(of.gvk()); served {
		return false
	}
	return x.Kinds.Gone(ctx, of.gvk().GroupKind()) == nil
}

// warn says once that a Secret without values is only read.
func (x *external) warn(ctx context.Context) {
	if generation := x.resource.Object.GetGeneration(); x.record.Warned != generation {
		x.record.Warned = generation
		if x.resource.Keep(ctx, x.record) == nil {
			x.resource.Emit("Warning", "ObservedOnly", fmt.Sprintf("%s has no values in the manifest: it is observed, and not created empty; set managementPolicies to [Observe] to say so", x.target()))
		}
	}
}

// upToDate reports whether applying the manifest would change nothing. Where nothing is written, it is.
func (x *external) upToDate(ctx context.Context) (bool, error) {
	actions, err := managed.ActionsOf(x.resource.Kind, x.resource.Object)
	if err != nil || x.manifest.bare || !actions.Create && !actions.Update {
		return err == nil, err
	}
	applied, err := x.apply(ctx, true)
	if err != nil {
		return false, cleaned(err)
	}
	return reflect.DeepEqual(compared(x.live, x.manager()), compared(applied, x.manager())), nil
}

// compared is an object without what an apply that changes nothing may change: the times of managers. Those of others may differ
// by what is taken from them.
func compared(o *unstructured.Unstructured, manager string) map[string]any {
	c := o.DeepCopy()
	var owned []string
	for _, e := range c.GetManagedFields() {
		if e.Manager == manager && e.FieldsV1 != nil {
			owned = append(owned, string(e.Operation)+" "+string(e.FieldsV1.GetRawBytes()))
		}
	}
	c.SetManagedFields(nil)
	c.SetResourceVersion("")
	c.SetGeneration(0)
	return map[string]any{"object": c.Object, "owned": owned}
}

// Create applies the manifest. Its name is known before, so that it can be repeated.
func (x *external) Create(ctx context.Context, _ managed.Intent) (managed.Result, error) {
	return managed.Result{}, x.put(ctx, "cannot create object")
}

// Update applies the manifest.
func (x *external) Update(ctx context.Context) (managed.Result, error) {
	return managed.Result{}, x.put(ctx, "cannot apply object")
}

// put applies the manifest, and remembers what was applied.
func (x *external) put(ctx context.Context, doing string) error {
	of := x.target()
	if before := x.record.Applied; before == nil || *before != of {
		if before != nil {
			x.resource.Emit("Warning", "OrphanedObject", fmt.Sprintf("the manifest names %s now; %s is left as it is", of, *before))
		}
		x.record.Applied = &of
		if err := x.resource.Keep(ctx, x.record); err != nil {
			return err
		}
	}
	made, err := x.apply(ctx, false)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, cleaned(err))
	}
	before := ""
	if x.live != nil {
		before = x.live.GetResourceVersion()
	}
	x.Wrote(x.resource.Key(), before, made)
	return nil
}

// apply applies the manifest, or only asks what that would make.
func (x *external) apply(ctx context.Context, dry bool) (*unstructured.Unstructured, error) {
	client, err := x.client(x.target())
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(x.manifest.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding the manifest: %w", err)
	}
	force := true
	options := metav1.PatchOptions{FieldManager: x.manager(), Force: &force}
	if dry {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return client.Patch(ctx, x.manifest.GetName(), types.ApplyPatchType, data, options)
}

// client writes the objects of a kind.
func (x *external) client(of referent) (dynamic.ResourceInterface, error) {
	r, served := x.Kinds.Lookup(of.gvk())
	switch {
	case !served:
		return nil, fmt.Errorf("no matches for kind %q in version %q", of.Kind, of.APIVersion)
	case !r.Namespaced:
		return x.Dynamic.Resource(r.GroupVersionResource), nil
	case of.Namespace == "":
		return nil, managed.Invalid("%s has no namespace: set metadata.namespace in the manifest", of)
	}
	return x.Dynamic.Resource(r.GroupVersionResource).Namespace(of.Namespace), nil
}

// Delete deletes the object.
func (x *external) Delete(ctx context.Context) (managed.Result, error) {
	of := x.target()
	client, err := x.client(of)
	if err != nil {
		return managed.Result{}, err
	}
	propagation := metav1.DeletePropagationBackground
	if wanted := x.spec.ForProvider.DeletionPropagationPolicy; wanted != "" {
		propagation = metav1.DeletionPropagation(wanted)
	}
	err = client.Delete(ctx, of.Name, metav1.DeleteOptions{PropagationPolicy: &propagation})
	if err != nil && !apierrors.IsNotFound(err) {
		return managed.Result{}, fmt.Errorf("cannot delete object: %w", cleaned(err))
	}
	return managed.Result{}, nil
}

// cleaned is the error of an apply without the values of the object: what an API server says of an invalid one quotes them.
func cleaned(err error) error {
	status, is := err.(apierrors.APIStatus)
	if !is || !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		return err
	}
	text := string(status.Status().Reason)
	if d := status.Status().Details; d != nil {
		for _, cause := range d.Causes {
			text += fmt.Sprintf("; %s: %s", cause.Field, cause.Type)
		}
	}
	return fmt.Errorf("the API server refuses it: %s", text)
}
