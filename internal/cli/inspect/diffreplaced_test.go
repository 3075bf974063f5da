package inspect

import (
	"bytes"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialects"
)

// TestLeaves leaves out of a comparison what no engine applies.
func TestLeaves(t *testing.T) {
	object := func(kind, name, part string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{
			"name": name, "namespace": "argocd", "labels": map[string]any{"app.kubernetes.io/part-of": part},
		}}}
	}
	var errs bytes.Buffer
	g := &console.Globals{IO: console.IO{Err: &errs}, Catalogue: dialects.All()}
	replaced, err := g.Catalogue.All().Replaced()
	if err != nil {
		t.Fatal(err)
	}
	d := &differ{Globals: g, replaced: replaced, left: map[string][]string{}}
	for name, tc := range map[string]struct {
		reason string
		object *unstructured.Unstructured
		absent bool
		want   bool
	}{
		"Server":     {"the server of Argo CD is replaced", object("Deployment", "argocd-server", "argocd"), true, true},
		"Controller": {"so is its controller, whatever the cluster has", object("StatefulSet", "argocd-application-controller", "argocd"), false, true},
		"Own":        {"a workload of the user is compared", object("Deployment", "web", "shop"), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := d.leaves(tc.object, tc.absent); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
	d.tellLeft()
	const want = "· 2 objects left out, no engine applies them: Headgate serves instead (Deployment/argocd/argocd-server, StatefulSet/argocd/argocd-application-controller)\n"
	if errs.String() != want {
		t.Errorf("got %q, want %q", errs.String(), want)
	}
}
