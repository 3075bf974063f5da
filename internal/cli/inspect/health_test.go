package inspect_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/cli"
	"github.com/headgate-dev/headgate/internal/cli/console"
)

// TestHealthExitCodes holds what scripts go by: yes, no, and an error. What is printed is in the scenario.
func TestHealthExitCodes(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nstatus: {phase: %}\n"
	settings := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(settings, []byte("configs: {cm: {resource.customizations.health.Pod: 'if'}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason, in string
		args       []string
		code       int
		says       string
	}{
		"healthy":       {"all is well", strings.ReplaceAll(pod, "%", "Succeeded"), nil, 0, "Healthy"},
		"no check":      {"nobody waits for what has no health", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n", nil, 0, "Argo CD has no check"},
		"nothing":       {"there may be no objects", "", nil, 0, "NAMESPACE"},
		"progressing":   {"one is on its way", strings.ReplaceAll(pod, "%", "Pending"), nil, 1, "Progressing"},
		"suspended":     {"one is stopped", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {paused: true}\n", nil, 1, "Suspended"},
		"no object":     {"a document is no object", "a: b", nil, 2, `reading "standard input": document 1: apiVersion or kind is missing`},
		"no item":       {"neither is an item", "apiVersion: v1\nkind: List\nitems: [{a: b}]", nil, 2, `reading "standard input": document 1: item 1: apiVersion or kind is missing`},
		"no YAML":       {"it cannot be read", "a: b: c", nil, 2, `reading "standard input": document 1: `},
		"odd output":    {"there is no such output", "", []string{"-o", "wide"}, 2, `unknown output "wide"`},
		"wrong setting": {"a script cannot be compiled", "", []string{"--settings", settings}, 2, "values.yaml, document 1: argocd-cm Pod: at the end: syntax error"},
		"no settings":   {"there are none", "", []string{"--settings", filepath.Dir(settings) + "/x"}, 2, "searching for settings"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := cli.Main(t.Context(), append([]string{"health", "-f", "-"}, c.args...), console.IO{In: strings.NewReader(c.in), Out: &out, Err: &errs})
			if printed := out.String() + errs.String(); code != c.code || !strings.Contains(printed, c.says) {
				t.Errorf("%s: exit code %d, want %d with %q:\n%s", c.reason, code, c.code, c.says, printed)
			}
		})
	}
}
