package scenario

import (
	"path/filepath"
	"strings"
	"testing"
)

const restDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.rest.example.dev}
spec:
  group: rest.example.dev
  scope: Namespaced
  names: {kind: %[2]s, plural: %[1]ss, singular: %[1]s}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// TestExitWhenReady boots repositories that come to rest, and checks how the process ends.
func TestExitWhenReady(t *testing.T) {
	t.Parallel()
	unit := func(name, more string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
			"spec: {interval: 1h, timeout: 1h, path: ./" + name + ", prune: true, sourceRef: {kind: GitRepository, name: flux-system}" + more + "}\n"
	}
	object := func(kind, name string) string {
		return "apiVersion: rest.example.dev/v1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: default}\n"
	}
	config := func(name string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: default}\n"
	}
	cases := map[string]struct {
		reason string
		files  map[string]string
		code   int
		says   []string
	}{
		"kinds on their way": {"what was applied a moment ago is about to be served", map[string]string{
			"cluster/units.yaml":     unit("first", "") + "---\n" + unit("second", ", dependsOn: [{name: first}]") + "---\n" + unit("third", ", dependsOn: [{name: second}], wait: true"),
			"first/definitions.yaml": definition("widget", "Widget"), "first/object.yaml": object("Widget", "one"),
			"second/definitions.yaml": definition("gadget", "Gadget"), "second/object.yaml": object("Gadget", "one"),
			"third/definitions.yaml": definition("gizmo", "Gizmo"), "third/object.yaml": object("Gizmo", "one"), "third/more.yaml": object("Widget", "two"),
		}, 0, []string{"4 units, "}},
		"waits without an end": {"units wait for each other, and for what nobody brings", map[string]string{
			"cluster/units.yaml": unit("parent", ", wait: true") + "---\n" + unit("kindless", "") + "---\n" + unit("after", ", dependsOn: [{name: kindless}]"),
			"parent/child.yaml":  unit("child", ", dependsOn: [{name: nowhere}]"), "child/x.yaml": config("child"),
			"kindless/x.yaml": object("Nonesuch", "one"), "after/x.yaml": config("after"),
		}, 1, []string{
			"child waits for dependencies: Kustomization/flux-system/nowhere: not found",
			"kindless is being applied: Nonesuch/default/one: kind Nonesuch.rest.example.dev is not served", "2 more units wait for that",
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo := t.TempDir()
			for path, text := range c.files {
				writeFile(t, filepath.Join(repo, path), text)
			}
			p := run(t, "up", repo, "--path", "cluster", "--ephemeral", "--exit-when-ready", "--timeout", "3m", "--state-dir", shortDir(t))
			<-p.ended
			text := p.output.String()
			if code := p.cmd.ProcessState.ExitCode(); code != c.code || strings.Contains(text, "not ready after") {
				t.Errorf("%s: the process ended with %d, want %d, by itself", c.reason, code, c.code)
			}
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %q is not said", c.reason, want)
				}
			}
		})
	}
}

func definition(singular, kind string) string {
	return strings.NewReplacer("%[1]s", singular, "%[2]s", kind).Replace(restDefinition)
}

// TestInterruptedBoot interrupts a boot whose exit code says whether everything is ready: that of an interruption says neither.
func TestInterruptedBoot(t *testing.T) {
	t.Parallel()
	p := run(t, "up", filepath.Join("../../examples", "app-of-apps"), "--ephemeral", "--exit-when-ready", "--state-dir", shortDir(t))
	p.says("control plane")
	if code := p.interrupt(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}
