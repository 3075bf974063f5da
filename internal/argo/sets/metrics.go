package sets

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/meter"
)

// Measured says where the sets stand that have so many Applications.
func (s *Sets) Measured(owned map[string]int) []meter.ApplicationSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]meter.ApplicationSet, 0, len(s.sets))
	for name, state := range s.sets {
		one := meter.ApplicationSet{Namespace: name.Namespace, Name: name.Name, Status: "Unknown", Owned: owned[name.String()]}
		for _, c := range conditionsIn(state.object) {
			if c["type"] == string(v1alpha1.ApplicationSetConditionResourcesUpToDate) {
				one.Status, _ = c["reason"].(string)
			}
		}
		all = append(all, one)
	}
	return all
}

// conditionsIn are the conditions of an object.
func conditionsIn(u *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	all := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if c, ok := item.(map[string]any); ok {
			all = append(all, c)
		}
	}
	return all
}
