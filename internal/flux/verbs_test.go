package flux

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
)

func TestReleases(t *testing.T) {
	entry := func(version int64, chart, status string) any {
		return map[string]any{"version": version, "chartName": "web", "chartVersion": chart, "lastDeployed": "2024-05-01T00:00:00Z", "status": status}
	}
	for name, tc := range map[string]struct {
		reason, kind string
		history      []any
		want         []dialect.Release
		has          bool
	}{
		"History": {"the oldest comes first", "HelmRelease", []any{entry(2, "1.1.0", "deployed"), entry(1, "1.0.0", "superseded")}, []dialect.Release{
			{Version: "1", Date: "2024-05-01T00:00:00Z", Chart: "web 1.0.0", Status: "superseded"},
			{Version: "2", Date: "2024-05-01T00:00:00Z", Chart: "web 1.1.0", Status: "deployed"},
		}, true},
		"New":   {"a HelmRelease that has not installed anything has an empty history", "HelmRelease", nil, nil, true},
		"Other": {"a Kustomization has none", "Kustomization", nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			group := map[string]string{"HelmRelease": "helm.toolkit.fluxcd.io/v2", "Kustomization": "kustomize.toolkit.fluxcd.io/v1"}[tc.kind]
			u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group, "kind": tc.kind, "status": map[string]any{"history": tc.history}}}
			got, has := (*Dialect)(nil).Releases(u)
			if diff := cmp.Diff(tc.want, got); diff != "" || has != tc.has {
				t.Errorf("%s: has %v\n%s", tc.reason, has, diff)
			}
		})
	}
}

// TestHandled has a request be over when a later one took its place, since the object holds one at a time.
func TestHandled(t *testing.T) {
	const asked = "2026-01-02T03:04:05.6Z"
	for name, tc := range map[string]struct {
		handled, ready string
		want           bool
	}{
		"Same":      {asked, "True", true},
		"Failed":    {asked, "False", true},
		"Later":     {"2026-01-02T03:04:05.61Z", "True", true},
		"Elsewhere": {"2026-01-02T05:04:06+02:00", "True", true},
		"Before":    {"2026-01-02T03:04:05.59Z", "True", false},
		"Word":      {"now", "True", false},
		"None":      {"", "True", false},
		"Underway":  {asked, "Unknown", false},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{
				"lastHandledReconcileAt": tc.handled, "conditions": []any{map[string]any{"type": "Ready", "status": tc.ready}},
			}}}
			if got := (*Dialect)(nil).Handled(u, asked); got != tc.want {
				t.Errorf("after %q, %s, it is handled: %v", tc.handled, tc.ready, got)
			}
		})
	}
}
