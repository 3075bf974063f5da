package argo

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/differences"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// TestGateOfHooks asks whose a hook is that is there already: what is not the Application's is neither changed nor deleted.
func TestGateOfHooks(t *testing.T) {
	const tracking, installation, hook = "argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id", "argocd.argoproj.io/hook"
	for name, tc := range map[string]struct {
		reason      string
		annotations map[string]string
		label       string
		finalizer   bool
		want        bool
	}{
		"Tracked":      {"it bears our tracking", map[string]string{tracking: "a:/ConfigMap:ns/x", installation: "one"}, "", false, true},
		"Made":         {"it was made as a hook", map[string]string{annotationHookOf: "1/2/Sync"}, "", false, true},
		"Held":         {"only hooks get the finalizer", nil, "", true, true},
		"Labelled":     {"an installation that came from labels made it as a hook", map[string]string{hook: "Sync"}, "a", false, true},
		"Nobody's":     {"nothing says that it was made as a hook", map[string]string{hook: "Sync"}, "", false, false},
		"Another":      {"it is of another Application", map[string]string{tracking: "b:/ConfigMap:ns/x", installation: "one", annotationHookOf: "1/2/Sync"}, "", true, false},
		"Installation": {"it is a hook of another installation, of an Application of this name", map[string]string{tracking: "a:/ConfigMap:ns/x", installation: "two"}, "", true, false},
		"Unnamed":      {"it is a hook of an installation that has no name", map[string]string{tracking: "a:/ConfigMap:ns/x", hook: "Sync"}, "a", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
			u.SetNamespace("ns")
			u.SetName("x")
			u.SetAnnotations(tc.annotations)
			if tc.label != "" {
				u.SetLabels(map[string]string{"app.kubernetes.io/instance": tc.label})
			}
			if tc.finalizer {
				u.SetFinalizers([]string{operation.HookFinalizer})
			}
			g := gate{tracking: differences.Tracking{Method: settings.TrackAnnotation, LabelKey: "app.kubernetes.io/instance", InstallationID: "one", AppName: "a"}}
			if got := g.owns(u); got != tc.want {
				t.Errorf("%s: it is ours: %v", tc.reason, got)
			}
			if err := g.foreign(u); (err == nil) != tc.want {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
