package console

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/dialects"
)

// TestVersions reads an object by a version that the server has, and distinguishes an object that does not exist from a kind that is not served.
func TestVersions(t *testing.T) {
	const group, crds = "/apis/external-secrets.io/", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/externalsecrets.external-secrets.io"
	object := func(version string) map[string]any {
		return map[string]any{"apiVersion": "external-secrets.io/" + version, "kind": "ExternalSecret", "metadata": map[string]any{"namespace": "shop", "name": "login"}}
	}
	served := func(versions ...string) map[string]any {
		var list []any
		for _, v := range versions {
			list = append(list, map[string]any{"name": v, "served": true})
		}
		list = append(list, map[string]any{"name": "v2", "served": false})
		return map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "externalsecrets.external-secrets.io"}, "spec": map[string]any{"versions": list}}
	}
	missing := map[string]any{
		"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404, "details": map[string]any{"name": "login", "kind": "externalsecrets"},
	}
	list := func(version string, items ...any) map[string]any {
		return map[string]any{"apiVersion": "external-secrets.io/" + version, "kind": "ExternalSecretList", "items": append([]any{}, items...)}
	}
	const one, all = "/namespaces/shop/externalsecrets/login", "/externalsecrets"
	for name, tc := range map[string]struct {
		reason  string
		serves  map[string]any
		version string
		err     string
	}{
		"Known": {"the version that commands know is read", map[string]any{group + "v1" + one: object("v1")}, "v1", ""},
		"Older": {"the newest of others that are served, where an older controller is installed", map[string]any{
			crds: served("v1alpha1", "v1beta1"), group + "v1beta1" + one: object("v1beta1"), group + "v1alpha1" + one: object("v1alpha1"),
		}, "v1beta1", ""},
		"Absent":      {"an object that does not exist", map[string]any{group + "v1" + one: missing, group + "v1" + all: list("v1")}, "", "ExternalSecret/shop/login does not exist"},
		"Older, none": {"nor by the older version", map[string]any{crds: served("v1beta1"), group + "v1beta1" + one: missing, group + "v1beta1" + all: list("v1beta1")}, "", "ExternalSecret/shop/login does not exist"},
		"Unserved":    {"a kind that is not served in any version", nil, "", "ExternalSecret/shop/login: the cluster serves no kind ExternalSecret of external-secrets.io"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer, is := tc.serves[r.URL.Path].(map[string]any)
				if !is {
					http.Error(w, "404 page not found", http.StatusNotFound)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				if answer["kind"] == "Status" {
					w.WriteHeader(http.StatusNotFound)
				}
				if err := json.NewEncoder(w).Encode(answer); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			g := &Globals{Catalogue: dialects.All()}
			ref, err := g.ParseReference("externalsecret/shop/login", metav1.NamespaceAll)
			if err != nil {
				t.Fatal(err)
			}
			u, err := ref.Get(t.Context(), client)
			version, text := "", ""
			if u != nil {
				version = u.GroupVersionKind().Version
			}
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff([]string{tc.version, tc.err}, []string{version, text}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
