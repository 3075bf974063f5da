package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/cli"
	"github.com/headgate-dev/headgate/internal/cli/console"
)

// run is the exit code of a command, and what it printed.
func run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = cli.Main(t.Context(), args, console.IO{In: strings.NewReader(""), Out: &o, Err: &e})
	return code, o.String(), e.String()
}

// TestUsage holds what is said of a wrong call, and that the hint is of use.
func TestUsage(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte("apiVersion: v1\nkind: Config\ncontexts: [{name: a, context: {cluster: a}}, {name: b, context: {cluster: a}}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   string
		try    string
	}{
		"Flag":       {"an unknown flag leads to the help of the verb", []string{"get", "--nosuch"}, "unknown flag: --nosuch", "headgate get --help"},
		"Arguments":  {"so do missing arguments", []string{"sync"}, "an argument is missing: want headgate sync KIND/NAME, or headgate sync KIND NAME", "headgate sync --help"},
		"Path":       {"a missing PATH is named", []string{"diff"}, "an argument is missing: want headgate diff PATH", "headgate diff --help"},
		"Many":       {"so are the forms where there are too many arguments", []string{"suspend", "a", "b", "c"}, "received 3: want headgate suspend KIND/NAME", "headgate suspend --help"},
		"None":       {"a verb without arguments says so", []string{"check", "x"}, `headgate check takes no arguments, but got "x"`, "headgate check --help"},
		"Verb":       {"only an unknown verb leads to the list", []string{"nosuch"}, `unknown command "nosuch"`, "headgate help"},
		"Below":      {"a word below a verb is not ignored", []string{"cluster", "statsu"}, `did you mean "status"?`, "headgate cluster --help"},
		"Help":       {"there is no help for what is not a command", []string{"help", "nosuch"}, `unknown command "nosuch"`, "headgate --help"},
		"Kubeconfig": {"a missing kubeconfig is named by its flag", []string{"get", "--kubeconfig", "/nosuch"}, "--kubeconfig /nosuch: there is no such file", ""},
		"Context":    {"so is a missing context, with those that there are", []string{"get", "--kubeconfig", kubeconfig, "--context", "c"}, "--context c: the kubeconfig has no such context; there are a, b", ""},
		"Output":     {"all outputs are named", []string{"get", "-o", "table"}, `unknown output "table"; use json, yaml, name or wide`, ""},
		"History":    {"no other kind has entries to go back to", []string{"rollback", "ks", "shop"}, "Kustomization/shop: it requires an Application of Argo CD; a Kustomization is rolled back", "git revert COMMIT"},
		"Nameless":   {"a kind alone lacks the name", []string{"suspend", "ks/"}, `"ks/": the name of the Kustomization is missing`, "headgate get ks"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errs := run(t, tc.args...)
			_, try, hinted := strings.Cut(errs, "  try: ")
			if code != 2 || !strings.Contains(errs, tc.want) || hinted != (tc.try != "") || !strings.HasPrefix(try, tc.try) {
				t.Errorf("%s: exit code %d, want 2 with %q and %q:\n%s", tc.reason, code, tc.want, tc.try, errs)
			}
		})
	}
	if code, out, _ := run(t, "help", "get"); code != 0 || !strings.Contains(out, "List sources and units") {
		t.Errorf("the help of a verb has exit code %d:\n%s", code, out)
	}
}

// TestComplete completes without a cluster what needs none.
func TestComplete(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	const unit = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: NAMESPACE}
spec: {interval: 1h, path: ./app, prune: true, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}
`
	for file, text := range map[string]string{
		"clusters/demo/ks.yaml": strings.NewReplacer("NAME", "shop", "NAMESPACE", "flux-system").Replace(strings.Replace(unit, "NAMESPACE", "flux-system", 1)) +
			"---\n" + strings.Replace(strings.Replace(unit, "NAMESPACE", "apps", 1), "NAME", "blog", 1),
		"app/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\n",
	} {
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   []string
		none   string
	}{
		"Kinds":     {"kinds are completed from what is typed", []string{"get", "k"}, []string{"ks"}, "git"},
		"Output":    {"values of -o are listed", []string{"get", "-o", ""}, []string{"json", "yaml", "name", "wide"}, "table"},
		"Formats":   {"each verb has its own", []string{"graph", "-o", ""}, []string{"dot", "mermaid"}, "yaml"},
		"Verbs":     {"every verb about units completes kinds", []string{"sync", "h"}, []string{"hr/"}, "ks/"},
		"Operated":  {"what is for Applications offers their kind", []string{"rollback", ""}, []string{"app"}, "ks"},
		"Units":     {"units of a repository are named, with the namespace where it is needed", []string{"render", dir, ""}, []string{"ks/shop", "ks/apps/blog"}, "ks/blog"},
		"Names":     {"after a kind its names", []string{"diff", dir, "ks", "s"}, []string{"shop"}, "blog"},
		"Namespace": {"-n chooses", []string{"render", "-n", "apps", dir, "ks", ""}, []string{"blog"}, "shop"},
		"Help":      {"the help completes commands", []string{"help", "cl"}, []string{"cluster"}, "get"},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, errs := run(t, append([]string{"__complete"}, tc.args...)...)
			var words []string
			for line := range strings.Lines(out) {
				word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
				words = append(words, word)
			}
			all := "\n" + strings.Join(words, "\n") + "\n"
			for _, want := range tc.want {
				if !strings.Contains(all, "\n"+want+"\n") {
					t.Errorf("%s: %q is missing:\n%s%s", tc.reason, want, out, errs)
				}
			}
			if strings.Contains(all, "\n"+tc.none+"\n") {
				t.Errorf("%s: %q is there:\n%s", tc.reason, tc.none, out)
			}
		})
	}
}
