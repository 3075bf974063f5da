package builds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	workflow "github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/internal/builds/plan"
)

// outputManager is the field manager of outputs.
const outputManager = "headgate-build"

// isMissing reports whether something is not there yet.
func isMissing(err error) bool {
	var m *missingError
	return errors.As(err, &m)
}

// carryOut does what was decided, as the account of the Build.
func (p *part) carryOut(ctx context.Context, b *v1alpha1.Build, actions []plan.Action) error {
	g, err := p.gatherer(b)
	if err != nil {
		return err
	}
	for _, a := range actions {
		if err := g.act(ctx, a); err != nil {
			return fmt.Errorf("%s %s: %w", verb(a.Do), a.Name, err)
		}
	}
	return nil
}

// verb says what an action does.
func verb(do plan.Do) string {
	switch do {
	case plan.CreateRun:
		return "creating Workflow"
	case plan.CancelRun:
		return "terminating Workflow"
	case plan.DeleteRun:
		return "deleting Workflow"
	case plan.CreateImage:
		return "creating Image"
	case plan.DeleteImage:
		return "deleting Image"
	default:
		return "writing Secret"
	}
}

func (g *gatherer) act(ctx context.Context, a plan.Action) error {
	if a.Do == plan.WriteSecret {
		return g.apply(ctx, a)
	}
	gvk, namespace := workflowKind(workflow.WorkflowKind), g.build.Namespace
	if a.Do == plan.CreateImage || a.Do == plan.DeleteImage {
		gvk = imageKind(g.build.Spec.Image)
		if !plan.Namespaced(g.build.Spec.Image) {
			namespace = ""
		}
	}
	client, err := g.client(gvk, namespace)
	if err != nil {
		return err
	}
	switch a.Do {
	case plan.CreateRun, plan.CreateImage:
		_, err = client.Create(ctx, a.Object, metav1.CreateOptions{FieldManager: outputManager})
		if apierrors.IsAlreadyExists(err) {
			return g.joins(ctx, client, a)
		}
	case plan.CancelRun:
		patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"spec":{"shutdown":%q}}`, a.UID, "Terminate")
		_, err = client.Patch(ctx, a.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: outputManager})
	case plan.DeleteRun, plan.DeleteImage:
		background := metav1.DeletePropagationBackground
		err = client.Delete(ctx, a.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &a.UID}, PropagationPolicy: &background})
	}
	if apierrors.IsNotFound(err) && a.Do != plan.CreateRun && a.Do != plan.CreateImage {
		return nil
	}
	return err
}

// joins reports whether what exists under a name is what was to be created. Of a run the next decision says so.
func (g *gatherer) joins(ctx context.Context, client dynamic.ResourceInterface, a plan.Action) error {
	if a.Do == plan.CreateRun {
		return nil
	}
	have, err := client.Get(ctx, a.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for name, value := range a.Object.GetLabels() {
		if have.GetLabels()[name] != value {
			return fmt.Errorf("there is one of that name which does not belong to the Build: its label %s is %q", name, have.GetLabels()[name])
		}
	}
	return nil
}

func (g *gatherer) client(gvk schema.GroupVersionKind, namespace string) (dynamic.ResourceInterface, error) {
	resource, err := g.served(gvk)
	if err != nil {
		return nil, err
	}
	return g.as.Resource(resource).Namespace(namespace), nil
}

// apply writes a Secret in one request. One that is there is written only as long as it is the one that was read.
func (g *gatherer) apply(ctx context.Context, a plan.Action) error {
	object := a.Object.DeepCopy()
	if a.UID != "" {
		object.SetUID(a.UID)
	}
	data, err := json.Marshal(object)
	if err != nil {
		// The error of the encoder may quote a value.
		return errors.New("encoding the Secret failed")
	}
	force := true
	_, err = g.as.Resource(secretResource()).Namespace(g.build.Namespace).Patch(ctx, a.Name, types.ApplyPatchType, data,
		metav1.PatchOptions{FieldManager: outputManager, Force: &force})
	return err
}
