package boot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/promote"
	"github.com/headgate-dev/headgate/internal/secrets"
)

const (
	fakeStore = "apiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {name: s}\nspec: {provider: {fake: {data: []}}}\n---\n"
	vault     = "apiVersion: external-secrets.io/v1\nkind: ClusterSecretStore\nmetadata: {name: v}\nspec: {provider: {vault: {server: 'https://vault.example'}}}\n---\n"
	external  = "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: e}\nspec: {secretStoreRef: {name: s}}\n---\n"
	password  = "apiVersion: generators.external-secrets.io/v1alpha1\nkind: Password\nmetadata: {name: p}\n---\n"
	ecr       = "apiVersion: generators.external-secrets.io/v1alpha1\nkind: ECRAuthorizationToken\nmetadata: {name: p}\n---\n"
	warehouse = "apiVersion: kargo.akuity.io/v1alpha1\nkind: Warehouse\nmetadata: {name: w}\nspec: {subscriptions: [{image: {repoURL: 'REPO/giteaadmin/web'}}]}\n---\n"
	stage     = "apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\nmetadata: {name: s}\nspec: {promotionTemplate: {spec: {steps: [{uses: STEP, config: {repoURL: 'cnoe://a'}}]}}}\n---\n"
	ownServer = "gitea.cnoe.localtest.me:8443"
)

// TestServeHarmless serves without a flag what reaches nothing but this process.
func TestServeHarmless(t *testing.T) {
	own := strings.NewReplacer("REPO", ownServer, "STEP", "git-push")
	for name, c := range map[string]struct {
		reason, files       string
		secrets, promotions bool
	}{
		"nothing":    {"nothing of them is declared", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", false, false},
		"fake":       {"a store of the repository's own files", fakeStore + external, true, false},
		"generators": {"values of chance", password, true, false},
		"valueless":  {"an object without a store or a generator gets no values", "apiVersion: external-secrets.io/v1\nkind: ClusterExternalSecret\nmetadata: {name: c}\nspec: {x: 1}\n", false, false},
		"vault":      {"one store of several is elsewhere", fakeStore + external + vault, false, false},
		"unknown":    {"a store that is declared elsewhere may be anything", external, false, false},
		"token":      {"a generator asks a cloud", ecr, false, false},
		"embedded":   {"the registry and the repositories of this process", own.Replace(warehouse + stage), false, true},
		"registry":   {"a registry elsewhere", own.Replace(strings.Replace(warehouse, "REPO", "docker.io", 1)), false, false},
		"expression": {"an address that is known later", own.Replace(strings.Replace(warehouse, "REPO", "${{ vars.repo }}", 1)), false, false},
		"requests":   {"a step that sends requests", strings.Replace(stage, "STEP", "http", 1), false, false},
		"each":       {"one does not hold the other up", vault + own.Replace(warehouse), false, true},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(c.files), 0o600); err != nil {
			t.Fatal(err)
		}
		external, kargo := secrets.New(secrets.Options{}), promote.New(promote.Options{})
		o := upOptions{Globals: &console.Globals{Catalogue: dialect.Catalogue{external, kargo}}, path: dir}
		o.serveHarmless()
		if external.Told != c.secrets || kargo.Told != c.promotions {
			t.Errorf("%s: %s: External Secrets are served: %v, promotions: %v", name, c.reason, external.Told, kargo.Told)
		}
		remote := upOptions{Globals: &console.Globals{Catalogue: dialect.Catalogue{secrets.New(secrets.Options{}), promote.New(promote.Options{})}}, path: "https://git.example/r.git", packages: []string{dir}}
		if remote.serveHarmless(); len(remote.harmless) > 0 {
			t.Errorf("%s: a repository of others is served: %q", name, remote.harmless)
		}
	}
}

// TestUnserved names what a flag serves, one line for each group, and reports whether anything else brings the kinds.
func TestUnserved(t *testing.T) {
	const workflow = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec: {templates: [{name: a, container: {image: x}}]}\n---\n"
	const droplet = "apiVersion: droplet.digitalocean.crossplane.io/v1alpha1\nkind: Droplet\nmetadata: {name: d}\n---\n"
	chart := "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: es}\nspec: {chart: {spec: {chart: external-secrets}}}\n---\n"
	for name, c := range map[string]struct {
		reason, objects string
		lines           []string
		lacking         bool
	}{
		"nothing": {"what is served needs no words", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", nil, false},
		"kargo": {
			"one line for all kinds of a group", warehouse + stage + warehouse,
			[]string{"kargo.akuity.io (Stage, Warehouse) is not served: add --promotions"},
			true,
		},
		"chart": {
			"the definitions come with a chart", external + chart,
			[]string{"external-secrets.io (ExternalSecret) is not served: its controller, which a chart installs, does not run here; add --secrets stores, or --secrets FILE with values of your own"},
			false,
		},
		"others": {"what is served in another way by a flag", workflow + droplet, []string{
			"droplet.digitalocean.crossplane.io reach a real account, with its credentials: --cloud simulated has one that costs nothing",
			"argoproj.io (Workflow): steps that are containers or scripts do not run: add --allow-local-exec",
		}, false},
	} {
		o := upOptions{Globals: &console.Globals{Catalogue: dialect.Catalogue{secrets.New(secrets.Options{}), promote.New(promote.Options{})}}}
		var objects []*unstructured.Unstructured
		for decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(c.objects), 4096); ; {
			u := &unstructured.Unstructured{}
			if decoder.Decode(&u.Object) != nil {
				break
			}
			objects = append(objects, u)
		}
		lines, lacking := o.unserved(objects)
		if diff := cmp.Diff(c.lines, lines); diff != "" || lacking != c.lacking {
			t.Errorf("%s: %s: lacking %v (-want +got):\n%s", name, c.reason, lacking, diff)
		}
	}
}
