package installation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/roots"
)

// Change is what became of one object.
type Change struct {
	Object engine.ObjectID
	// Action is created, configured, unchanged or deleted.
	Action string
}

// Apply applies the objects, one after the other, and reports what became of each. What is refused does not stop
// the others; the error names all of it.
func Apply(ctx context.Context, config *rest.Config, objects []*unstructured.Unstructured, told func(Change)) error {
	client, mapper, err := connect(config)
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range objects {
		resource, err := resourceOf(client, mapper, o)
		if err == nil {
			var change Change
			if change, err = applyOne(ctx, resource, o); err == nil {
				told(change)
				continue
			}
		}
		errs = append(errs, fmt.Errorf("applying %s: %w", engine.IDOf(o), err))
	}
	return errors.Join(errs...)
}

func connect(config *rest.Config) (dynamic.Interface, meta.RESTMapper, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("creating a client: %w", err)
	}
	mapper, err := roots.Mapper(config)
	return client, mapper, err
}

func resourceOf(client dynamic.Interface, mapper meta.RESTMapper, o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, fmt.Errorf("the cluster does not serve its kind: %w", err)
	}
	return client.Resource(mapping.Resource).Namespace(o.GetNamespace()), nil
}

func applyOne(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured) (Change, error) {
	change := Change{Object: engine.IDOf(o), Action: "configured"}
	before, err := client.Get(ctx, o.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		change.Action = "created"
	case err != nil:
		return change, err
	}
	data, err := json.Marshal(o.Object)
	if err != nil {
		return change, fmt.Errorf("encoding: %w", err)
	}
	force := true
	after, err := client.Patch(ctx, o.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: manager, Force: &force})
	if err != nil {
		return change, err
	}
	if change.Action != "created" && after.GetResourceVersion() == before.GetResourceVersion() {
		change.Action = "unchanged"
	}
	return change, nil
}

// Remove deletes the objects in the reverse order, but for definitions, with which everything would go that
// they define, namespaces, and objects that have another owner by now.
func Remove(ctx context.Context, config *rest.Config, objects []*unstructured.Unstructured, told func(Change)) error {
	client, mapper, err := connect(config)
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range slices.Backward(objects) {
		if o.GetKind() == "CustomResourceDefinition" || o.GetKind() == "Namespace" {
			continue
		}
		resource, err := resourceOf(client, mapper, o)
		deleted := false
		if err == nil {
			deleted, err = removeOne(ctx, resource, o.GetName())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("deleting %s: %w", engine.IDOf(o), err))
		} else if deleted {
			told(Change{engine.IDOf(o), "deleted"})
		}
	}
	return errors.Join(errs...)
}

// removeOne deletes an object that is ours. Flux has Services of the same names, which are its own again after
// the way back.
func removeOne(ctx context.Context, client dynamic.ResourceInterface, name string) (deleted bool, err error) {
	live, err := client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if live.GetLabels()[dialect.PartOf] != Name {
		return false, nil
	}
	err = client.Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// look is how often a Deployment is polled.
const look = 500 * time.Millisecond

// Wait waits until the Deployments among the objects are rolled out, and reports what is missing whenever that
// changes. When ctx ends before, the error wraps ErrUnhealthy and says what is missing.
func Wait(ctx context.Context, config *rest.Config, objects []*unstructured.Unstructured, told func(string)) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	last := ""
	for {
		missing, err := missingOf(ctx, client, objects)
		if err == nil && missing == "" {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			missing = err.Error()
		}
		if missing != "" && missing != last {
			told(missing)
			last = missing
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", ErrUnhealthy, last)
		case <-tick.C:
		}
	}
}

func missingOf(ctx context.Context, client kubernetes.Interface, objects []*unstructured.Unstructured) (string, error) {
	var missing []string
	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		d, err := client.AppsV1().Deployments(o.GetNamespace()).Get(ctx, o.GetName(), metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		if text := Unready(d); text != "" {
			why, err := podTrouble(ctx, client, d)
			if err != nil {
				return "", err
			}
			missing = append(missing, text+why)
		}
	}
	return strings.Join(missing, "; "), nil
}

// Unready says what is missing for a Deployment to be rolled out; it is empty when nothing is.
func Unready(d *appsv1.Deployment) string {
	want := ptr.Deref(d.Spec.Replicas, 1)
	if d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas >= want && d.Status.AvailableReplicas >= want {
		return ""
	}
	return fmt.Sprintf("Deployment %s/%s has %d of %d pods ready", d.Namespace, d.Name, d.Status.AvailableReplicas, want)
}

// podTrouble says what keeps the pods of a Deployment from running.
func podTrouble(ctx context.Context, client kubernetes.Interface, d *appsv1.Deployment) (string, error) {
	pods, err := client.CoreV1().Pods(d.Namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(d.Spec.Selector)})
	if err != nil {
		return "", err
	}
	for i := range pods.Items {
		for _, c := range pods.Items[i].Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil && w.Reason != "ContainerCreating" {
				return fmt.Sprintf(": %s: %s %s", pods.Items[i].Name, w.Reason, w.Message), nil
			}
		}
		for _, c := range pods.Items[i].Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				return fmt.Sprintf(": %s: %s", pods.Items[i].Name, c.Message), nil
			}
		}
	}
	return "", nil
}
