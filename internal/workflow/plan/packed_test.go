package plan

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

func packed(t *testing.T, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// TestUnpack continues a run whose nodes the upstream's controller has compressed, and does not touch one whose nodes cannot be read.
func TestUnpack(t *testing.T) {
	spec := `{entrypoint: main, templates: [{name: main, steps: [[{name: a, template: w}], [{name: b, template: w}]]}, {name: w, container: {image: x}}]}`
	wf := workflow(t, spec)
	d := Next(wf, Facts{Now: start})
	first := d.Actions[0].Node
	d = Next(d.Workflow, Facts{Now: start, Leaves: map[string]Leaf{first: {Phase: v1alpha1.NodeSucceeded}}})
	nodes, err := json.Marshal(d.Workflow.Status.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	stored := d.Workflow
	stored.Status.Nodes, stored.Status.CompressedNodes = nil, packed(t, nodes)
	again := Next(stored, Facts{Now: start})
	if len(again.Actions) != 1 || again.Actions[0].Run.NodeName != "wf[1].b" || again.Workflow.Status.CompressedNodes != "" {
		t.Errorf("it continues with the second step: %+v", again.Actions)
	}
	for name, status := range map[string]v1alpha1.WorkflowStatus{
		"Database":  {OffloadNodeStatusVersion: "fnv:1"},
		"Damaged":   {CompressedNodes: "AAAA"},
		"NotBase64": {CompressedNodes: "%"},
		"NoNodes":   {CompressedNodes: packed(t, []byte("[]"))},
		"Explodes":  {CompressedNodes: packed(t, make([]byte, maxNodes+1))},
	} {
		t.Run(name, func(t *testing.T) {
			wf := workflow(t, spec)
			wf.Status = status
			wf.Status.Phase, wf.Status.StartedAt = v1alpha1.WorkflowRunning, metav1.NewTime(start)
			d := Next(wf, Facts{Now: start})
			if len(d.Actions) != 0 || d.Workflow.Status.Phase != v1alpha1.WorkflowRunning || d.Workflow.Status.CompressedNodes != status.CompressedNodes {
				t.Errorf("nothing happens to it: %s, %+v", d.Workflow.Status.Phase, d.Actions)
			}
			if c := d.Workflow.Status.Conditions; len(c) != 1 || c[0].Type != v1alpha1.ConditionSpecError || !strings.Contains(c[0].Message, "nodes") && !strings.Contains(c[0].Message, "Nodes") {
				t.Errorf("it says why: %+v", c)
			}
		})
	}
}
