package scenario

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/kit"
)

// away has an API group be announced and not answer, as one whose pods are not there: to discovery, and to every request.
type away struct {
	http.RoundTripper
	group string
	is    *atomic.Bool
}

func (a away) RoundTrip(r *http.Request) (*http.Response, error) {
	if !a.is.Load() {
		return a.RoundTripper.RoundTrip(r)
	}
	if r.URL.Path == "/apis" || r.URL.Path == "/api" {
		// The groups alone: what each serves is read separately.
		r = r.Clone(r.Context())
		r.Header.Set("Accept", "application/json")
	}
	if strings.HasPrefix(r.URL.Path, "/apis/"+a.group+"/") {
		return &http.Response{
			Status: "503 Service Unavailable", StatusCode: http.StatusServiceUnavailable, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{}, Body: io.NopCloser(strings.NewReader("service unavailable")), Request: r,
		}, nil
	}
	return a.RoundTripper.RoundTrip(r)
}

const budget = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %s, namespace: fleet}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: none}}}
`

const budgetApp = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec:
  project: default
  source: {repoURL: %[2]q, targetRevision: main, path: %[1]s}
  destination: {server: https://kubernetes.default.svc, namespace: fleet}
  syncPolicy: {automated: {prune: true}}
`

// TestGroupsAway starts an engine while an API group does not answer. What it has of that group is unknown, not gone: nothing is
// dropped from an inventory, and nothing that is deleted goes before its objects.
func TestGroupsAway(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	k.StopEngine()
	var down atomic.Bool
	k.Own.Wrap(func(rt http.RoundTripper) http.RoundTripper { return away{rt, "policy", &down} })
	if err := k.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := newFleet(t, k)
	if _, err := f.client.CoreV1().Secrets(argoNamespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "scripts", Labels: map[string]string{"argocd.argoproj.io/secret-type": "repo-creds"}},
		StringData: map[string]string{"url": k.Git.Base(), "username": kit.User, "password": kit.Token},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "c", "pruned", "deleted"}
	for _, name := range names {
		writeFile(t, filepath.Join(f.repo, name, "budget.yaml"), fmt.Sprintf(budget, name))
		if strings.HasSuffix(name, "ed") {
			writeFile(t, filepath.Join(f.repo, name, "x.yaml"), fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: of-%s}\ndata: {other: \"1\"}\n", name))
		}
	}
	f.push("1")
	for _, app := range []string{"pruned", "deleted"} {
		if err := f.world.put(fmt.Sprintf(budgetApp, app, k.Git.URL("fleet"))); err != nil {
			t.Fatal(err)
		}
	}
	f.condition("ks", "c", "True", "main@sha1:")
	for _, app := range []string{"pruned", "deleted"} {
		f.says("Application", argoNamespace, app, "status.sync.status", "Synced")
	}

	k.StopEngine()
	down.Store(true)
	for _, name := range []string{"a", "pruned"} {
		if err := os.Remove(filepath.Join(f.repo, name, "budget.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(f.repo, "flux", "units.yaml"), fmt.Sprintf(fleetUnit, "a", "")+"---\n"+fmt.Sprintf(fleetUnit, "b", ", dependsOn: [{name: c0}]"))
	f.push("2")
	m, _, err := f.world.resource("Application")
	if err != nil {
		t.Fatal(err)
	}
	apps := f.world.client.Resource(m.Resource).Namespace(argoNamespace)
	if err := apps.Delete(t.Context(), "deleted", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := k.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	const unknown = "it is unknown whether the cluster still serves PodDisruptionBudget.policy: discovering policy/v1: "
	f.condition("ks", "a", "False", "PodDisruptionBudget/fleet/a: deleting it: "+unknown)
	f.condition("ks", "c", "False", "PodDisruptionBudget/fleet/c: deleting it: "+unknown)
	f.says("Application", argoNamespace, "pruned", "status.conditions", unknown)
	f.says("Application", argoNamespace, "deleted", "status.conditions", unknown)
	f.says("Kustomization", "fleet", "a", "status.inventory.entries", "fleet_a_policy_PodDisruptionBudget")
	f.says("Application", argoNamespace, "pruned", "status.resources", "PodDisruptionBudget")

	// When it answers again, all that is carried out.
	down.Store(false)
	for _, name := range names {
		eventually(t, "the budget "+name+" is gone", func() (bool, string) {
			_, err := f.client.PolicyV1().PodDisruptionBudgets("fleet").Get(t.Context(), name, metav1.GetOptions{})
			return apierrors.IsNotFound(err), fmt.Sprint(err)
		})
	}
	f.condition("ks", "a", "True", "")
	f.says("Application", argoNamespace, "pruned", "status.sync.status", "Synced")
	eventually(t, "the deleted Application is gone", func() (bool, string) {
		_, err := apps.Get(t.Context(), "deleted", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// says waits until a field of an object contains a text.
func (f *fleet) says(kind, namespace, name, path, text string) {
	f.t.Helper()
	eventually(f.t, fmt.Sprintf("%s of %s/%s says %s", path, kind, name, text), func() (bool, string) {
		m, _, err := f.world.resource(kind)
		if err != nil {
			return false, err.Error()
		}
		u, err := f.world.client.Resource(m.Resource).Namespace(namespace).Get(f.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return strings.Contains(field(u, path), text), field(u, path) + told(u)
	})
}
