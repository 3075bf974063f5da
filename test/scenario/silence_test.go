package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli"
	"github.com/headgate-dev/headgate/internal/kit"
)

// planted is in the URLs of what fails; the token of the kit, by which fetches succeed, is planted as well.
const planted = "planted-in-a-url"

// loose are objects with credentials in their URLs, by the address of a repository with and without them. Some of them can be
// fetched.
const loose = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: loose-good, namespace: fleet}
spec: {url: "%[1]s", interval: 1h, ref: {branch: main}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: loose-bad, namespace: fleet}
spec: {url: "%[2]s?access_token=planted-in-a-url", interval: 1h, ref: {branch: main}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: loose-bad, namespace: fleet}
spec: {url: "http://me:planted-in-a-url@127.0.0.1:1/charts?token=planted-in-a-url", interval: 1h}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: loose-good, namespace: fleet}
spec: {interval: 1h, path: ./quiet, prune: true, targetNamespace: loose, sourceRef: {kind: GitRepository, name: loose-good}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: loose-bad, namespace: fleet}
spec: {interval: 1h, path: ./loose, prune: true, targetNamespace: loose, sourceRef: {kind: GitRepository, name: loose-good}}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: loose, namespace: argocd}
spec: {sourceRepos: ["*", "!https://refused.example/*"], destinations: [{server: "*", namespace: "*"}], clusterResourceWhitelist: [{group: "*", kind: "*"}]}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: loose-good, namespace: argocd}
spec:
  project: loose
  source: {repoURL: "%[1]s", targetRevision: main, path: quiet}
  destination: {server: https://kubernetes.default.svc, namespace: loose-app}
  syncPolicy: {automated: {}, syncOptions: [CreateNamespace=true]}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: loose-bad, namespace: argocd}
operation: {sync: {source: {repoURL: "%[2]s?access_token=planted-in-a-url", targetRevision: main, path: a}}}
spec:
  project: loose
  sources:
  - {repoURL: "%[2]s", targetRevision: main, path: a}
  - {repoURL: "http://me:planted-in-a-url@127.0.0.1:1/charts", targetRevision: 1.0.0, chart: web}
  destination: {server: https://kubernetes.default.svc, namespace: loose-app}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: loose-base, namespace: argocd}
spec:
  project: loose
  source: {repoURL: "%[1]s", targetRevision: main, path: loose}
  destination: {server: https://kubernetes.default.svc, namespace: loose-app}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: loose-refused, namespace: argocd}
spec:
  project: loose
  source: {repoURL: "https://me:planted-in-a-url@refused.example/x?token=planted-in-a-url", targetRevision: main, path: a}
  destination: {server: https://kubernetes.default.svc, namespace: loose-app}
---
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: loose-bad, namespace: argocd}
spec:
  generators: [{git: {repoURL: "%[2]s?access_token=planted-in-a-url", revision: main, directories: [{path: "*"}]}}]
  template:
    metadata: {name: "loose-{{path.basename}}"}
    spec: {project: loose, source: {repoURL: "%[1]s", path: "{{path}}"}, destination: {server: https://kubernetes.default.svc, namespace: loose-app}}
`

// mirrors are the fields of statuses that repeat a spec.
var mirrors = [][]string{
	{"status", "sync", "comparedTo"},
	{"status", "operationState", "operation"},
	{"status", "operationState", "syncResult", "source"},
	{"status", "operationState", "syncResult", "sources"},
	{"status", "history"},
}

// everything permits the installation everything.
const everything = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: loose}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: headgate, namespace: flux-system}]
`

// silent has a controller serve objects whose URLs have credentials, and reads everything that it says.
func silent(t *testing.T, i *installed) {
	writeFile(t, filepath.Join(i.repo, "loose", "kustomization.yaml"), "resources: [\"http://me:planted-in-a-url@127.0.0.1:1/base.yaml?token=planted-in-a-url\"]\n")
	// What else there is in the repository belongs to units of other tests.
	writeFile(t, filepath.Join(i.repo, "quiet", "one.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: quiet}\n")
	i.push("6")
	said, endpoint := startTraces(t)
	// What is said is the same whatever the installation may do, which tests before this one have changed.
	if err := i.world.put(everything); err != nil {
		t.Fatal(err)
	}
	first := i.start(t, here, "--otlp-endpoint", endpoint, "--serve", "flux,argocd")
	first.says(`"msg":"serving"`)
	address := i.kit.Git.URL("fleet")
	with := func(login string) string { return strings.Replace(address, "://", "://"+login+"@", 1) }
	if err := i.world.put("apiVersion: v1\nkind: Namespace\nmetadata: {name: loose}\n---\n" +
		fmt.Sprintf(loose, with(kit.User+":"+kit.Token), with(kit.User+":"+planted))); err != nil {
		t.Fatal(err)
	}
	until := func(kind, namespace, name, path, want string) {
		t.Helper()
		eventually(t, kind+" "+name+": "+path, func() (bool, string) {
			text := field(i.object(kind, namespace, name), path)
			return strings.Contains(text, want), text
		})
	}
	for _, kind := range []string{"GitRepository", "Kustomization"} {
		until(kind, "fleet", "loose-good", "status.conditions", `"status":"True","type":"Ready"`)
		until(kind, "fleet", "loose-bad", "status.conditions", `"status":"False","type":"Ready"`)
	}
	until("HelmRepository", "fleet", "loose-bad", "status.conditions", `"status":"False","type":"Ready"`)
	until("Application", "argocd", "loose-good", "status.sync.status", "Synced")
	until("Application", "argocd", "loose-bad", "status.operationState.phase", "Error")
	until("Application", "argocd", "loose-base", "status.conditions", "ComparisonError")
	until("Application", "argocd", "loose-refused", "status.conditions", "application repo https://refused.example/x?token=… is not permitted in project 'loose'")
	until("ApplicationSet", "argocd", "loose-bad", "status.conditions", "ErrorOccurred")

	quiet := func(what, text string) {
		t.Helper()
		if text == "" {
			t.Errorf("%s: nothing is said", what)
		}
		for _, secret := range []string{planted, kit.Token} {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s shows a token: …%s…", what, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
	for kind, namespace := range map[string]string{
		"GitRepository": "fleet", "HelmRepository": "fleet", "Kustomization": "fleet", "Application": "argocd", "ApplicationSet": "argocd",
	} {
		quiet("status of "+kind, i.statuses(kind, namespace))
	}
	events, err := i.client.CoreV1().Events("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events.Items {
		if e.Source.Component != "" {
			quiet("event of "+e.InvolvedObject.Name, fmt.Sprint(e.Reason, e.Message, e.Annotations))
		}
	}
	_, metrics := first.ask(http.MethodGet, i.metrics, "/metrics")
	if !strings.Contains(metrics, "loose-good") || !strings.Contains(metrics, "argocd_git_request_total") {
		t.Error("the metrics do not name what is served")
	}
	quiet("metrics", metrics)
	quiet("log", first.output.String())
	eventually(t, "a trace of what failed arrives", func() (bool, string) { return strings.Contains(said.String(), "loose-bad"), "" })
	quiet("traces", said.String())
	for _, args := range [][]string{{"get"}, {"tree"}, {"events", "-A"}, {"why", "app/loose-bad"}, {"why", "ks/loose-bad", "-n", "fleet"}, {"why", "app/loose-refused"}} {
		var out bytes.Buffer
		cli.Main(context.WithoutCancel(t.Context()), append([]string{"--kubeconfig", i.kubeconfig}, args...), cli.IO{In: strings.NewReader(""), Out: &out, Err: &out})
		quiet("headgate "+strings.Join(args, " "), out.String())
	}
}

// object is an object of a kind.
func (i *installed) object(kind, namespace, name string) *unstructured.Unstructured {
	i.t.Helper()
	u, err := i.world.client.Resource(i.resourceOf(kind)).Namespace(namespace).Get(i.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	return u
}

// statuses are those of all objects of a kind, but for the fields that repeat a spec.
func (i *installed) statuses(kind, namespace string) string {
	i.t.Helper()
	list, err := i.world.client.Resource(i.resourceOf(kind)).Namespace(namespace).List(i.t.Context(), metav1.ListOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	var all strings.Builder
	for _, u := range list.Items {
		for _, m := range mirrors {
			unstructured.RemoveNestedField(u.Object, m...)
		}
		text, err := json.Marshal(u.Object["status"])
		if err != nil {
			i.t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
