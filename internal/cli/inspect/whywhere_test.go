package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// TestAboutFiles suggests to validate files where the mistake is in them, and not where the cluster lacks something.
func TestAboutFiles(t *testing.T) {
	for name, c := range map[string]struct {
		reason, condition, message string
		want                       bool
	}{
		"Build":      {"a file", "BuildFailed", "l/broken.yaml: yaml: mapping values are not allowed in this context", true},
		"Path":       {"a directory that is not there", "BuildFailed", "path not found", true},
		"Field":      {"a field", "ReconciliationFailed", "Deployment/f/web: refused as invalid: spec.replicas: expected numeric", true},
		"Comparison": {"the path of an Application", "Unknown", `ComparisonError: spec.source.path: "x": app path does not exist`, true},
		"Key":        {"the key is in no file of the repository", "BuildFailed", "none of the keys can decrypt x.yaml", false},
		"Health":     {"the file is right", "HealthCheckFailed", "timeout waiting for: [Deployment/q/web status: 'InProgress']", false},
		"Window":     {"the time is wrong", "OutOfSync", "Sync operation blocked by sync window: spec.syncWindows[0] is open", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := aboutFiles(dialect.State{Reason: c.condition, Message: c.message}); got != c.want {
				t.Errorf("%s: got %v", c.reason, got)
			}
		})
	}
}

// TestRefusedField reads the field that was refused first.
func TestRefusedField(t *testing.T) {
	for said, want := range map[string]string{
		"✗ Deployment/a/b failed in Sync: refused as invalid: spec.replicas: expected numeric": "spec.replicas",
		"refused as invalid: spec.ports[0].port: Required value; spec.x: unknown":              "spec.ports[0].port",
		"refused as invalid: it has no kind":                                                   "",
		"refused as invalid: the object is wrong: see above":                                   "",
		"not ready": "",
	} {
		if got := refusedField(said); got != want {
			t.Errorf("%s: got %q, want %q", said, got, want)
		}
	}
}

// TestNamedIn finds the objects that messages name, each once, with the groups of well-known kinds.
func TestNamedIn(t *testing.T) {
	got := namedIn("waiting for: [Deployment/q/web status: 'InProgress': Replicas: 1/3, HelmRelease/network/proxy], Namespace/q: gone; Deployment/q/web: refused")
	want := []engine.ObjectID{
		{Group: "apps", Kind: "Deployment", Namespace: "q", Name: "web"},
		{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "network", Name: "proxy"},
		{Kind: "Namespace", Name: "q"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
