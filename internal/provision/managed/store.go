package managed

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/headgate-dev/headgate/internal/declared"
)

// Annotate sets annotations, on the latest version of the resource. It is tried several times: something that was created would
// be searched for otherwise.
func (p *pass) Annotate(ctx context.Context, _ *Resource, annotations map[string]string) error {
	return p.annotate(ctx, annotations)
}

func (p *pass) annotate(ctx context.Context, annotations map[string]string) error {
	var last error
	backoff := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Steps: 6}
	err := wait.ExponentialBackoffWithContext(ctx, backoff, func(ctx context.Context) (bool, error) {
		last = p.patchAnnotations(ctx, annotations, false)
		if last != nil && (apierrors.IsForbidden(last) || apierrors.IsInvalid(last) || apierrors.IsConflict(last)) {
			return false, last
		}
		return last == nil, nil
	})
	if last != nil {
		return last
	}
	return err
}

// patchAnnotations sets annotations of the object with this uid, and of this very version when it is to be unchanged.
func (p *pass) patchAnnotations(ctx context.Context, annotations map[string]string, unchanged bool) error {
	same := true
	for name, value := range annotations {
		same = same && p.object.GetAnnotations()[name] == value
	}
	if same {
		return nil
	}
	metadata := map[string]any{"annotations": annotations, "uid": string(p.object.GetUID())}
	if unchanged {
		metadata["resourceVersion"] = p.object.GetResourceVersion()
	}
	u, err := p.writer().Patch(ctx, p.object, map[string]any{"metadata": metadata})
	p.merged(u, annotations)
	return err
}

// patchStatus merges fields into the status of the object with this uid, and of no other one that has its name by now.
func (p *pass) patchStatus(ctx context.Context, fields map[string]any) error {
	if len(fields) == 0 {
		return nil
	}
	u, err := p.writer().Patch(ctx, p.object, map[string]any{
		"metadata": map[string]any{"uid": string(p.object.GetUID())}, "status": fields,
	}, "status")
	p.merged(u, nil)
	return err
}

// Record stores the record of the kind.
func (p *pass) Record(ctx context.Context, _ *Resource, record map[string]any) error {
	before, _, _ := unstructured.NestedMap(p.object.Object, "status", "record")
	// As the API server returns them: what would be read differs otherwise in the types of numbers.
	was, err := declared.Fields(before)
	if err != nil {
		return err
	}
	patch := declared.Difference(was, record)
	if len(patch) == 0 {
		return nil
	}
	return p.patchStatus(ctx, map[string]any{"record": patch})
}

// Read reads another object of the home cluster, and follows it.
func (p *pass) Read(ctx context.Context, r *Resource, of schema.GroupVersionKind, name types.NamespacedName) (*unstructured.Unstructured, error) {
	return p.ReadBy(ctx, r, p.edges, of, name)
}

// ReadBy is that as another account sees the cluster.
func (p *pass) ReadBy(ctx context.Context, _ *Resource, by *Edges, of schema.GroupVersionKind, name types.NamespacedName) (*unstructured.Unstructured, error) {
	o, polled, err := by.Get(ctx, p.key, of, name)
	p.memory.polled = p.memory.polled || polled
	return o, err
}

// tell emits what went well, if anything did.
func (p *pass) tell(event Cause) {
	if event.Reason != "" {
		p.emit("Normal", event.Reason, event.Message)
	}
}

// Emit writes an event about the resource.
func (p *pass) Emit(_ *Resource, kind, reason, message string) { p.emit(kind, reason, message) }

func (p *pass) emit(kind, reason, message string) {
	o := p.object
	ref := &corev1.ObjectReference{
		APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
	}
	p.events.Emit(o, ref, declared.Event{Component: manager, Type: kind, Reason: reason, Message: message})
}
