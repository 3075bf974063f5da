package apply

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

func managed(manager, subresource, fields string, at time.Time) metav1.ManagedFieldsEntry {
	e := metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", Subresource: subresource,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
	if !at.IsZero() {
		e.Time = &metav1.Time{Time: at}
	}
	return e
}

func TestCulprit(t *testing.T) {
	const ours = "kustomize-controller"
	early, late := time.Unix(100, 0), time.Unix(200, 0)
	replicas, image := path{"spec", "replicas"}, path{"spec", "containers", 0, "image"}
	cases := map[string]struct {
		reason  string
		entries []metav1.ManagedFieldsEntry
		fields  []path
		want    string
	}{
		"scale": {
			"kubectl scale owns the field by a subresource, without a time",
			[]metav1.ManagedFieldsEntry{managed("other", "", `{"f:metadata":{"f:labels":{"f:x":{}}}}`, late), managed("kubectl", "scale", `{"f:spec":{"f:replicas":{}}}`, time.Time{})},
			[]path{replicas},
			"kubectl",
		},
		"list": {
			"a field in a list is owned by a key",
			[]metav1.ManagedFieldsEntry{managed("later", "", `{"f:spec":{"f:replicas":{}}}`, late), managed("editor", "", `{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{}}}}}`, early)},
			[]path{image},
			"editor",
		},
		"removed": {
			"nobody owns a field that was removed: it was whoever wrote last",
			[]metav1.ManagedFieldsEntry{managed("first", "", `{"f:data":{"f:a":{}}}`, early), managed("last", "", `{"f:data":{"f:b":{}}}`, late)},
			[]path{replicas},
			"last",
		},
		"status":  {"who writes the status is not meant", []metav1.ManagedFieldsEntry{managed("kubelet", "status", `{"f:spec":{"f:replicas":{}}}`, late)}, []path{replicas}, "unknown"},
		"nobody":  {"an unknown manager is not empty, which would be a deletion", nil, nil, "unknown"},
		"no time": {"a manager without a time is better than none", []metav1.ManagedFieldsEntry{managed("x", "", `{}`, time.Time{})}, nil, "x"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{}}
			u.SetManagedFields(append(c.entries, managed(ours, "", `{"f:spec":{"f:replicas":{}}}`, late)))
			if got := culprit(u, ours, c.fields); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

func TestDiffering(t *testing.T) {
	want := map[string]any{
		"spec": map[string]any{"replicas": int64(2), "containers": []any{map[string]any{"name": "a", "image": "x:1"}}},
		"data": map[string]any{"a": "1", "b": "2", "c": "3", "d": "4"},
	}
	have := map[string]any{
		"spec":   map[string]any{"replicas": int64(5), "containers": []any{map[string]any{"name": "a", "image": "x:2", "extra": "y"}}},
		"data":   map[string]any{"d": "4"},
		"status": map[string]any{"x": "y"},
	}
	got := texts(differing(want, have, nil))
	if diff := cmp.Diff([]string{"data.a", "data.b", "data.c", "spec.containers[0].image", "spec.replicas"}, got); diff != "" {
		t.Errorf("the differing fields (-want +got):\n%s", diff)
	}
	if same := differing(want, want, nil); len(same) != 0 {
		t.Errorf("an object differs from itself: %v", same)
	}
}

func TestDriftString(t *testing.T) {
	id := engine.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "n", Name: "x"}
	for want, drift := range map[string]Drift{
		"Deployment/n/x was deleted by another client":           {ID: id},
		`Deployment/n/x was changed by "kubectl"`:                {ID: id, Manager: "kubectl"},
		`Deployment/n/x was changed by "kubectl": spec.replicas`: {ID: id, Manager: "kubectl", Fields: []string{"spec.replicas"}},
	} {
		if got := drift.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
