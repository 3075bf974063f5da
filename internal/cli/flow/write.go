package flow

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/retry"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// manager is what writes are known by.
const manager = "headgate"

// create creates a workflow. With dry, the server only says what it would be.
func (p *place) create(ctx context.Context, wf *v1alpha1.Workflow, dry bool) (*v1alpha1.Workflow, error) {
	object, err := encoded(wf)
	if err != nil {
		return nil, err
	}
	o := metav1.CreateOptions{FieldManager: manager}
	if dry {
		o.DryRun = []string{metav1.DryRunAll}
	}
	u, err := p.workflows(wf.Namespace).Create(ctx, &unstructured.Unstructured{Object: object}, o)
	if err != nil {
		err = fmt.Errorf("creating workflow %q in namespace %q: %w", wf.Name+wf.GenerateName, wf.Namespace, err)
		if apierrors.IsAlreadyExists(err) {
			return nil, console.Hint(err, "headgate workflow submit with another --name, or --generate-name")
		}
		return nil, p.explained(err)
	}
	return declared.Read[v1alpha1.Workflow](u)
}

// change is what becomes of a workflow by a request.
type change interface {
	of(wf *v1alpha1.Workflow) (*v1alpha1.Workflow, error)
}

// change writes what a request makes of a workflow as it is at this time: if it has changed in between, the request is applied to
// that.
func (p *place) change(ctx context.Context, name string, c change) (*v1alpha1.Workflow, error) {
	var written *v1alpha1.Workflow
	var refused error
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		u, err := p.workflows(p.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		wf, err := read(u)
		if err != nil {
			return err
		}
		next, err := c.of(wf)
		if err != nil {
			refused = err
			return err
		}
		if err := merge(u, next); err != nil {
			return err
		}
		if u, err = p.workflows(p.namespace).Update(ctx, u, metav1.UpdateOptions{FieldManager: manager}); err != nil {
			return err
		}
		written, err = read(u)
		return err
	})
	if refused != nil {
		return nil, console.Hint(refused, "headgate workflow get %s -n %s", name, p.namespace)
	}
	if err != nil {
		return nil, p.explained(fmt.Errorf("changing workflow %q: %w", name, err))
	}
	return written, nil
}

// merge takes what requests change over into an object. Everything else stays as it is, also what the types do not have.
func merge(u *unstructured.Unstructured, wf *v1alpha1.Workflow) error {
	status, err := plan.Compressed(&wf.Status)
	if err != nil {
		return err
	}
	small := *wf
	small.Status = *status
	object, err := encoded(&small)
	if err != nil {
		return err
	}
	for _, path := range [][]string{
		{"metadata", "labels"}, {"metadata", "annotations"}, {"spec", "shutdown"}, {"spec", "suspend"}, {"spec", "arguments"}, {"status"},
	} {
		value, has, err := unstructured.NestedFieldNoCopy(object, path...)
		if err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
		if !has {
			unstructured.RemoveNestedField(u.Object, path...)
			continue
		}
		if err := unstructured.SetNestedField(u.Object, value, path...); err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
	}
	return nil
}

// encoded are the fields of a workflow as JSON has them.
func encoded(wf *v1alpha1.Workflow) (map[string]any, error) {
	data, err := json.Marshal(wf)
	fields := map[string]any{}
	if err == nil {
		err = json.Unmarshal(data, &fields) // whole numbers stay whole
	}
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	return fields, nil
}
