package builds

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

// A run whose own message is empty, as that of a graph, says which step failed.
func TestCauseOfFailure(t *testing.T) {
	for name, c := range map[string]struct{ reason, status, want string }{
		"graph":   {"the step that failed, and not those above it", `{phase: Failed, nodes: {r: {type: DAG, phase: Failed, displayName: run, message: 'child', children: [a]}, a: {type: Pod, phase: Failed, displayName: build, message: Error (exit code 1), children: [b]}, b: {phase: Omitted, displayName: upload, message: omitted}}}`, "build: Error (exit code 1)"},
		"steps":   {"what a message of steps is about", `{phase: Failed, message: "child 'run-1' failed", nodes: {a: {type: Pod, phase: Failed, displayName: build, message: Error (exit code 1)}}}`, "build: Error (exit code 1)"},
		"graph's": {"a graph that could not begin", `{phase: Error, nodes: {a: {type: DAG, phase: Error, displayName: run, message: no template}}}`, "run: no template"},
		"many":    {"three of many", `{phase: Error, nodes: {a: {phase: Failed, displayName: a, message: x}, b: {phase: Failed, displayName: b, message: x}, c: {phase: Failed, displayName: c, message: x}, d: {phase: Failed, displayName: d, message: x}}}`, "a: x; b: x; c: x; and 1 more"},
		"several": {"all of them", `{phase: Error, nodes: {a: {phase: Failed, displayName: one, message: x}, b: {phase: Error, displayName: two, message: other}}}`, "one: x; two: other"},
		"own":     {"its own message comes first", `{phase: Error, message: no template, nodes: {a: {phase: Failed, displayName: one, message: x}}}`, "no template"},
		"success": {"nothing of one that succeeded", `{phase: Succeeded, nodes: {a: {phase: Succeeded, displayName: one, message: x}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte("status: "+c.status), &u.Object); err != nil {
				t.Fatal(err)
			}
			if got := runFact(&v1alpha1.Build{}, u).Message; got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}
