package scenario

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// headgate runs a command that ends on the cluster, as its administrator.
func (i *installed) headgate(args ...string) (code int, text string) {
	i.t.Helper()
	p := run(i.t, append(args, "--kubeconfig", i.kit.Plane.Kubeconfig())...)
	<-p.ended
	return p.cmd.ProcessState.ExitCode(), p.output.String()
}

// checkCluster runs check while various things are wrong with the cluster.
func checkCluster(t *testing.T, i *installed) {
	check := func(code int, lines ...string) {
		t.Helper()
		// What it reads are statuses, which take a moment.
		eventually(t, fmt.Sprintf("check ends with %d", code), func() (bool, string) {
			got, text := i.headgate("check")
			for _, line := range lines {
				if !strings.Contains(text, line) {
					return false, fmt.Sprintf("it lacks %q:\n%s", line, text)
				}
			}
			return got == code, fmt.Sprintf("%d:\n%s", got, text)
		})
	}
	if err := i.delete("CustomResourceDefinition", "", "imagepolicies.image.toolkit.fluxcd.io"); err != nil {
		t.Fatal(err)
	}
	i.scale(1)
	check(1, "✗ definitions  imagepolicies.image.toolkit.fluxcd.io is missing", try("headgate install"),
		"✗ served by    no controller is installed in this cluster", try("headgate install"),
		"✗ conflicts    Flux runs on this cluster: Deployment flux-system/source-controller serves source.toolkit.fluxcd.io;", try("headgate migrate flux"))
	i.scale(0)

	r := i.start(t, here)
	r.says(`"msg":"serving"`)
	i.condition("ks", "c", "True", "")
	i.condition("ks", "crowd", "True", "")
	check(0, "✓ kubernetes   v1.", "✓ definitions  18 of source.toolkit.fluxcd.io, ", "✓ served by    ", "✓ permissions  ", "✓ healthy      ")

	if err := i.world.put(fmt.Sprintf(fleetUnit, "bad", "")); err != nil {
		t.Fatal(err)
	}
	i.condition("ks", "bad", "False", "path not found")
	rules := i.rules()
	i.setRules(without(rules, 0, "delete"))
	check(1, "✗ unhealthy    Kustomization fleet/bad: ArtifactFailed: ", try("headgate why kustomization/bad -n fleet"),
		"✗ permissions  the controller may not delete objects of every kind", try("headgate install"))
	i.setRules(rules)
	if err := i.delete("Kustomization", "fleet", "bad"); err != nil {
		t.Fatal(err)
	}
	if code := r.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("the replica ended with %d", code)
	}
}

// try is the line that says what to do next.
func try(command string) string { return "               try: " + command + "\n" }

// resourceOf is the resource of a kind.
func (i *installed) resourceOf(kind string) schema.GroupVersionResource {
	i.t.Helper()
	m, _, err := i.world.resource(kind)
	if err != nil {
		i.t.Fatal(err)
	}
	return m.Resource
}

// delete deletes an object.
func (i *installed) delete(kind, namespace, name string) error {
	i.t.Helper()
	return i.world.client.Resource(i.resourceOf(kind)).Namespace(namespace).Delete(i.t.Context(), name, metav1.DeleteOptions{})
}
