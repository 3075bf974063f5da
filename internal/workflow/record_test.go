package workflow

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// nodes are many, with messages of some length; noise keeps them from being compressed.
func nodes(n, length int, noise bool) v1alpha1.Nodes {
	all := v1alpha1.Nodes{}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // it has to be the same in each run
	for i := range n {
		id := fmt.Sprintf("wf-%d", i)
		message := strings.Repeat("x", length)
		if noise {
			var text strings.Builder
			for text.Len() < length {
				fmt.Fprintf(&text, "%x", random.Uint64())
			}
			message = text.String()
		}
		all[id] = v1alpha1.NodeStatus{ID: id, Name: id, Type: v1alpha1.NodeTypePod, Phase: v1alpha1.NodeSucceeded, Message: message}
	}
	return all
}

func TestCompressed(t *testing.T) {
	cases := map[string]struct {
		reason string
		nodes  v1alpha1.Nodes
		packed bool
		err    error
	}{
		"Few":     {reason: "what fits stays as it is", nodes: nodes(10, 100, false)},
		"Many":    {reason: "what does not is compressed", nodes: nodes(1000, 2000, false), packed: true},
		"TooMany": {reason: "what does not fit even then is refused", nodes: nodes(1000, 4000, true), err: plan.ErrTooMany},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			status, err := plan.Compressed(&v1alpha1.WorkflowStatus{Nodes: tc.nodes})
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if err != nil {
				return
			}
			if (status.CompressedNodes != "") != tc.packed || (len(status.Nodes) == 0) != tc.packed {
				t.Errorf("%s: %d nodes, %d bytes", tc.reason, len(status.Nodes), len(status.CompressedNodes))
			}
			back, err := plan.Expanded(&v1alpha1.Workflow{Status: *status})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.nodes, back.Status.Nodes); diff != "" || back.Status.CompressedNodes != "" {
				t.Errorf("%s: they come back otherwise:\n%s", tc.reason, diff)
			}
		})
	}
}

// A status that says what it is to say is not written again: not for numbers, nor for times that are not set.
func TestNothingIsWrittenTwice(t *testing.T) {
	wf := &v1alpha1.Workflow{}
	wf.Labels = map[string]string{"a": "b"}
	wf.Status = v1alpha1.WorkflowStatus{Phase: v1alpha1.WorkflowRunning, EstimatedDuration: 5, Nodes: nodes(2, 3, false)}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wf)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := difference(fields, &wf.Status, metadata{wf.Labels, wf.Labels}, metadata{})
	if err != nil || len(patch) > 0 {
		t.Errorf("%v, %v", patch, err)
	}
	changed := wf.DeepCopy()
	changed.Labels["c"] = "d"
	changed.Status.Phase = v1alpha1.WorkflowSucceeded
	patch, err = difference(fields, &changed.Status, metadata{wf.Labels, changed.Labels}, metadata{})
	want := map[string]any{"status": map[string]any{"phase": "Succeeded"}, "metadata": map[string]any{"labels": map[string]any{"c": "d"}}}
	if diff := cmp.Diff(want, patch); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

// Nodes that a user compressed are bounded.
func TestExpandedIsBounded(t *testing.T) {
	for name, packed := range map[string]string{"NotBase64": "%%", "NotGzip": "aGVsbG8=", "NotJSON": "H4sIAAAAAAAA/8vPBgBH3dx5AgAAAA=="} {
		t.Run(name, func(t *testing.T) {
			if _, err := plan.Expanded(&v1alpha1.Workflow{Status: v1alpha1.WorkflowStatus{CompressedNodes: packed}}); err == nil {
				t.Error("it was read")
			}
		})
	}
}
