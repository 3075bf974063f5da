package here

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// manager is the field manager of what templates write.
const manager = "headgate-workflow"

// resolve finds how a kind is reached; an API server that does not answer is asked again.
func (e *Executor) resolve(ctx context.Context, x *execution, t *target) (cluster.Resource, error) {
	var p patience
	for {
		served, is, err := e.Kinds.Resolve(ctx, t.GroupVersionKind())
		if err == nil && !is {
			return served, fmt.Errorf("the cluster serves no %s of %s", t.GetKind(), t.GetAPIVersion())
		}
		if err == nil {
			return served, nil
		}
		wait, _ := p.again(err)
		e.progress(x, x.phase(), told(t, err))
		if !pause(ctx, wait) {
			return served, context.Cause(ctx)
		}
	}
}

// phase is the one that an execution has before it has had an effect.
func (x *execution) phase() v1alpha1.NodePhase {
	if x.run.Begun {
		return v1alpha1.NodeRunning
	}
	return v1alpha1.NodePending
}

// verb carries out the action, and returns the object as it is then. A phase of the leaf is an end.
func (e *Executor) verb(ctx context.Context, x *execution, t *target) (*unstructured.Unstructured, plan.Leaf) {
	var p patience
	for {
		live, err := e.once(ctx, x, t)
		if err == nil {
			return live, plan.Leaf{}
		}
		if ctx.Err() != nil {
			return nil, failed(v1alpha1.NodePending, "it was stopped")
		}
		wait, again := p.again(err)
		if !again {
			return nil, transient(failed(v1alpha1.NodeFailed, "%s", told(t, err)), apply.Transient(err))
		}
		e.progress(x, x.phase(), told(t, err))
		if !pause(ctx, wait) {
			return nil, failed(v1alpha1.NodePending, "it was stopped")
		}
	}
}

// requestTime bounds one request to the API server.
const requestTime = 30 * time.Second

// once makes one attempt at the action.
func (e *Executor) once(ctx context.Context, x *execution, t *target) (*unstructured.Unstructured, error) {
	turn, ok := e.slots.Take(ctx, x.of.Namespace)
	if !ok {
		return nil, context.Cause(ctx)
	}
	defer turn.End()
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	switch action := x.run.Template.Resource.Action; action {
	case "get":
		return t.get(ctx)
	case "create":
		return t.create(ctx)
	case "apply":
		return t.patch(ctx, types.ApplyPatchType)
	case "delete":
		return nil, t.remove(ctx)
	case "replace":
		return t.replace(ctx)
	case "patch":
		return t.patch(ctx, strategies[x.run.Template.Resource.MergeStrategy])
	default:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("resource.action %q is not one of get, create, apply, delete, replace, patch", action))
	}
}

// strategies are those of patches, by their names.
var strategies = map[string]types.PatchType{
	"": types.StrategicMergePatchType, "strategic": types.StrategicMergePatchType, "merge": types.MergePatchType,
}

func (t *target) get(ctx context.Context) (*unstructured.Unstructured, error) {
	return t.client.Get(ctx, t.GetName(), metav1.GetOptions{})
}

// create creates the object, or adopts it if this attempt created it before. One that it created and that is gone is not created again.
func (t *target) create(ctx context.Context) (*unstructured.Unstructured, error) {
	if !t.run.Begun {
		live, err := t.client.Create(ctx, t.Unstructured, metav1.CreateOptions{FieldManager: manager})
		if !apierrors.IsAlreadyExists(err) {
			return live, err
		}
	}
	live, err := t.get(ctx)
	switch {
	case apierrors.IsNotFound(err) && t.run.Begun:
		return nil, &deletedError{t.String()}
	case err != nil:
		return nil, err
	case live.GetAnnotations()[v1alpha1.AnnotationRun] != t.GetAnnotations()[v1alpha1.AnnotationRun]:
		return nil, ownError(fmt.Sprintf("%s already exists, and this step has not created it", t))
	}
	return live, nil
}

// deletedError says that someone deleted an object that is waited for.
type deletedError struct{ object string }

func (e *deletedError) Error() string {
	return fmt.Sprintf("The resource has been deleted while its status was still being checked. Will not be retried: %s", e.object)
}

// As has it count as a message that quotes nothing.
func (e *deletedError) As(target any) bool {
	own, is := target.(*ownError)
	if is {
		*own = ownError(e.Error())
	}
	return is
}

// remove deletes the object, if it is there.
func (t *target) remove(ctx context.Context) error {
	background := metav1.DeletePropagationBackground
	err := t.client.Delete(ctx, t.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// replace writes the object over the one that is there.
func (t *target) replace(ctx context.Context) (*unstructured.Unstructured, error) {
	live, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	wanted := t.DeepCopy()
	if wanted.GetResourceVersion() == "" {
		wanted.SetResourceVersion(live.GetResourceVersion())
	}
	written, err := t.client.Update(ctx, wanted, metav1.UpdateOptions{FieldManager: manager})
	if apierrors.IsConflict(err) && t.GetResourceVersion() != "" {
		return nil, ownError(fmt.Sprintf("%s has another resourceVersion than the manifest", t))
	}
	return written, err
}

// patch merges the manifest into the object. What is applied is created if it is not there.
func (t *target) patch(ctx context.Context, how types.PatchType) (*unstructured.Unstructured, error) {
	data, err := json.Marshal(t.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", t, err)
	}
	options := metav1.PatchOptions{FieldManager: manager}
	if how == types.ApplyPatchType {
		force := true
		options.Force = &force
	}
	return t.client.Patch(ctx, t.GetName(), how, data, options)
}
