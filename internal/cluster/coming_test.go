package cluster

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// deaf hears nothing.
type deaf struct{}

func (deaf) ObjectChanged(engine.ObjectID) {}
func (deaf) KindChanged(schema.GroupKind)  {}
func (deaf) Reconnected()                  {}

func TestComing(t *testing.T) {
	gadget := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Gadget"}
	crd := func(version string, conditions ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "gadgets.example.dev", "resourceVersion": version},
			"spec": map[string]any{
				"group": "example.dev", "names": map[string]any{"kind": "Gadget", "plural": "gadgets"},
				"versions": []any{map[string]any{"name": "v1", "served": true}},
			},
			"status": map[string]any{"conditions": conditions},
		}}
	}
	condition := func(kind, status string) any { return map[string]any{"type": kind, "status": status} }
	cases := map[string]struct {
		reason string
		put    *unstructured.Unstructured
		asked  schema.GroupVersionKind
		coming bool
	}{
		"nothing":       {"nobody defines it", nil, gadget, false},
		"defined":       {"it is served in a moment", crd("5"), gadget, true},
		"other version": {"it is not served in that version", crd("5"), gadget.GroupKind().WithVersion("v2"), false},
		"other kind":    {"it is of another kind", crd("5"), gadget.GroupVersion().WithKind("Widget"), false},
		"served":        {"it has come", crd("5", condition("NamesAccepted", "True"), condition("Established", "True")), gadget, false},
		"names refused": {"its names are those of another one", crd("5", condition("NamesAccepted", "False")), gadget, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKinds(nil, deaf{})
			if c.put != nil {
				k.put(c.put)
			}
			if got := k.Coming(c.asked); got != c.coming {
				t.Errorf("%s: coming is %v", c.reason, got)
			}
			if heard := k.Heard("gadgets.example.dev", 5); heard != (c.put != nil) || k.Heard("gadgets.example.dev", 6) {
				t.Errorf("version 5 was heard: %v", heard)
			}
			if c.put != nil {
				k.dropped(c.put)
			}
			if k.Coming(c.asked) || k.Heard("gadgets.example.dev", 5) {
				t.Error("it is still known after it went")
			}
		})
	}
}
