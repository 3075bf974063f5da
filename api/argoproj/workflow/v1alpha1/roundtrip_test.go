package v1alpha1

import (
	"encoding/json"
	"testing"

	"github.com/headgate-dev/headgate/api/samples"
)

func TestRoundTrip(t *testing.T) {
	samples.RoundTrip(t, map[string]samples.Case{
		"Workflows": {
			Reason: "what a Workflow says and what was said of it comes back as it was, and the sample has every field",
			File:   "testdata/workflows.yaml", Kind: Workflow{},
		},
		"WorkflowTemplates":        {Reason: "so do templates", File: "testdata/templates.yaml", Kind: WorkflowTemplate{}},
		"ClusterWorkflowTemplates": {Reason: "and those for all namespaces", File: "testdata/clustertemplates.yaml", Kind: ClusterWorkflowTemplate{}},
		"CronWorkflows":            {Reason: "so do schedules", File: "testdata/cronworkflows.yaml", Kind: CronWorkflow{}},
	})
}

func TestAnyString(t *testing.T) {
	for text, want := range map[string]string{`"a"`: "a", `1`: "1", `true`: "true", `1.50`: "1.50", `{"a": [1]}`: `{"a":[1]}`, `""`: ""} {
		var value AnyString
		if err := json.Unmarshal([]byte(text), &value); err != nil || value.String() != want {
			t.Errorf("%s is %q, want %q: %v", text, value, want, err)
		}
	}
}
