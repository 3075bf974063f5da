package here

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/workflow/object"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// target is the object of a resource template, with how it is reached.
type target struct {
	*unstructured.Unstructured
	client dynamic.ResourceInterface
	run    *plan.Run
	// conditions are what is waited for once the action is carried out.
	conditions object.Conditions
}

// String names it in messages.
func (t *target) String() string {
	name := t.GetName()
	if t.GetNamespace() != "" {
		name = t.GetNamespace() + "/" + name
	}
	return t.GetKind() + " " + name
}

func (t *target) secret() bool { return t.GetKind() == "Secret" && t.GetAPIVersion() == "v1" }

// act carries out an action on an object, and waits until the object is as the conditions say.
func (e *Executor) act(ctx context.Context, x *execution) plan.Leaf {
	t, err := e.target(ctx, x)
	if err != nil {
		return failed(v1alpha1.NodeFailed, "%s", err)
	}
	live, leaf := e.verb(ctx, x, t)
	if leaf.Phase != "" {
		return leaf
	}
	if x.run.Template.Resource.Action == "delete" {
		return plan.Leaf{Phase: v1alpha1.NodeSucceeded}
	}
	if t.conditions.Waits() {
		if live, leaf = e.await(ctx, x, t, live); leaf.Phase != v1alpha1.NodeSucceeded {
			return leaf
		}
	}
	return e.outputs(ctx, x, t, live)
}

// target reads what is to be done, and finds how the object is reached. An error is a mistake in the template.
func (e *Executor) target(ctx context.Context, x *execution) (*target, error) {
	r := x.run.Template.Resource
	t := &target{Unstructured: x.run.Object, run: &x.run}
	var err error
	if t.Unstructured == nil {
		if t.Unstructured, err = fromArtifact(x); err != nil {
			return nil, err
		}
	}
	if t.conditions, err = object.ParseConditions(r.SuccessCondition, r.FailureCondition); err != nil {
		return nil, err
	}
	if r.Action == "delete" && (t.conditions.Waits() || len(x.run.Template.Outputs.Parameters) > 0) {
		return nil, errors.New("successCondition, failureCondition and outputs are not supported for delete action")
	}
	served, err := e.resolve(ctx, x, t)
	if err != nil {
		return nil, err
	}
	client, err := e.client(x)
	if err != nil {
		return nil, err
	}
	t.client = client.Resource(served.GroupVersionResource)
	if served.Namespaced {
		if t.GetNamespace() == "" {
			t.SetNamespace(x.of.Namespace)
		}
		t.client = client.Resource(served.GroupVersionResource).Namespace(t.GetNamespace())
	} else {
		t.SetNamespace("")
	}
	switch {
	case t.GetName() == "":
		return nil, fmt.Errorf("%s has no name", t.GetKind())
	case r.SetOwnerReference && t.GetNamespace() != x.of.Namespace:
		return nil, fmt.Errorf("%s: setOwnerReference is possible in the namespace of the workflow alone; the garbage collector of the cluster would delete it", t)
	}
	return t, nil
}

// fromArtifact reads the manifest of a template that has it in an artifact.
func fromArtifact(x *execution) (*unstructured.Unstructured, error) {
	from := x.run.Template.Resource.ManifestFrom
	if from == nil || from.Artifact == nil {
		return nil, errors.New("resource.manifest is missing")
	}
	artifact := from.Artifact
	for i := range x.run.Template.Inputs.Artifacts {
		if one := &x.run.Template.Inputs.Artifacts[i]; one.Name == artifact.Name && artifact.Raw == nil {
			artifact = one
		}
	}
	if artifact.Raw == nil {
		return nil, fmt.Errorf("resource.manifestFrom.artifact %q: only raw artifacts are read here; pass the manifest as a parameter", artifact.Name)
	}
	return plan.Manifest(x.wf, x.run.Template, artifact.Raw.Data, x.run.NodeID)
}

// outputs is the end of an execution whose object is as it should be, with the values that were requested.
func (e *Executor) outputs(ctx context.Context, x *execution, t *target, live *unstructured.Unstructured) plan.Leaf {
	declared := x.run.Template.Outputs.Parameters
	if len(declared) == 0 {
		return plan.Leaf{Phase: v1alpha1.NodeSucceeded}
	}
	in := e.Sandbox.For(x.of.Namespace, x.of.String())
	parameters, err := object.Outputs(ctx, in, declared, live.Object)
	if t.secret() {
		parameters, err = unsecret(ctx, in, declared, parameters, live)
	}
	if err != nil {
		return failed(v1alpha1.NodeError, "%s: %s", t, err)
	}
	return plan.Leaf{Phase: v1alpha1.NodeSucceeded, Outputs: &v1alpha1.Outputs{Parameters: parameters}}
}

// unsecret are outputs of a Secret, unless they would be others without its values.
func unsecret(ctx context.Context, in *sandbox.Client, declared, found []v1alpha1.Parameter, live *unstructured.Unstructured) ([]v1alpha1.Parameter, error) {
	bare := live.DeepCopy()
	delete(bare.Object, "data")
	delete(bare.Object, "stringData")
	annotations := bare.GetAnnotations()
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	bare.SetAnnotations(annotations)
	shown, err := object.Outputs(ctx, in, declared, bare.Object)
	if err != nil || !reflect.DeepEqual(shown, found) {
		return nil, errors.New("values of Secrets are not written into statuses, as outputs are: read them where they are used, by secretKeyRef")
	}
	return shown, nil
}

// pause waits for a while; false if the execution was ended meanwhile.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
