package scenario

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

// fleetOfStrangers is a repository of others, whose objects name a server of the machine in every way that there is: %[1]s is its address, %[2]s its host and
// port, %[3]s that of one by https, %[4]s the certificate of that, %[5]s a kubeconfig.
const fleetOfStrangers = `apiVersion: v1
kind: Namespace
metadata: {name: hooked}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: outside}
webhooks:
- name: outside.example.dev
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: hooked}}
  clientConfig: {url: "%[3]s/admission", caBundle: %[4]s}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: git, namespace: hooked}
spec: {url: "%[1]s/git", interval: 1m, ref: {branch: main}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: hooked}
spec: {url: "%[1]s/charts", interval: 1m}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: Bucket
metadata: {name: bucket, namespace: hooked}
spec: {endpoint: "%[2]s", bucketName: bucket, insecure: true, region: r, interval: 1m}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {name: alert, namespace: hooked}
spec: {type: generic, address: "%[1]s/alert"}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: alert, namespace: hooked}
spec: {providerRef: {name: alert}, eventSeverity: info, eventSources: [{kind: GitRepository, name: "*"}, {kind: Bucket, name: "*"}]}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: store, namespace: hooked}
spec:
  provider:
    webhook:
      url: "%[1]s/store"
      method: POST
      headers: {X-Any: header}
      body: "any body"
      result: {jsonPath: $.value}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: store, namespace: hooked}
spec:
  secretStoreRef: {name: store}
  data: [{secretKey: k, remoteRef: {key: k}}]
---
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: template, namespace: hooked}
spec:
  entrypoint: main
  templates: [{name: main, http: {url: "%[1]s/template"}}]
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Project
metadata: {name: strangers}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Warehouse
metadata: {name: warehouse, namespace: strangers}
spec:
  interval: 1m
  subscriptions: [{git: {repoURL: "%[1]s/warehouse", branch: main}}]
---
apiVersion: v1
kind: Secret
metadata: {name: kubeconfig, namespace: hooked}
data: {kubeconfig: %[5]s}
---
apiVersion: kubernetes.m.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {name: elsewhere, namespace: hooked}
spec: {credentials: {source: Secret, secretRef: {namespace: hooked, name: kubeconfig, key: kubeconfig}}}
---
apiVersion: kubernetes.m.crossplane.io/v1alpha1
kind: Object
metadata: {name: object, namespace: hooked}
spec:
  providerConfigRef: {kind: ProviderConfig, name: elsewhere}
  forProvider:
    manifest: {apiVersion: v1, kind: ConfigMap, data: {k: v}}
`

// namedByStrangers are the objects, and what of the server each of them requests.
var namedByStrangers = []struct {
	resource  schema.GroupVersionResource
	namespace string
	name      string
}{
	{schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "gitrepositories"}, "hooked", "git"},
	{schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "helmrepositories"}, "hooked", "charts"},
	{schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "buckets"}, "hooked", "bucket"},
	{schema.GroupVersionResource{Group: "external-secrets.io", Version: "v1", Resource: "externalsecrets"}, "hooked", "store"},
	{schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "workflows"}, "hooked", "template"},
	{schema.GroupVersionResource{Group: "kargo.akuity.io", Version: "v1alpha1", Resource: "warehouses"}, "strangers", "warehouse"},
	{schema.GroupVersionResource{Group: "kubernetes.m.crossplane.io", Version: "v1alpha1", Resource: "objects"}, "hooked", "object"},
}

// victim is a server of the machine that sees which of its paths are requested.
type victim struct {
	mu   sync.Mutex
	seen map[string]bool
}

// ServeHTTP notes the first part of the path.
func (v *victim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	v.mu.Lock()
	v.seen[first] = true
	v.mu.Unlock()
	_, _ = w.Write([]byte(`{"value": "of the machine"}`))
}

func (v *victim) paths() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Sorted(maps.Keys(v.seen))
}

// TestStrangers boots a repository of others by its URL, with every flag by which requests are sent: none reaches the machine, unless the person says so.
// The webhook of admission does not even then.
func TestStrangers(t *testing.T) {
	t.Parallel()
	git, err := gitserver.Start(t.Context(), gitserver.Config{Dir: filepath.Join(shortDir(t), "repositories")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = git.Stop(t.Context()) })
	if err := git.CreateRepo(t.Context(), "fleet"); err != nil {
		t.Fatal(err)
	}
	git.AddUser("dev", "token", true)
	v := &victim{seen: map[string]bool{}}
	server, secure := httptest.NewServer(v), httptest.NewTLSServer(v)
	t.Cleanup(server.Close)
	t.Cleanup(secure.Close)
	url := pushStrangers(t, git, server, secure)
	all := []string{"up", url, "--path", "root", "--secrets", "stores", "--promotions", "--allow-remote-promotions", "--ephemeral"}

	dir := shortDir(t)
	p := run(t, append(slices.Clone(all), "--state-dir", dir)...)
	for _, one := range namedByStrangers {
		reports(t, dir, one.resource, one.namespace, one.name, "the address is not permitted")
	}
	p.says("calls a URL, and this cluster calls nothing outside")
	eventually(t, "the ConfigMap past the webhook", func() (bool, string) {
		_, err := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig")).CoreV1().ConfigMaps("hooked").Get(t.Context(), "x", v1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
	if seen := v.paths(); len(seen) > 0 {
		t.Errorf("requests reach the machine: %v", seen)
	}
	p.interrupt()

	p = run(t, append(slices.Clone(all), "--state-dir", shortDir(t), "--allow-egress", "loopback")...)
	want := []string{"alert", "bucket", "charts", "git", "object", "store", "template", "warehouse"}
	eventually(t, "what the person permits is reached", func() (bool, string) {
		diff := cmp.Diff(want, v.paths())
		return diff == "", diff
	})
	p.interrupt()
}

// pushStrangers makes the repository, and returns its URL with the login.
func pushStrangers(t *testing.T, git *gitserver.Server, server, secure *httptest.Server) string {
	t.Helper()
	dir := t.TempDir()
	kubeconfig := "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: '" + server.URL + "/object'}}]\n"
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	encode := base64.StdEncoding.EncodeToString
	writeFile(t, filepath.Join(dir, "first", "all.yaml"), fmt.Sprintf(fleetOfStrangers, server.URL, strings.TrimPrefix(server.URL, "http://"), secure.URL, encode(certificate), encode([]byte(kubeconfig))))
	writeFile(t, filepath.Join(dir, "second", "x.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: hooked}\n")
	unit := func(name, more string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
			"spec: {interval: 1m, prune: true, path: ./" + name + ", sourceRef: {kind: GitRepository, name: flux-system}" + more + "}\n"
	}
	writeFile(t, filepath.Join(dir, "root", "units.yaml"), unit("first", "")+"---\n"+unit("second", ", dependsOn: [{name: first}]"))
	url := strings.Replace(git.URL("fleet"), "http://", "http://dev:token@", 1)
	cmd := exec.Command("sh", "-c", `git init -q -b main . && git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q -m all && git push -q "$0" HEAD:main`, url)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git: %v: %s", err, out)
	}
	return url
}

// reports waits until the status of an object has a text.
func reports(t *testing.T, dir string, resource schema.GroupVersionResource, namespace, name, text string) {
	t.Helper()
	eventually(t, resource.Resource+"/"+name+" reports "+text, func() (bool, string) {
		config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "ephemeral", "kubeconfig"))
		if err != nil {
			return false, err.Error()
		}
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return false, err.Error()
		}
		o, err := client.Resource(resource).Namespace(namespace).Get(t.Context(), name, v1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		status, err := json.Marshal(o.Object["status"])
		return err == nil && strings.Contains(string(status), text), string(status)
	})
}
