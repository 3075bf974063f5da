package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/cli/below"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/dialects"
)

// cluster is what a cluster has: a root, units that wait or failed, and what these hold.
const cluster = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/x, sourceRef: {kind: GitRepository, name: flux-system}}
status: {conditions: [{type: Ready, status: "True", reason: ReconciliationSucceeded, message: applied}]}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {}
status: {conditions: [{type: Ready, status: "True", message: stored}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: network, namespace: flux-system, labels: {kustomize.toolkit.fluxcd.io/name: flux-system, kustomize.toolkit.fluxcd.io/namespace: flux-system}}
spec: {path: ./network, sourceRef: {kind: GitRepository, name: flux-system}}
status:
  conditions: [{type: Ready, status: Unknown, reason: Progressing, message: "waiting for the health of: HelmRelease/network/proxy"}]
  inventory: {entries: [{id: network_proxy_helm.toolkit.fluxcd.io_HelmRelease, v: v2}]}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: proxy, namespace: network}
spec: {chartRef: {kind: OCIRepository, name: proxy}}
status: {conditions: [{type: Ready, status: "False", reason: SourceNotReady, message: "OCIRepository/network/proxy does not exist"}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: blog, namespace: flux-system, annotations: {headgate.dev/depends-on: "Deployment/q/web, Deployment/f/web"}}
spec: {path: ./blog, sourceRef: {kind: GitRepository, name: flux-system}}
status: {conditions: [{type: Ready, status: "False", reason: DependencyNotReady, message: "Deployment/q/web: not ready"}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: loose, namespace: flux-system, labels: {kustomize.toolkit.fluxcd.io/name: flux-system, kustomize.toolkit.fluxcd.io/namespace: flux-system}}
spec: {path: ./loose, sourceRef: {kind: GitRepository, name: flux-system}}
status:
  conditions: [{type: Ready, status: "True", message: applied}]
  inventory: {entries: [{id: q_web_apps_Deployment, v: v1}, {id: q_web__Service, v: v1}, {id: l_web_apps_Deployment, v: v1}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: badfield, namespace: flux-system}
spec: {path: ./f, sourceRef: {kind: GitRepository, name: flux-system}}
status: {conditions: [{type: Ready, status: "False", reason: ReconciliationFailed, message: "1 of 4 objects failed: Deployment/f/web: refused as invalid: spec.replicas: expected numeric"}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: q, uid: d}
spec: {replicas: 3}
status: {conditions: [{type: ReplicaFailure, status: "True", message: exceeded quota}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: l}
spec: {replicas: 1}
status: {replicas: 1, readyReplicas: 1, updatedReplicas: 1, availableReplicas: 1, conditions: [{type: Available, status: "True"}]}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: database, namespace: argocd}
spec: {}
status:
  sync: {status: Synced}
  health: {status: Healthy}
  operationState: {phase: Succeeded, syncResult: {resources: [{group: batch, kind: Job, namespace: database, name: migrate, hookType: PostSync}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: database, uid: j}
status: {conditions: [{type: Complete, status: "True"}], succeeded: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: migrate-1, namespace: database, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: migrate, uid: j, controller: true}]}
status: {phase: Succeeded}
`

// copied is what the working copy has, by file: two clusters declare a unit of one name.
var copied = map[string]string{
	"clusters/w/units.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: network, namespace: flux-system}\n",
	"clusters/x/units.yaml": "\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: network, namespace: flux-system}\n",
	"network/proxy.yaml":    "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: proxy}\n",
	"q/web.yaml":            "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: q}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: q}\n",
	"f/web.yaml":            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: f}\nspec:\n  replicas: three\n",
}

// clientOf is a client of a server that has what cluster has, as the API server would answer.
func clientOf(t *testing.T) dynamic.Interface {
	t.Helper()
	var all []unstructured.Unstructured
	for text := range strings.SplitSeq(cluster, "\n---\n") {
		o := unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serveObjects(w, r, all) }))
	t.Cleanup(server.Close)
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// serveObjects answers a read of an object, or of all of a kind.
func serveObjects(w http.ResponseWriter, r *http.Request, all []unstructured.Unstructured) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	group, parts := "", parts[1:]
	if strings.HasPrefix(r.URL.Path, "/apis/") {
		group, parts = parts[0], parts[1:]
	}
	parts = parts[1:]
	namespace, name := "", ""
	if parts[0] == "namespaces" && len(parts) > 2 {
		namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 1 {
		name = parts[1]
	}
	chosen, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	found := []unstructured.Unstructured{}
	for _, o := range all {
		gk := o.GroupVersionKind()
		plural, _ := meta.UnsafeGuessKindToResource(gk)
		if gk.Group == group && plural.Resource == parts[0] && (namespace == "" || o.GetNamespace() == namespace) && (name == "" || o.GetName() == name) && chosen.Matches(labels.Set(o.GetLabels())) {
			found = append(found, o)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case name == "":
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}, "items": found})
	case len(found) == 0:
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(apierrors.NewNotFound(schema.GroupResource{Group: group, Resource: parts[0]}, name).Status())
	default:
		_ = json.NewEncoder(w).Encode(found[0].Object)
	}
}

// workingCopyOf writes files, and has the embedded cluster serve them.
func workingCopyOf(t *testing.T, files map[string]string) {
	t.Helper()
	dir, state := t.TempDir(), t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_STATE_HOME", state)
	home := console.ClusterDir(filepath.Join(state, "headgate"), true)
	err := errors.Join(os.MkdirAll(home, 0o700), os.WriteFile(filepath.Join(home, "kubeconfig"), nil, 0o600), console.RememberWorkingCopy(home, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
}

// explained is what why prints of a target, with the error and its hint.
func explained(t *testing.T, target, namespace, output string) string {
	t.Helper()
	var out bytes.Buffer
	g := &console.Globals{IO: console.IO{Out: &out, Err: &out}, Catalogue: dialects.All()}
	client := clientOf(t)
	w := &explainer{
		Globals: g, client: client, clusters: g.Clusters(context.Background(), client), namespace: namespace, output: output,
		seen: map[string]bool{}, below: map[string]*below.Reader{},
	}
	return answered(&out, w.run(context.Background(), target))
}

// answered is what a command printed, with the error and its hint.
func answered(out *bytes.Buffer, err error) string {
	var hint *dialect.HintError
	switch {
	case errors.Is(err, console.ErrNo):
		out.WriteString("no\n")
	case errors.As(err, &hint):
		out.WriteString(err.Error() + "\ntry: " + hint.Next + "\n")
	case err != nil:
		out.WriteString(err.Error() + "\n")
	}
	return out.String()
}

// TestWhy explains what people name, in each of the ways in which they name it, down to the cause.
func TestWhy(t *testing.T) {
	workingCopyOf(t, copied)
	const source, loose = "  ✓ GitRepository/flux-system/flux-system is ready: stored\n", "✓ Kustomization/flux-system/loose is ready: applied\ndeclared by Kustomization/flux-system/flux-system\n"
	const quota = "✗ Deployment/q/web (q/web.yaml:5): exceeded quota\n"
	const refused = "✗ Kustomization/flux-system/badfield is not ready (ReconciliationFailed): 1 of 4 objects failed: Deployment/f/web: refused as invalid: spec.replicas: expected numeric\n"
	const database = "Job/database/migrate is part of the last operation of:\n✓ Application/argocd/database is ready: Synced and Healthy\n"
	const two = "several objects are named \"deploy/web\": Deployment/l/web, Deployment/q/web\ntry: headgate why Deployment/l/web\n"
	for name, tc := range map[string]struct{ reason, target, namespace, want string }{
		"Release": {"a unit among the objects is the cause, and the source of that", "network", "", `✗ Kustomization/flux-system/network (clusters/x/units.yaml:2) is not ready (Progressing): waiting for the health of: HelmRelease/network/proxy
` + source + `  ✗ HelmRelease/network/proxy (network/proxy.yaml:1) is not ready (SourceNotReady): OCIRepository/network/proxy does not exist
    ✗ OCIRepository/network/proxy does not exist
declared by Kustomization/flux-system/flux-system
no
`},
		"Dependency": {"an object is gone into once, and one that is not there by the unit that names it", "blog", "", `✗ Kustomization/flux-system/blog is not ready (DependencyNotReady): Deployment/q/web: not ready
` + source + "  " + quota + `  ✗ Deployment/f/web (f/web.yaml:1): does not exist
    ` + refused + `      GitRepository/flux-system/flux-system: see above
      Deployment/f/web is declared in f/web.yaml:5
try: headgate validate .
no
`},
		"Refused": {"the field is named with its line", "badfield", "", refused + source + "  Deployment/f/web is declared in f/web.yaml:5\ntry: headgate validate .\nno\n"},
		"Named":   {"no unit holds it, but one names it", "Deployment/f/web", "", "Deployment/f/web (f/web.yaml:1) is held by no unit, but named by:\n" + refused + source + "  Deployment/f/web is declared in f/web.yaml:5\ntry: headgate validate .\nno\n"},
		"Short":   {"as kubectl names it", "deployments.apps/web", "f", "Deployment/f/web (f/web.yaml:1) is held by no unit, but named by:\n" + refused + source + "  Deployment/f/web is declared in f/web.yaml:5\ntry: headgate validate .\nno\n"},
		"Broken":  {"the object is broken although its unit is ready", "deployment.v1.apps/web", "q", quota + "Deployment/q/web is held by:\n" + loose + "no\n"},
		"Healthy": {"the file is named of what is healthy", "svc/web", "", "Service/q/web (q/web.yaml:1) is held by:\n" + loose},
		"Several": {"none of them is chosen silently", "deploy/web", "", two},
		"Other":   {"a namespace that was given decides", "deploy/web", "flux-system", "no unit holds deploy/web in namespace \"flux-system\"; there is Deployment/l/web\ntry: headgate why Deployment/l/web\n"},
		"Hook":    {"the operation of an Application was about it", "job/migrate", "database", "✓ Job/database/migrate is healthy\n" + database},
		"Pod":     {"a name alone may be that of a Pod", "migrate-1", "", "✓ Pod/database/migrate-1 is healthy\nbrought about by Job/database/migrate\n" + database},
		"In":      {"a Pod in a namespace", "database/migrate-1", "", "✓ Pod/database/migrate-1 is healthy\nbrought about by Job/database/migrate\n" + database},
		"Unit":    {"as up prints a Kustomization", "flux-system/loose", "", loose},
		"App":     {"as up prints an Application", "argocd/database", "", "✓ Application/argocd/database is ready: Synced and Healthy\n"},
		"Object":  {"of a namespace", "l/web", "", "Deployment/l/web is held by:\n" + loose},
		"Wrong":   {"a name that is written wrong", "deploy/wbe", "q", "no unit holds deploy/wbe in namespace \"q\"; did you mean Deployment/q/web?\ntry: headgate why Deployment/q/web\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, explained(t, tc.target, tc.namespace, "")); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWhyDocument has each cause below what it is the cause of.
func TestWhyDocument(t *testing.T) {
	workingCopyOf(t, copied)
	want := `ok: false
says:
- because:
  - text: '✓ GitRepository/flux-system/flux-system is ready: stored'
  - text: Deployment/f/web is declared in f/web.yaml:5
  text: '✗ Kustomization/flux-system/badfield is not ready (ReconciliationFailed):
    1 of 4 objects failed: Deployment/f/web: refused as invalid: spec.replicas: expected
    numeric'
try: headgate validate .
no
`
	if diff := cmp.Diff(want, explained(t, "badfield", "", "yaml")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestTreeNamed finds the unit or the object that a name alone is of, as why does.
func TestTreeNamed(t *testing.T) {
	for name, tc := range map[string]struct{ reason, name, namespace, want string }{
		"Application": {"another kind has the name", "database", "", "Application/argocd/database  ✓\n"},
		"Object":      {"a unit holds an object of that name", "web", "l", "Kustomization/flux-system/loose  ✓\n└── Deployment/l/web\n"},
		"Slip":        {"a slip", "databse", "", "nothing is named \"databse\"; did you mean \"database\"?\ntry: headgate tree database\n"},
		"Slip of":     {"a slip with a kind", "ks/loos", "", "Kustomization/flux-system/loos does not exist; did you mean Kustomization/flux-system/loose?\ntry: headgate tree Kustomization/flux-system/loose\n"},
		"Release":     {"a release", "proxy", "network", "HelmRelease/network/proxy  ✗ SourceNotReady  (chart of OCIRepository/network/proxy)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			g := &console.Globals{IO: console.IO{Out: &out, Err: &out}, Catalogue: dialects.All()}
			f := &forest{Globals: g, client: clientOf(t)}
			f.clusters = g.Clusters(context.Background(), f.client)
			f.look = f.grown
			var err error
			if f.units, err = g.ListUnits(context.Background(), f.client); err != nil {
				t.Fatal(err)
			}
			ref, err := g.ParseReference(tc.name, console.DefaultNamespace)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, answered(&out, f.printNamed(context.Background(), ref, tc.name, tc.namespace))); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
