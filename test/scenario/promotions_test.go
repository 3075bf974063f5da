package scenario

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/promote"
)

const pipelineProject = `apiVersion: kargo.akuity.io/v1alpha1
kind: Project
metadata: {name: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: argo-git, namespace: argocd, labels: {argocd.argoproj.io/secret-type: repo-creds}}
stringData: {url: %[1]q, username: %[3]q, password: %[4]q}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shop-dev, namespace: argocd, annotations: {kargo.akuity.io/authorized-stage: "shop:dev"}}
spec:
  project: default
  source: {repoURL: %[2]q, targetRevision: main, path: dev}
  destination: {server: "https://kubernetes.default.svc", namespace: shop-dev}
  syncPolicy: {syncOptions: [CreateNamespace=true]}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: foreign, namespace: argocd, labels: {team: other}}
spec:
  project: default
  source: {repoURL: %[2]q, targetRevision: main, path: dev}
  destination: {server: "https://kubernetes.default.svc", namespace: foreign}
`

const pipelineObjects = `apiVersion: v1
kind: Secret
metadata: {name: git, namespace: shop, labels: {kargo.akuity.io/cred-type: git}}
stringData: {repoURL: "%[1]s.*", repoURLIsRegex: "true", username: %[3]q, password: %[4]q}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: ProjectConfig
metadata: {name: shop, namespace: shop}
spec: {promotionPolicies: [{stageSelector: {name: "glob:*dev"}, autoPromotionEnabled: true}]}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Warehouse
metadata: {name: source, namespace: shop}
spec:
  interval: 1s
  subscriptions: [{git: {repoURL: %[5]q, branch: main}}]
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: dev, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {direct: true}}]
  promotionTemplate:
    spec:
      vars: [{name: repo, value: %[2]q}]
      steps:
      - {uses: http, as: gate, config: {url: %[6]q, successExpression: response.status == 200}}
      - {uses: git-clone, config: {repoURL: "${{ vars.repo }}", checkout: [{branch: main, path: ./out}]}}
      - uses: yaml-update
        config: {path: ./out/dev/settings.yaml, updates: [{key: data.revision, value: "${{ quote(commitFrom('%[5]s').ID) }}"}]}
      - {uses: git-commit, as: commit, config: {path: ./out, message: "dev: ${{ ctx.targetFreight.name }}"}}
      - {uses: git-push, config: {path: ./out, targetBranch: main}}
      - {uses: argocd-update, config: {apps: [{name: shop-dev}]}}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: prod, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {stages: [dev]}}]
  promotionTemplate: {spec: {steps: [{uses: argocd-update, config: {apps: [{selector: {matchLabels: {team: other}}}]}}]}}
`

// pipelined is an engine that serves promotions, with a repository of sources and one of manifests.
type pipelined struct {
	t       *testing.T
	kit     *kit.Kit
	world   *world
	client  kubernetes.Interface
	sources string
	// gate is the address that the first step of Stage dev waits for; closed has it wait.
	gate   string
	closed atomic.Bool
}

func newPipelined(t *testing.T) *pipelined {
	t.Helper()
	options := promote.Options{Told: true, Analyses: true}
	k := startKit(t, kit.Options{Serve: []string{"kargo", "argocd", "workflows"}, Dialects: dialects.With(dialects.Options{Promote: options})})
	client, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	p := &pipelined{t: t, kit: k, world: &world{kit: k, client: client}}
	if p.client, err = kubernetes.NewForConfig(k.Config); err != nil {
		t.Fatal(err)
	}
	for _, repo := range []string{"sources", "manifests"} {
		if err := k.Git.CreateRepo(t.Context(), repo); err != nil {
			t.Fatal(err)
		}
	}
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if p.closed.Load() {
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(gate.Close)
	p.gate = gate.URL
	p.sources = k.Git.URL("sources")
	p.commit(p.sources, "version", "1")
	p.commit(k.Git.URL("manifests"), "dev/settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata:\n  revision: none\n")
	return p
}

// commit pushes a file, and returns the commit.
func (p *pipelined) commit(url, name, content string) string {
	p.t.Helper()
	dir := p.t.TempDir()
	git := func(arguments ...string) string {
		cmd := exec.CommandContext(p.t.Context(), "git", arguments...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			p.t.Fatalf("git %s: %v: %s", arguments[0], err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("clone", "--quiet", strings.Replace(url, "://", "://"+kit.User+":"+kit.Token+"@", 1), ".")
	git("checkout", "--quiet", "-B", "main")
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
	git("add", ".")
	git("commit", "--quiet", "-m", "content")
	git("push", "--quiet", "origin", "main")
	return git("rev-parse", "HEAD")
}

func (p *pipelined) put(manifests string) {
	p.t.Helper()
	base := p.kit.Git.Base()
	for _, one := range strings.Split(fmt.Sprintf(manifests, base, p.kit.Git.URL("manifests"), kit.User, kit.Token, p.sources, p.gate), "---\n") {
		one, _, _ = strings.Cut(one, "%!(EXTRA")
		if err := p.world.put(one); err != nil {
			p.t.Fatal(err)
		}
	}
}

// list are the objects of a kind in the Project, as they are now.
func (p *pipelined) list(resource string) []unstructured.Unstructured {
	p.t.Helper()
	list, err := p.world.client.Resource(v1alpha1.GroupVersion.WithResource(resource)).Namespace("shop").List(p.t.Context(), metav1.ListOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	return list.Items
}

// promoted waits until a Promotion of a Stage ends, which is not among those before, and returns its phase and its message.
func (p *pipelined) promoted(stage string, before map[string]bool) (phase, message string) {
	p.t.Helper()
	eventually(p.t, "a Promotion of "+stage+" ends", func() (bool, string) {
		var said []any
		for _, u := range p.list("promotions") {
			of, _, _ := unstructured.NestedString(u.Object, "spec", "stage")
			phase, _, _ = unstructured.NestedString(u.Object, "status", "phase")
			message, _, _ = unstructured.NestedString(u.Object, "status", "message")
			if of == stage && !before[u.GetName()] && phase != "" && phase != "Pending" && phase != "Running" {
				return true, ""
			}
			said = append(said, u.GetName(), u.Object["status"])
		}
		for _, u := range append(p.list("warehouses"), p.list("stages")...) {
			said = append(said, u.GetName(), u.Object["status"])
		}
		return false, fmt.Sprint(said...)
	})
	return phase, message
}

// runs waits until the cluster has what a revision of the sources became.
func (p *pipelined) runs(revision string) {
	p.t.Helper()
	eventually(p.t, "the Application is at "+revision, func() (bool, string) {
		c, err := p.client.CoreV1().ConfigMaps("shop-dev").Get(p.t.Context(), "settings", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return c.Data["revision"] == revision, c.Data["revision"]
	})
}

// stands waits until a Stage is healthy, and a Freight says that it is verified there.
func (p *pipelined) stands(stage, freight string) {
	p.t.Helper()
	eventually(p.t, "Stage "+stage+" is ready", func() (bool, string) {
		u, err := p.world.client.Resource(v1alpha1.GroupVersion.WithResource("stages")).Namespace("shop").Get(p.t.Context(), stage, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, item := range conditions {
			if c, _ := item.(map[string]any); c["type"] == "Ready" && c["status"] == "True" {
				return true, ""
			}
		}
		return false, fmt.Sprint(conditions)
	})
	eventually(p.t, "the Freight is verified in "+stage, func() (bool, string) {
		u, err := p.world.client.Resource(v1alpha1.GroupVersion.WithResource("freights")).Namespace("shop").Get(p.t.Context(), freight, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		_, verified, _ := unstructured.NestedMap(u.Object, "status", "verifiedIn", stage)
		return verified, fmt.Sprint(u.Object["status"])
	})
}

// TestPromotions has a commit become Freight, which is promoted by a commit to another repository and by the sync of an Application, again for the
// next commit and after a restart; an Application that has not authorized a Stage is refused.
func TestPromotions(t *testing.T) {
	t.Parallel()
	p := newPipelined(t)
	p.put(pipelineProject)
	eventually(t, "the namespace of the Project is there", func() (bool, string) {
		ns, err := p.client.CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{})
		return err == nil && ns.Labels[v1alpha1.ProjectLabel] == "true", fmt.Sprint(err)
	})
	p.put(pipelineObjects)
	if phase, message := p.promoted("dev", nil); phase != "Succeeded" {
		t.Fatalf("the Promotion ended %s: %s", phase, message)
	}
	first := p.list("freights")
	if len(first) != 1 || first[0].GetLabels()[v1alpha1.AliasLabel] == "" {
		t.Fatalf("there is Freight %v", first)
	}
	commits, _, _ := unstructured.NestedSlice(first[0].Object, "commits")
	commit, _ := commits[0].(map[string]any)
	p.runs(fmt.Sprint(commit["id"]))
	p.stands("dev", first[0].GetName())
	t.Run("unauthorized", func(t *testing.T) {
		p.promotes(t, "prod", first[0].GetName())
		if phase, message := p.promoted("prod", nil); phase != "Failed" || !strings.Contains(message, v1alpha1.AuthorizedStageAnnotation) || strings.Contains(message, "foreign") {
			t.Errorf("the Promotion ended %s: %s", phase, message)
		}
	})
	t.Run("next", func(t *testing.T) { p.runs(p.commit(p.sources, "version", "2")) })
	t.Run("superseded", func(t *testing.T) { p.superseded(t) })
	t.Run("ill", func(t *testing.T) { p.stops(t, first[0].GetName()) })
	t.Run("restarted", func(t *testing.T) {
		p.closed.Store(true)
		next := p.commit(p.sources, "version", "3")
		running := func() (bool, string) {
			for _, u := range p.list("promotions") {
				if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); phase == "Running" {
					return true, ""
				}
			}
			return false, ""
		}
		eventually(t, "a Promotion runs", running)
		p.kit.StopEngine()
		if still, _ := running(); !still {
			t.Fatal("the Promotion ended before the engine did: nothing is left to continue")
		}
		p.closed.Store(false)
		if err := p.kit.StartEngine(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.runs(next)
	})
	t.Run("older", func(t *testing.T) {
		before := map[string]bool{}
		for _, u := range p.list("promotions") {
			before[u.GetName()] = true
		}
		p.promotes(t, "dev", first[0].GetName())
		if phase, message := p.promoted("dev", before); phase != "Succeeded" {
			t.Fatalf("the Promotion ended %s: %s", phase, message)
		}
		p.runs(fmt.Sprint(commit["id"]))
	})
}

// promotes has a person promote a Freight to a Stage.
func (p *pipelined) promotes(t *testing.T, stage, freight string) {
	t.Helper()
	p.promotesAs(t, stage, freight, stage+".by-hand")
}

// promotesAs is promotes with the name of the Promotion.
func (p *pipelined) promotesAs(t *testing.T, stage, freight, name string) {
	t.Helper()
	u, err := p.world.client.Resource(v1alpha1.GroupVersion.WithResource("stages")).Namespace("shop").Get(t.Context(), stage, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	steps, _, _ := unstructured.NestedSlice(u.Object, "spec", "promotionTemplate", "spec", "steps")
	vars, _, _ := unstructured.NestedSlice(u.Object, "spec", "promotionTemplate", "spec", "vars")
	for i := range steps {
		if step, _ := steps[i].(map[string]any); step["as"] == nil {
			step["as"] = fmt.Sprintf("step-%d", i)
		}
	}
	spec := map[string]any{"stage": stage, "freight": freight, "steps": steps}
	if vars != nil {
		spec["vars"] = vars
	}
	text := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Promotion", "metadata": map[string]any{"name": name, "namespace": "shop"}, "spec": spec,
	}}
	data, err := text.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.world.client.Resource(v1alpha1.GroupVersion.WithResource("promotions")).Namespace("shop").Patch(t.Context(), name, types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: "person"}); err != nil {
		t.Fatal(err)
	}
}
