package roots_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/flux/roots"
)

// TestAccounts has a cluster have the accounts of the controllers whose groups are served, and their rights.
func TestAccounts(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		serve  []string
		want   map[string][]string
	}{
		"all": {"an installation of Flux brings one for each controller", nil, map[string][]string{
			"ServiceAccounts":            {"source-controller", "source-watcher", "kustomize-controller", "helm-controller", "flux-operator", "notification-controller", "image-reflector-controller", "image-automation-controller"},
			"crd-controller-flux-system": {"source-controller", "source-watcher", "kustomize-controller", "helm-controller", "flux-operator", "notification-controller", "image-reflector-controller", "image-automation-controller"},
			"cluster-admin":              {"kustomize-controller", "helm-controller", "flux-operator"},
		}},
		"some": {"what is served elsewhere has its own", []string{"source.toolkit.fluxcd.io"}, map[string][]string{
			"ServiceAccounts": {"source-controller"}, "crd-controller-flux-system": {"source-controller"},
		}},
	} {
		serve, err := dialect.Catalogue{&flux.Dialect{}}.Parse(c.serve)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]string{}
		for _, o := range roots.Accounts(serve) {
			switch o.GetKind() {
			case "ServiceAccount":
				got["ServiceAccounts"] = append(got["ServiceAccounts"], o.GetName())
			case "ClusterRoleBinding":
				role, _, _ := unstructured.NestedString(o.Object, "roleRef", "name")
				subjects, _ := o.Object["subjects"].([]any)
				for _, s := range subjects {
					name, _ := s.(map[string]any)["name"].(string)
					got[role] = append(got[role], name)
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
	if got := roots.Accounts(dialect.Groups{}); len(got) != 0 {
		t.Errorf("without a group of Flux there are %d objects", len(got))
	}
}
