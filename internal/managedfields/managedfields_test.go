package managedfields

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	replicas, image := Path{"spec", "replicas"}, Path{"spec", "containers", 0, "image"}
	cases := map[string]struct {
		reason  string
		entries []metav1.ManagedFieldsEntry
		fields  []Path
		want    string
	}{
		"scale": {
			"kubectl scale owns the field by a subresource, without a time",
			[]metav1.ManagedFieldsEntry{managed("other", "", `{"f:metadata":{"f:labels":{"f:x":{}}}}`, late), managed("kubectl", "scale", `{"f:spec":{"f:replicas":{}}}`, time.Time{})},
			[]Path{replicas},
			"kubectl",
		},
		"list": {
			"a field in a list is owned by a key",
			[]metav1.ManagedFieldsEntry{managed("later", "", `{"f:spec":{"f:replicas":{}}}`, late), managed("editor", "", `{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{}}}}}`, early)},
			[]Path{image},
			"editor",
		},
		"removed": {
			"no manager owns a field that was removed: the one that wrote last is named",
			[]metav1.ManagedFieldsEntry{managed("first", "", `{"f:data":{"f:a":{}}}`, early), managed("last", "", `{"f:data":{"f:b":{}}}`, late)},
			[]Path{replicas},
			"last",
		},
		"status":  {"who writes the status is not meant", []metav1.ManagedFieldsEntry{managed("kubelet", "status", `{"f:spec":{"f:replicas":{}}}`, late)}, []Path{replicas}, Unknown},
		"nobody":  {"an unknown manager is not empty, which would be a deletion", nil, nil, Unknown},
		"no time": {"a manager without a time is better than none", []metav1.ManagedFieldsEntry{managed("x", "", `{}`, time.Time{})}, nil, "x"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{}}
			u.SetManagedFields(append(c.entries, managed(ours, "", `{"f:spec":{"f:replicas":{}}}`, late)))
			if got := Culprit(u, ours, c.fields); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}
