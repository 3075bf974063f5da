package below

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health"
)

// Mapper reports how objects of a kind are reached.
type Mapper func(gk schema.GroupKind) (schema.GroupVersionResource, error)

// passive are kinds without a status: that they are there is all there is to say. Secrets among them are never read.
var passive = map[schema.GroupKind]bool{
	{Kind: "ConfigMap"}: true, {Kind: "Secret"}: true, {Kind: "ServiceAccount"}: true, {Kind: "LimitRange"}: true,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}: true, {Group: "networking.k8s.io", Kind: "IngressClass"}: true,
	{Group: "storage.k8s.io", Kind: "StorageClass"}: true, {Group: "scheduling.k8s.io", Kind: "PriorityClass"}: true,
	{Group: "rbac.authorization.k8s.io", Kind: "Role"}: true, {Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}: true,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}: true, {Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: true,
}

// Objects reads objects, by one request for each kind: with the nil object stands one that does not exist. Those of passive kinds, and
// those that cannot be read, are left out; the error says why.
func (r *Reader) Objects(ctx context.Context, ids []engine.ObjectID, reach Mapper) (map[engine.ObjectID]*unstructured.Unstructured, error) {
	by := map[schema.GroupKind][]engine.ObjectID{}
	var kinds []schema.GroupKind
	for _, id := range ids {
		gk := id.GroupKind()
		if passive[gk] {
			continue
		}
		if by[gk] == nil {
			kinds = append(kinds, gk)
		}
		by[gk] = append(by[gk], id)
	}
	found := map[engine.ObjectID]*unstructured.Unstructured{}
	var failed error
	for _, gk := range kinds {
		resource, err := reach(gk)
		if meta.IsNoMatchError(err) {
			for _, id := range by[gk] {
				found[id] = nil
			}
			continue
		}
		if err == nil {
			err = r.ofKind(ctx, resource, by[gk], found)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("reading objects of kind %s: %w", gk.Kind, err))
		}
	}
	return found, failed
}

// ofKind reads objects of one kind: a single one alone, several as part of a list, which is that of their namespace if they have only one.
func (r *Reader) ofKind(ctx context.Context, resource schema.GroupVersionResource, ids []engine.ObjectID, found map[engine.ObjectID]*unstructured.Unstructured) error {
	namespace := ids[0].Namespace
	if len(ids) == 1 {
		o, err := r.client.Resource(resource).Namespace(namespace).Get(ctx, ids[0].Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			o, err = nil, nil
		}
		if err == nil {
			found[ids[0]] = o
		}
		return err
	}
	if slices.ContainsFunc(ids, func(id engine.ObjectID) bool { return id.Namespace != namespace }) {
		namespace = metav1.NamespaceAll
	}
	list, err := r.client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, id := range ids {
		found[id] = nil
	}
	for i := range list.Items {
		o := &list.Items[i]
		id := engine.ObjectID{Group: ids[0].Group, Kind: ids[0].Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
		if _, sought := found[id]; sought {
			found[id] = o
		}
	}
	return nil
}

// Judge says in a few words what is wrong with an object, by the expressions of its unit where there are some for its kind; it is empty
// for one that is as it should be.
func Judge(o *unstructured.Unstructured, exprs []engine.HealthExpr) string {
	// Expressions that cannot be compiled are reported by their unit.
	rules, _ := health.CompileRules(exprs)
	h := rules.Assess(o)
	if rules.Has(o.GroupVersionKind().GroupKind()) && h.Verdict == engine.Current || h.Verdict == engine.Current && !pending(o) {
		return ""
	}
	if h.Verdict == engine.Terminating {
		return "is being deleted"
	}
	if own := faults(o); len(own) > 0 {
		return strings.Join(own, "; ")
	}
	return cmp.Or(replicas(o), strings.ToLower(h.Message), string(h.Verdict))
}
