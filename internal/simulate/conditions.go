package simulate

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reason and message are those of the conditions made here.
const (
	reason  = "Simulated"
	message = "no controller handles this object; its status is simulated"
)

// conditionTypes are the conditions that make an object of a kind healthy.
func conditionTypes(gk schema.GroupKind) []string {
	types := []string{"Ready", "Available"}
	for _, more := range []struct {
		group string
		types []string
	}{
		{"crossplane.io", []string{"Synced"}},
		{"upbound.io", []string{"Synced"}},
		{"pkg.crossplane.io", []string{"Installed", "Healthy"}},
		{"apiextensions.crossplane.io", []string{"Established", "Offered"}},
		{"gateway.networking.k8s.io", []string{"Accepted", "Programmed"}},
		{"gateway.envoyproxy.io", []string{"Accepted"}},
	} {
		if gk.Group == more.group || strings.HasSuffix(gk.Group, "."+more.group) {
			types = append(types, more.types...)
		}
	}
	return types
}

// withConditions adds to a status the conditions of healthy objects, in place of its own of the same types.
func withConditions(status map[string]any, o *unstructured.Unstructured, now string) map[string]any {
	list, _ := status["conditions"].([]any)
	for _, kind := range conditionTypes(o.GroupVersionKind().GroupKind()) {
		list = overlay(list, map[string]any{
			"type": kind, "status": "True", "reason": reason, "message": message,
			"lastTransitionTime": now, "observedGeneration": o.GetGeneration(),
		})
	}
	status["conditions"] = list
	if status["observedGeneration"] == nil {
		status["observedGeneration"] = o.GetGeneration()
	}
	return status
}

// overlay puts an item into a list, over the one that has the same type.
func overlay(list []any, item map[string]any) []any {
	for _, entry := range list {
		existing, ok := entry.(map[string]any)
		if !ok || existing["type"] == nil || existing["type"] != item["type"] {
			continue
		}
		for key, value := range item {
			existing[key] = value
		}
		return list
	}
	return append(list, item)
}

// complete gives the conditions of a status what all conditions have.
func complete(status map[string]any, now string) {
	list, _ := status["conditions"].([]any)
	for _, entry := range list {
		condition, ok := entry.(map[string]any)
		if !ok || condition["type"] == nil {
			continue
		}
		for key, value := range map[string]any{"status": "True", "reason": reason, "message": message, "lastTransitionTime": now} {
			if condition[key] == nil {
				condition[key] = value
			}
		}
	}
}
