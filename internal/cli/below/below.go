// Package below finds out why a workload is not healthy: from the ReplicaSets, Pods and claims that it brings about, from their
// conditions, and from the events about them.
//
// The room reads, and says what the cluster says; what no one has recorded it does not guess.
package below

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health"
)

// Finding is what is wrong with an object, and with what is below it.
type Finding struct {
	ID    engine.ObjectID
	Text  string
	Below []Finding
	// Missing is set when the object does not exist.
	Missing bool
	// More counts those below that are left out, since they are many or say the same.
	More int
}

// shown bounds how many objects of one owner are shown.
const shown = 3

var (
	deployments  = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	replicaSets  = schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	statefulSets = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	daemonSets   = schema.GroupKind{Group: "apps", Kind: "DaemonSet"}
	jobs         = schema.GroupKind{Group: "batch", Kind: "Job"}
	pods         = schema.GroupKind{Kind: "Pod"}
	claims       = schema.GroupKind{Kind: "PersistentVolumeClaim"}
)

// resources are those of the kinds that are looked into.
var resources = map[schema.GroupKind]schema.GroupVersionResource{
	deployments:  {Group: "apps", Version: "v1", Resource: "deployments"},
	replicaSets:  {Group: "apps", Version: "v1", Resource: "replicasets"},
	statefulSets: {Group: "apps", Version: "v1", Resource: "statefulsets"},
	daemonSets:   {Group: "apps", Version: "v1", Resource: "daemonsets"},
	jobs:         {Group: "batch", Version: "v1", Resource: "jobs"},
	pods:         {Version: "v1", Resource: "pods"},
	claims:       {Version: "v1", Resource: "persistentvolumeclaims"},
}

// brings are the kinds of what an object brings about.
var brings = map[schema.GroupKind]schema.GroupKind{
	deployments: replicaSets, replicaSets: pods, statefulSets: pods, daemonSets: pods, jobs: pods,
}

// Kinds are the kinds that are looked into.
func Kinds() []schema.GroupKind {
	kinds := make([]schema.GroupKind, 0, len(resources))
	for gk := range resources {
		kinds = append(kinds, gk)
	}
	slices.SortFunc(kinds, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

// Reader reads a cluster. What it has listed it does not list again: it is for one command.
type Reader struct {
	client dynamic.Interface
	lists  map[string][]unstructured.Unstructured
}

// New returns a Reader.
func New(client dynamic.Interface) *Reader {
	return &Reader{client: client, lists: map[string][]unstructured.Unstructured{}}
}

// Of is what is wrong with an object; false when nothing is, or when its kind is not looked into. Errors are those of the API server.
func (r *Reader) Of(ctx context.Context, id engine.ObjectID) (Finding, bool, error) {
	resource, known := resources[id.GroupKind()]
	if !known {
		return Finding{}, false, nil
	}
	o, err := r.client.Resource(resource).Namespace(id.Namespace).Get(ctx, id.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return Finding{ID: id, Text: "does not exist", Missing: true}, true, nil
	}
	if err != nil {
		return Finding{}, false, fmt.Errorf("reading %s: %w", id, err)
	}
	return r.of(ctx, o)
}

func (r *Reader) of(ctx context.Context, o *unstructured.Unstructured) (Finding, bool, error) {
	h := health.Assess(o)
	if h.Verdict == engine.Current && !pending(o) {
		return Finding{}, false, nil
	}
	f := Finding{ID: engine.IDOf(o)}
	children, err := r.children(ctx, o)
	if err != nil {
		return f, false, err
	}
	for i := range children {
		below, ill, err := r.of(ctx, &children[i])
		switch {
		case err != nil:
			return f, false, err
		case !ill:
		case len(f.Below) == shown || slices.ContainsFunc(f.Below, below.same):
			f.More++
		default:
			f.Below = append(f.Below, below)
		}
	}
	if f.Text = replicas(o); len(f.Below) > 0 && f.Text != "" {
		return f, true, nil
	}
	own := faults(o)
	if len(own) == 0 {
		if own, err = r.warnings(ctx, o); err != nil {
			return f, false, err
		}
	}
	switch {
	case len(own) > 0:
		f.Text = strings.Join(own, "; ")
	case f.Text == "":
		f.Text = strings.ToLower(h.Message)
	}
	return f, true, nil
}

// same reports whether two objects say the same, each with its own name.
func (f Finding) same(other Finding) bool {
	return strings.ReplaceAll(f.Text, f.ID.Name, "") == strings.ReplaceAll(other.Text, other.ID.Name, "") && len(f.Below) == len(other.Below)
}

// children are the objects that one brings about, and the claims that a Pod waits for.
func (r *Reader) children(ctx context.Context, o *unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	gk := o.GroupVersionKind().GroupKind()
	if gk == pods {
		return r.unbound(ctx, o)
	}
	below, has := brings[gk]
	if !has {
		return nil, nil
	}
	all, err := r.list(ctx, below, o.GetNamespace())
	if err != nil {
		return nil, err
	}
	var own []unstructured.Unstructured
	for _, child := range all {
		owner := metav1.GetControllerOf(&child)
		if owner != nil && owner.UID == o.GetUID() && wanted(&child) {
			own = append(own, child)
		}
	}
	return own, nil
}

// wanted reports whether an object is meant to be: ReplicaSets of former revisions have no replicas.
func wanted(o *unstructured.Unstructured) bool {
	n, has, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	return o.GetDeletionTimestamp() == nil && (!has || n > 0)
}

// unbound are the claims of a Pod that are not bound.
func (r *Reader) unbound(ctx context.Context, pod *unstructured.Unstructured) ([]unstructured.Unstructured, error) {
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	names := map[string]bool{}
	for _, volume := range volumes {
		fields, _ := volume.(map[string]any)
		if name, named, _ := unstructured.NestedString(fields, "persistentVolumeClaim", "claimName"); named {
			names[name] = true
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	all, err := r.list(ctx, claims, pod.GetNamespace())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(o unstructured.Unstructured) bool { return !names[o.GetName()] }), nil
}

func (r *Reader) list(ctx context.Context, gk schema.GroupKind, namespace string) ([]unstructured.Unstructured, error) {
	key := gk.String() + "/" + namespace
	if known, listed := r.lists[key]; listed {
		return known, nil
	}
	list, err := r.client.Resource(resources[gk]).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing %s in namespace %q: %w", gk, namespace, err)
	}
	slices.SortFunc(list.Items, func(a, b unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	r.lists[key] = list.Items
	return list.Items, nil
}

// warnings are the last two things that events say against an object.
func (r *Reader) warnings(ctx context.Context, o *unstructured.Unstructured) ([]string, error) {
	list, err := r.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace(o.GetNamespace()).List(ctx, metav1.ListOptions{
		FieldSelector: fields.Set{"involvedObject.uid": string(o.GetUID()), "type": "Warning"}.String(),
	})
	if err != nil {
		return nil, fmt.Errorf("listing the events of %s: %w", engine.IDOf(o), err)
	}
	return said(list.Items), nil
}

// Find is an object of a kind that is looked into, by its kind and name; an empty namespace stands for any. It is false when there is none.
func (r *Reader) Find(ctx context.Context, gk schema.GroupKind, namespace, name string) (*unstructured.Unstructured, bool, error) {
	list, err := r.client.Resource(resources[gk]).Namespace(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String(),
	})
	if err != nil {
		return nil, false, fmt.Errorf("searching for %s %q: %w", gk, name, err)
	}
	for i := range list.Items {
		if list.Items[i].GetName() == name {
			return &list.Items[i], true, nil
		}
	}
	return nil, false, nil
}

// Above are the objects that brought one about, the nearest first.
func (r *Reader) Above(ctx context.Context, o *unstructured.Unstructured) ([]engine.ObjectID, error) {
	var above []engine.ObjectID
	for range len(resources) {
		owner := metav1.GetControllerOf(o)
		if owner == nil {
			break
		}
		gv, err := schema.ParseGroupVersion(owner.APIVersion)
		if err != nil {
			break
		}
		id := engine.ObjectID{Group: gv.Group, Kind: owner.Kind, Namespace: o.GetNamespace(), Name: owner.Name}
		above = append(above, id)
		resource, known := resources[id.GroupKind()]
		if !known {
			break
		}
		next, err := r.client.Resource(resource).Namespace(id.Namespace).Get(ctx, id.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			break
		}
		if err != nil {
			return above, fmt.Errorf("reading %s: %w", id, err)
		}
		o = next
	}
	return above, nil
}
