package virtual

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/cluster/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/virtual/plan"
)

// kept are the types of Secrets that mean nothing in another cluster.
var kept = []corev1.SecretType{corev1.SecretTypeServiceAccountToken, "helm.sh/release.v1"}

// copy has a virtual cluster have the Secrets that its mappings name. One that cannot be copied stops no other.
func (p *part) copy(ctx context.Context, vc *v1alpha1.VirtualCluster, r *running) ([]plan.Problem, error) {
	mappings, problems := plan.Mappings(vc.Spec.SecretMappings, vc.Namespace)
	namespaces := p.namespaces(vc, mappings)
	if err := r.sources(namespaces); err != nil {
		return problems, err
	}
	facts, sources, err := p.facts(ctx, r, namespaces)
	if err != nil {
		return problems, err
	}
	todo := plan.Copy(mappings, facts)
	problems = append(problems, todo.Problems...)
	var errs []error
	order := func(a, b plan.Name) int { return strings.Compare(a.String(), b.String()) }
	for _, target := range slices.SortedFunc(maps.Keys(todo.Write), order) {
		from := todo.Write[target]
		if err := r.place(ctx, target, sources[from]); err != nil {
			errs = append(errs, fmt.Errorf("copying Secret %s to %s: %w", from, target, err))
		}
	}
	for _, target := range todo.Delete {
		if err := r.drop(ctx, target); err != nil {
			errs = append(errs, fmt.Errorf("deleting the copy %s: %w", target, err))
		}
	}
	return problems, errors.Join(errs...)
}

// namespaces are those of the host that the mappings of a VirtualCluster name and whose Secrets it may have: its own, and those that the unit
// which declares it permits.
func (p *part) namespaces(vc *v1alpha1.VirtualCluster, mappings []plan.Mapping) map[string]bool {
	id := idOf(vc)
	object := engine.ObjectID{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
	all := map[string]bool{}
	for _, m := range mappings {
		namespace := m.Host.Namespace
		if !all[namespace] && (namespace == vc.Namespace || p.Grants.Permit(object, namespace)) {
			all[namespace] = true
		}
	}
	return all
}

// facts are the Secrets of namespaces of the host, and those of the virtual cluster.
func (p *part) facts(ctx context.Context, r *running, namespaces map[string]bool) (plan.Facts, map[plan.Name]*corev1.Secret, error) {
	f := plan.Facts{
		Host: map[plan.Name]string{}, Copied: map[plan.Name]string{}, Others: map[plan.Name]bool{},
		Permitted: func(namespace string) bool { return namespaces[namespace] },
	}
	sources := map[plan.Name]*corev1.Secret{}
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		hosts, err := p.client.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return f, nil, fmt.Errorf("listing the Secrets of namespace %q: %w", namespace, err)
		}
		for i := range hosts.Items {
			s := &hosts.Items[i]
			// Credentials of virtual clusters are not for those who are inside of one.
			if slices.Contains(kept, s.Type) || s.Annotations[v1alpha1.AnnotationOwner] != "" {
				continue
			}
			f.Host[nameOf(s)], sources[nameOf(s)] = digest(s), s
		}
	}
	have, err := r.client.CoreV1().Secrets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return f, nil, fmt.Errorf("listing the Secrets of the virtual cluster: %w", err)
	}
	for i := range have.Items {
		s := &have.Items[i]
		if s.Labels[v1alpha1.LabelCopy] == "true" {
			f.Copied[nameOf(s)] = digest(s)
		} else {
			f.Others[nameOf(s)] = true
		}
	}
	return f, sources, nil
}

func nameOf(s *corev1.Secret) plan.Name { return plan.Name{Namespace: s.Namespace, Name: s.Name} }

// digest is of what is copied of a Secret: its type and its data.
func digest(s *corev1.Secret) string {
	h := sha256.New()
	part := func(b []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	part([]byte(s.Type))
	for _, key := range slices.Sorted(maps.Keys(s.Data)) {
		part([]byte(key))
		part(s.Data[key])
	}
	return string(h.Sum(nil))
}
