package object

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

const job = `{"metadata":{"name":"job-1","labels":{"app":"x"}},"status":{"succeeded":1,"failed":0,"phase":"Done","conditions":[{"type":"Complete","status":"True"}]}}`

func TestJudge(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, success, failure string
		want                     v1alpha1.NodePhase
		message                  string
	}{
		"None":      {"without conditions there is nothing to wait for", "", "", v1alpha1.NodeSucceeded, ""},
		"Success":   {"a number", "status.succeeded > 0", "", v1alpha1.NodeSucceeded, ""},
		"All":       {"all requirements for a success", "status.succeeded > 0, status.phase == Other", "", v1alpha1.NodeRunning, "status.phase"},
		"Any":       {"any for a failure, which goes first", "status.succeeded > 0", "status.phase == Done, status.failed > 0", v1alpha1.NodeFailed, "evaluated true"},
		"Neither":   {"neither", "status.phase == Other", "status.failed > 0", v1alpha1.NodeRunning, "waiting for"},
		"Only":      {"a failure alone is waited for without an end", "", "status.failed > 0", v1alpha1.NodeRunning, ""},
		"Set":       {"one of several", "status.phase in (Done, Other)", "", v1alpha1.NodeSucceeded, ""},
		"Exists":    {"a field that exists", "metadata.name", "", v1alpha1.NodeSucceeded, ""},
		"Index":     {"an element of a list", "status.conditions.0.status == True", "", v1alpha1.NodeSucceeded, ""},
		"NotExists": {"one that does not", "!metadata.deletionTimestamp", "", v1alpha1.NodeSucceeded, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseConditions(tc.success, tc.failure)
			if err != nil {
				t.Fatal(err)
			}
			if c.Waits() != (tc.success+tc.failure != "") {
				t.Errorf("it waits: %v", c.Waits())
			}
			phase, message := c.Judge([]byte(job))
			if phase != tc.want || !strings.Contains(message, tc.message) {
				t.Errorf("%s: %s %q, want %s %q", tc.reason, phase, message, tc.want, tc.message)
			}
		})
	}
	if _, err := ParseConditions("status.phase ==== x", ""); err == nil || !strings.Contains(err.Error(), "successCondition") {
		t.Errorf("a mistake is named: %v", err)
	}
}

func TestOutputs(t *testing.T) {
	var object map[string]any
	if err := json.Unmarshal([]byte(job), &object); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason string
		from   v1alpha1.ValueFrom
		want   string
		failed string
	}{
		"Path":     {"a path as kubectl takes it", v1alpha1.ValueFrom{JSONPath: "{.metadata.name}"}, "job-1", ""},
		"Paths":    {"text between paths", v1alpha1.ValueFrom{JSONPath: "{.metadata.name}-{.status.phase}"}, "job-1-Done", ""},
		"Filtered": {"an element by a field", v1alpha1.ValueFrom{JSONPath: `{.status.conditions[?(@.type=="Complete")].status}`}, "True", ""},
		"Nothing":  {"a field that is missing is empty", v1alpha1.ValueFrom{JSONPath: "{.status.other}"}, "", ""},
		"Filter":   {"a filter", v1alpha1.ValueFrom{JQFilter: ".status.conditions[0].type"}, "Complete", ""},
		"Several":  {"several values are lines", v1alpha1.ValueFrom{JQFilter: ".metadata.name, .status.succeeded, .metadata.labels"}, "job-1\n1\n{\"app\":\"x\"}", ""},
		"Default":  {"a default for what fails", v1alpha1.ValueFrom{JQFilter: ".metadata.name | tonumber", Default: v1alpha1.Any("none")}, "none", ""},
		"Mistake":  {"a mistake is an error that names the output", v1alpha1.ValueFrom{JSONPath: "{.metadata"}, "", "outputs.parameters.o"},
		"Endless":  {"an endless filter ends", v1alpha1.ValueFrom{JQFilter: "def f: f; f"}, "", "deadline"},
		"Long":     {"so does one that never stops giving values", v1alpha1.ValueFrom{JQFilter: `repeat("aaaaaaaaaaaaaaaaaaaaaaaa")`}, "", "more than"},
		"Process":  {"the environment is empty", v1alpha1.ValueFrom{JQFilter: "env | length"}, "0", ""},
		"None":     {"an output without a source", v1alpha1.ValueFrom{Path: "/x"}, "", "jsonPath or a jqFilter"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Outputs(t.Context(), nil, []v1alpha1.Parameter{{Name: "o", ValueFrom: &tc.from, GlobalName: "g"}}, object)
			if tc.failed != "" {
				if err == nil || !strings.Contains(err.Error(), tc.failed) {
					t.Errorf("%s: %v does not say %q", tc.reason, err, tc.failed)
				}
				return
			}
			if err != nil || len(got) != 1 || got[0].Value.String() != tc.want || got[0].GlobalName != "g" {
				t.Errorf("%s: %+v, %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

func FuzzConditions(f *testing.F) {
	f.Add("status.succeeded > 0", "a in (b)", job)
	f.Fuzz(func(_ *testing.T, success, failure, object string) {
		if c, err := ParseConditions(success, failure); err == nil {
			c.Judge([]byte(object))
		}
	})
}
