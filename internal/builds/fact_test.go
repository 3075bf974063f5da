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
		"graph":   {"the step that failed, and not those above it", `{phase: Failed, nodes: {r: {phase: Failed, displayName: run, message: 'child', children: [a]}, a: {phase: Failed, displayName: build, message: Error (exit code 1)}, b: {phase: Omitted, displayName: upload, message: omitted}}}`, "build: Error (exit code 1)"},
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
