package scenario

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/kit"
)

// destinations is an installation with a second cluster.
type destinations struct {
	*operated
	world *world
	far   *far
}

// destinedApp is an Application of a directory with one ConfigMap.
const destinedApp = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: argocd}
spec:
  project: %[2]s
  source: {repoURL: %[3]q, targetRevision: main, path: app}
  destination: {%[4]s, namespace: %[1]s}
  syncPolicy: {automated: {selfHeal: true}, syncOptions: [CreateNamespace=true]}
`

// destinedSet makes an Application for each cluster that is labelled, and none for that of the installation.
const destinedSet = `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: everywhere, namespace: argocd}
spec:
  goTemplate: true
  generators: [{clusters: {selector: {matchLabels: {where: far}}}}]
  template:
    metadata: {name: "set-{{ .name }}"}
    spec:
      project: default
      source: {repoURL: %q, targetRevision: main, path: app}
      destination: {server: "{{ .server }}", namespace: generated}
      syncPolicy: {automated: {}, syncOptions: [CreateNamespace=true]}
`

// TestArgoClusters has Applications go to another cluster, by its name and by its address; that cluster goes and comes
// back, while those of the engine's own go on.
func TestArgoClusters(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	d := newDestinations(t, k)
	server := d.far.running.RESTConfig().Host
	d.app("local", "default", `server: "https://kubernetes.default.svc"`)
	d.app("named", "default", "name: far")
	d.app("addressed", "default", fmt.Sprintf("server: %q", server))
	for _, name := range []string{"local", "named", "addressed"} {
		d.stands(name, "Synced", "Healthy", "")
	}
	d.has(d.client, "local", "1")
	d.has(d.far.client, "named", "1")
	d.has(d.far.client, "addressed", "1")
	t.Run("elsewhere alone", func(t *testing.T) {
		d.nowhere(t, d.client, "named", "addressed")
		d.nowhere(t, d.far.client, "local")
	})
	t.Run("unknown", func(t *testing.T) {
		d.app("unknown", "default", "name: nowhere")
		d.stands("unknown", "Unknown", "", "InvalidSpecError: there are no clusters with this name: nowhere")
		d.nowhere(t, d.client, "unknown")
		d.nowhere(t, d.far.client, "unknown")
	})
	t.Run("project", func(t *testing.T) {
		d.app("refused", "local-only", "name: far")
		d.stands("refused", "Unknown", "", "InvalidSpecError: ")
		d.nowhere(t, d.client, "refused")
		d.nowhere(t, d.far.client, "refused")
	})
	t.Run("generator", func(t *testing.T) {
		if err := d.world.put(fmt.Sprintf(destinedSet, d.url)); err != nil {
			t.Fatal(err)
		}
		d.stands("set-far", "Synced", "Healthy", "")
		d.has(d.far.client, "generated", "1")
	})
	t.Run("moved while it syncs", func(t *testing.T) { d.moved(t) })
	d.lossAndReturn()
}

// movedApp is an Application whose sync waits for a hook that a person begins.
const movedApp = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: moved, namespace: argocd}
spec:
  project: %s
  source: {repoURL: %q, targetRevision: main, path: held}
  destination: {%s, namespace: moved}
  syncPolicy: {automated: {}, syncOptions: [CreateNamespace=true]}
`

// moved has an Application go to another cluster while a sync waits: nothing that was decided for the one is written to the other,
// and what its project does not permit there is not written at all.
func (d *destinations) moved(t *testing.T) {
	writeFile(t, filepath.Join(d.copy, "held", "x.yaml"), strings.Split(faultWork, "---")[0]+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {k: \"1\"}\n")
	d.push("held")
	put := func(project, destination string) {
		t.Helper()
		if err := d.world.put(fmt.Sprintf(movedApp, project, d.url, destination)); err != nil {
			t.Fatal(err)
		}
	}
	job := func(client kubernetes.Interface) {
		t.Helper()
		eventually(t, "the hook is there", func() (bool, string) {
			_, err := client.BatchV1().Jobs("moved").Get(t.Context(), "pre", metav1.GetOptions{})
			return err == nil, fmt.Sprint(err)
		})
	}
	begin := func(client kubernetes.Interface) {
		t.Helper()
		_, err := client.BatchV1().Jobs("moved").Patch(t.Context(), "pre", types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	put("default", `server: "https://kubernetes.default.svc"`)
	job(d.client)
	put("local-only", "name: far")
	d.stands("moved", "Unknown", "", "InvalidSpecError: application destination server 'far' and namespace 'moved' do not match")
	begin(d.client)
	d.nowhere(t, d.far.client, "moved")
	put("default", "name: far")
	job(d.far.client)
	begin(d.far.client)
	d.has(d.far.client, "moved", "1")
	d.stands("moved", "Synced", "", "")
	if got := configMaps(t, d.client, "moved"); got["x"] != "" {
		t.Errorf("what was moved is written to the previous cluster: %v", got)
	}
}

// lossAndReturn takes the other cluster away, has the repository go on, and brings the cluster back.
func (d *destinations) lossAndReturn() {
	d.t.Helper()
	d.far.stop()
	d.content("2")
	d.stands("local", "Synced", "Healthy", "")
	d.has(d.client, "local", "2")
	d.stands("named", "Unknown", "", "ComparisonError: ")
	d.far.start()
	for _, name := range []string{"named", "addressed"} {
		d.has(d.far.client, name, "2")
		d.stands(name, "Synced", "Healthy", "")
	}
}

func newDestinations(t *testing.T, k *kit.Kit) *destinations {
	t.Helper()
	client, err := kubernetes.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	d := &destinations{
		operated: &operated{t: t, kit: k, client: client, copy: t.TempDir()}, world: &world{kit: k, client: dyn},
		far: &far{t: t, dir: filepath.Join(shortDir(t), "far")},
	}
	d.far.start()
	t.Cleanup(d.far.stop)
	if err := k.Git.CreateRepo(t.Context(), "destined"); err != nil {
		t.Fatal(err)
	}
	d.url = k.Git.URL("destined")
	d.content("1")
	if err := d.world.put(fmt.Sprintf(destinedSecrets, d.url, kit.User, kit.Token, d.far.running.RESTConfig().Host, d.login())); err != nil {
		t.Fatal(err)
	}
	return d
}

// destinedSecrets are the repository, the cluster, and a project that permits that of the installation alone.
const destinedSecrets = `apiVersion: v1
kind: Secret
metadata: {name: destined, namespace: argocd, labels: {argocd.argoproj.io/secret-type: repository}}
stringData: {type: git, url: %q, username: %q, password: %q}
---
apiVersion: v1
kind: Secret
metadata: {name: far, namespace: argocd, labels: {argocd.argoproj.io/secret-type: cluster, where: far}}
stringData: {name: far, server: %q, config: %q}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: local-only, namespace: argocd}
spec:
  sourceRepos: ["*"]
  destinations: [{server: "https://kubernetes.default.svc", namespace: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
`

// login is how the Secret of a cluster says that one signs in there.
func (d *destinations) login() string {
	d.t.Helper()
	config := d.far.running.RESTConfig()
	tls := map[string]string{}
	for field, data := range map[string][]byte{"caData": config.CAData, "certData": config.CertData, "keyData": config.KeyData} {
		if len(data) > 0 {
			tls[field] = base64.StdEncoding.EncodeToString(data)
		}
	}
	text, err := json.Marshal(map[string]any{"bearerToken": config.BearerToken, "tlsClientConfig": tls})
	if err != nil {
		d.t.Fatal(err)
	}
	return string(text)
}

// content commits what every Application of the test has.
func (d *destinations) content(value string) {
	d.t.Helper()
	writeFile(d.t, filepath.Join(d.copy, "app", "x.yaml"), fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {k: %q}\n", value))
	d.push("v" + value)
}

func (d *destinations) app(name, project, destination string) {
	d.t.Helper()
	if err := d.world.put(fmt.Sprintf(destinedApp, name, project, d.url, destination)); err != nil {
		d.t.Fatal(err)
	}
}

// stands waits until an Application says what is wanted of itself; what is empty may be anything.
func (d *destinations) stands(name, sync, health, condition string) {
	d.t.Helper()
	eventually(d.t, fmt.Sprintf("Application %s is %s, %s: %q", name, sync, health, condition), func() (bool, string) {
		u, err := d.world.client.Resource(theApplications).Namespace(argo.DefaultNamespace).Get(d.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		said := func(path ...string) string {
			text, _, _ := unstructured.NestedString(u.Object, append([]string{"status"}, path...)...)
			return text
		}
		var conditions []string
		list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, item := range list {
			if c, ok := item.(map[string]any); ok {
				conditions = append(conditions, fmt.Sprintf("%v: %v", c["type"], c["message"]))
			}
		}
		ok := said("sync", "status") == sync && (health == "" || said("health", "status") == health) &&
			strings.Contains(strings.Join(conditions, "\n"), condition)
		return ok, fmt.Sprint(u.Object["status"])
	})
}

// has waits until a cluster has the ConfigMap of an Application.
func (d *destinations) has(client kubernetes.Interface, namespace, value string) {
	d.t.Helper()
	eventually(d.t, fmt.Sprintf("%s has %s", namespace, value), func() (bool, string) {
		got := configMaps(d.t, client, namespace)
		return got["x"] == value, fmt.Sprint(got)
	})
}

// nowhere looks that a cluster has no such namespaces.
func (d *destinations) nowhere(t *testing.T, client kubernetes.Interface, namespaces ...string) {
	t.Helper()
	for _, name := range namespaces {
		list, err := client.CoreV1().Namespaces().List(context.WithoutCancel(t.Context()), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err != nil || len(list.Items) > 0 {
			t.Errorf("namespace %s is in the wrong cluster: %v", name, err)
		}
	}
}
