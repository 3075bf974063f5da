package scenario

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/gitea"
)

// illStage is a Stage whose Application never becomes healthy, one after it, and one whose Freight has to stand for a day in dev. Format: the repository of
// manifests.
const illStage = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop-ill, namespace: argocd, annotations: {kargo.akuity.io/authorized-stage: "shop:ill"}}
spec:
  project: default
  source: {repoURL: %[1]q, targetRevision: main, path: ill}
  destination: {server: "https://kubernetes.default.svc", namespace: shop-ill}
  syncPolicy: {syncOptions: [CreateNamespace=true]}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: ill, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {direct: true}}]
  promotionTemplate: {spec: {steps: [{uses: argocd-update, config: {apps: [{name: shop-ill}]}}]}}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: after-ill, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {stages: [ill]}}]
  promotionTemplate: {spec: {steps: [{uses: argocd-update, config: {apps: [{name: shop-ill}]}}]}}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: soaked, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {stages: [dev], requiredSoakTime: 24h}}]
  promotionTemplate: {spec: {steps: [{uses: argocd-update, config: {apps: [{name: shop-ill}]}}]}}
`

const illManifest = `apiVersion: v1
kind: Pod
metadata: {name: never}
spec: {nodeSelector: {there: "no"}, containers: [{name: c, image: "registry.example/web:1"}]}
`

// stops has a Stage stay unhealthy with its Application, so that its Freight goes nowhere, as does what has not stood for long enough.
func (p *pipelined) stops(t *testing.T, freight string) {
	manifests := p.kit.Git.URL("manifests")
	p.commit(manifests, "ill/pod.yaml", illManifest)
	for one := range strings.SplitSeq(fmt.Sprintf(illStage, manifests), "---\n") {
		if err := p.world.put(one); err != nil {
			t.Fatal(err)
		}
	}
	p.promotes(t, "ill", freight)
	eventually(t, "the Stage names its Application", func() (bool, string) {
		u, err := p.world.client.Resource(v1alpha1.GroupVersion.WithResource("stages")).Namespace("shop").Get(t.Context(), "ill", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		issues, _, _ := unstructured.NestedStringSlice(u.Object, "status", "health", "issues")
		return slices.Contains(issues, `Application "shop-ill" is Progressing and Synced`), fmt.Sprint(u.Object["status"])
	})
	for stage, want := range map[string]string{"after-ill": `is not verified in Stage "ill"`, "soaked": `has to be in Stage "dev" for 24h0m0s`} {
		p.promotes(t, stage, freight)
		if phase, message := p.promoted(stage, nil); phase != "Errored" || !strings.Contains(message, want) {
			t.Errorf("the Promotion to %s ended %s: %s", stage, phase, message)
		}
	}
}

// superseded has the Promotion of newer Freight take the place of one that waits within a step, as soon as that step ends.
func (p *pipelined) superseded(t *testing.T) {
	eventually(t, "no Promotion to dev is in progress any more", func() (bool, string) {
		for _, u := range p.list("promotions") {
			stage, _, _ := unstructured.NestedString(u.Object, "spec", "stage")
			if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); stage == "dev" && (phase == "" || phase == "Pending" || phase == "Running") {
				return false, fmt.Sprint(u.Object["status"])
			}
		}
		return true, ""
	})
	p.closed.Store(true)
	p.commit(p.sources, "version", "4")
	older := p.running(t, "dev")
	newest := p.commit(p.sources, "version", "5")
	eventually(t, "another Promotion waits", func() (bool, string) {
		for _, u := range p.list("promotions") {
			stage, _, _ := unstructured.NestedString(u.Object, "spec", "stage")
			if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); phase == "Pending" && stage == "dev" {
				return true, ""
			}
		}
		return false, ""
	})
	p.closed.Store(false)
	p.runs(newest)
	u, err := p.world.client.Resource(v1alpha1.GroupVersion.WithResource("promotions")).Namespace("shop").Get(t.Context(), older, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	if message, _, _ := unstructured.NestedString(u.Object, "status", "message"); phase != "Aborted" || !strings.Contains(message, "superseded by Promotion") {
		t.Errorf("the older Promotion ended %s: %s", phase, message)
	}
}

// reviewedStage is a Stage whose changes are reviewed. Formats: a repository of a Gitea, a user and a password.
const reviewedStage = `apiVersion: v1
kind: Secret
metadata: {name: forge, namespace: shop, labels: {kargo.akuity.io/cred-type: git}}
stringData: {repoURL: %[1]q, username: %[2]q, password: %[3]q}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: reviewed, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {direct: true}}]
  promotionTemplate:
    spec:
      steps:
      - {uses: git-clone, config: {repoURL: %[1]q, checkout: [{branch: main, path: ./out}]}}
      - {uses: file-write, config: {path: ./out/freight, contents: "${{ ctx.targetFreight.name }}"}}
      - {uses: git-commit, config: {path: ./out, message: change}}
      - {uses: git-push, as: push, config: {path: ./out, generateTargetBranch: true}}
      - {uses: git-open-pr, as: open, config: {repoURL: %[1]q, provider: gitea, sourceBranch: "${{ outputs.push.branch }}", targetBranch: main}}
      - {uses: git-wait-for-pr, config: {repoURL: %[1]q, provider: gitea, prNumber: "${{ outputs.open.pr.id }}", pollInterval: 10s}}
`

// refused has a pull request that a Promotion waits for closed without being merged.
func (p *pipelined) refused(t *testing.T, freight string) {
	const user, password = "reviewer", "s3cret-of-the-forge"
	var handler atomic.Pointer[gitea.Server]
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.Load().ServeHTTP(w, r) }))
	t.Cleanup(front.Close)
	server, err := gitea.New(t.Context(), gitea.Config{Dir: filepath.Join(t.TempDir(), "state"), Root: front.URL, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.EnsureAdmin(user, "reviewer@example.org", password); err != nil {
		t.Fatal(err)
	}
	handler.Store(server)
	api := func(verb, path, body string) string {
		q, err := http.NewRequestWithContext(t.Context(), verb, front.URL+"/api/v1/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.SetBasicAuth(user, password)
		q.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		data, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode > 299 {
			t.Fatalf("%s %s: %s: %s: %v", verb, path, response.Status, data, err)
		}
		return string(data)
	}
	api(http.MethodPost, "user/repos", `{"name": "deploy", "auto_init": true, "default_branch": "main"}`)
	for one := range strings.SplitSeq(fmt.Sprintf(reviewedStage, front.URL+"/"+user+"/deploy.git", user, password), "---\n") {
		if err := p.world.put(one); err != nil {
			t.Fatal(err)
		}
	}
	p.promotes(t, "reviewed", freight)
	eventually(t, "the pull request is open", func() (bool, string) {
		list := api(http.MethodGet, "repos/"+user+"/deploy/pulls?state=open", "")
		return strings.Contains(list, `"number":1`), list + fmt.Sprint(p.list("promotions"))
	})
	api(http.MethodPatch, "repos/"+user+"/deploy/pulls/1", `{"state": "closed"}`)
	if phase, message := p.promoted("reviewed", nil); phase != "Failed" || !strings.Contains(message, "was closed, and not merged") {
		t.Errorf("the Promotion ended %s: %s", phase, message)
	}
}
