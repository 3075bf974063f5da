package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMarksOf(t *testing.T) {
	const prefix = "kustomize.toolkit.fluxcd.io/"
	cases := map[string]struct {
		reason              string
		annotations, labels map[string]string
		want                Marks
	}{
		"none":    {"an object without marks is applied and pruned", nil, nil, Marks{}},
		"paused":  {"a pause is a matter of both", map[string]string{prefix + "reconcile": "disabled"}, nil, Marks{HandsOff: true}},
		"ignored": {"so is an object that is left to others", map[string]string{prefix + "ssa": "Ignore"}, nil, Marks{HandsOff: true}},
		"label":   {"a label counts as an annotation does", nil, map[string]string{prefix + "prune": "disabled"}, Marks{Keep: true}},
		"case":    {"the case of a value does not matter", map[string]string{prefix + "ssa": "ifnotpresent"}, nil, Marks{Once: true}},
		"both":    {"marks add up", map[string]string{prefix + "ssa": "Merge"}, map[string]string{prefix + "force": "Enabled"}, Marks{Merge: true, Force: true}},
		"options": {"so do options of syncs, of which only whole ones count", map[string]string{
			prefix + "sync-options": "Prune=false, Force=true,Replace=true",
		}, nil, Marks{Force: true, Replace: true}},
		"no options":   {"an option that is off is none", map[string]string{prefix + "sync-options": "Force=false,Replaced=true"}, nil, Marks{}},
		"others":       {"another dialect's mark is none", map[string]string{"fluxcd.controlplane.io/reconcile": "disabled"}, nil, Marks{}},
		"other values": {"nor is another value", map[string]string{prefix + "reconcile": "enabled", prefix + "ssa": "Override"}, nil, Marks{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			u.SetAnnotations(c.annotations)
			u.SetLabels(c.labels)
			if diff := cmp.Diff(c.want, MarksOf(u, prefix)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	if got := MarksOf(&unstructured.Unstructured{}, ""); got != (Marks{}) {
		t.Errorf("without a prefix there are no marks, got %v", got)
	}
}

func TestIsMark(t *testing.T) {
	for name, want := range map[string]bool{
		"a.b/ssa": true, "a.b/reconcile": true, "a.b/prune": true, "a.b/force": true, "a.b/name": false, "c.d/ssa": false, "ssa": false,
	} {
		if got := IsMark(name, "a.b/"); got != want {
			t.Errorf("%s is a mark: %v", name, got)
		}
	}
	if IsMark("ssa", "") {
		t.Error("without a prefix there are no marks")
	}
}

func TestExprsFor(t *testing.T) {
	group, own := HealthExpr{Group: "e.io", Current: "a"}, HealthExpr{Group: "e.io", Kind: "X", Current: "b"}
	all := []HealthExpr{group, own, {Group: "f.io", Current: "c"}}
	for kind, want := range map[string][]HealthExpr{"X": {own}, "Y": {group}} {
		if diff := cmp.Diff(want, ExprsFor(all, schema.GroupKind{Group: "e.io", Kind: kind})); diff != "" {
			t.Errorf("kind %s (-want +got):\n%s", kind, diff)
		}
	}
	if got := ExprsFor(all, schema.GroupKind{Kind: "X"}); len(got) != 0 {
		t.Errorf("another group has %v", got)
	}
}
