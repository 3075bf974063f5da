package flow

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// TestLarge is about a workflow whose nodes are compressed: they are shown, and a request changes them and leaves them compressed.
func TestLarge(t *testing.T) {
	status := &v1alpha1.WorkflowStatus{Phase: v1alpha1.WorkflowFailed, Nodes: v1alpha1.Nodes{}}
	for i := range 1000 {
		id := fmt.Sprintf("wf-%d", i)
		status.Nodes[id] = v1alpha1.NodeStatus{ID: id, Name: id, Phase: v1alpha1.NodeFailed, Message: strings.Repeat("x", 2000)}
	}
	small, err := plan.Compressed(status)
	if err != nil || small.CompressedNodes == "" {
		t.Fatalf("the nodes are not compressed: %v", err)
	}
	wf := &v1alpha1.Workflow{Status: *small}
	wf.APIVersion, wf.Kind, wf.Name = v1alpha1.GroupVersion.String(), v1alpha1.WorkflowKind, "wf"
	object, err := encoded(wf)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: object}
	got, err := read(u)
	if err != nil || len(got.Status.Nodes) != 1000 {
		t.Fatalf("there are %d nodes, want 1000: %v", len(got.Status.Nodes), err)
	}
	delete(got.Status.Nodes, "wf-7")
	if err := merge(u, got); err != nil {
		t.Fatal(err)
	}
	_, plain, _ := unstructured.NestedMap(u.Object, "status", "nodes")
	again, err := read(u)
	if err != nil || plain || len(again.Status.Nodes) != 999 {
		t.Errorf("there are %d nodes, want 999, compressed: %v", len(again.Status.Nodes), err)
	}
}
