package scenario

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/kit"
)

// pipelineFaults are pipelines of which each has something that is wrong, beside one that is not. Formats: the repository of sources, a server of HTTP, a
// registry without a scheme.
const pipelineFaults = `apiVersion: v1
kind: Secret
metadata: {name: git, namespace: shop, labels: {kargo.akuity.io/cred-type: git}}
stringData: {repoURL: %[1]q, username: %[4]q, password: %[5]q}
---
apiVersion: v1
kind: Secret
metadata: {name: hook, namespace: shop}
stringData: {secret: s3cret-token}
---
apiVersion: v1
kind: Secret
metadata: {name: api, namespace: shop, labels: {kargo.akuity.io/cred-type: generic}}
stringData: {token: s3cret-of-the-api}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: ProjectConfig
metadata: {name: shop, namespace: shop}
spec:
  promotionPolicies: [{stageSelector: {name: "glob:auto-*"}, autoPromotionEnabled: true}]
  webhookReceivers:
  - {name: gitea, gitea: {secretRef: {name: hook}}}
  - {name: nothing, github: {secretRef: {name: missing}}}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Warehouse
metadata: {name: source, namespace: shop}
spec:
  interval: 1h
  subscriptions: [{git: {repoURL: %[1]q, branch: main}}]
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Warehouse
metadata: {name: twin, namespace: shop}
spec:
  interval: 1h
  subscriptions: [{git: {repoURL: %[1]q, branch: main}}]
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Warehouse
metadata: {name: limited, namespace: shop}
spec:
  interval: 1s
  subscriptions: [{image: {repoURL: %[3]q}}]
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: auto-http, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {direct: true}}]
  promotionTemplate:
    spec:
      steps:
      - uses: http
        as: call
        config:
          url: %[2]q
          headers: [{name: Authorization, value: "${{ secret('api').token }}"}]
          successExpression: response.status == 200
          outputs: [{name: said, fromExpression: response.body}]
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: twins, namespace: shop}
spec:
  requestedFreight:
  - {origin: {kind: Warehouse, name: source}, sources: {direct: true}}
  - {origin: {kind: Warehouse, name: twin}, sources: {direct: true}}
  promotionTemplate:
    spec: {steps: [{uses: http, config: {url: "%[2]s?commit=${{ commitFrom('%[1]s').ID }}"}}]}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: unknown, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {direct: true}}]
  promotionTemplate: {spec: {steps: [{uses: make-coffee}]}}
---
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: smoke, namespace: shop}
spec:
  args: [{name: address}, {name: token, valueFrom: {secretKeyRef: {name: api, key: token}}}]
  metrics:
  - name: answers
    successCondition: result.verified
    provider: {web: {url: "{{args.address}}/verify", headers: [{key: Authorization, value: "{{args.token}}"}]}}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: checked, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {direct: true}}]
  promotionTemplate: {spec: {steps: [{uses: http, config: {url: %[2]q}}]}}
  verification: {analysisTemplates: [{name: smoke}], args: [{name: address, value: "%[2]s"}]}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: unchecked, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {direct: true}}]
  promotionTemplate: {spec: {steps: [{uses: http, config: {url: %[2]q}}]}}
  verification: {analysisTemplates: [{name: missing}]}
---
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: after, namespace: shop}
spec:
  requestedFreight: [{origin: {kind: Warehouse, name: source}, sources: {stages: [checked]}}]
  promotionTemplate: {spec: {steps: [{uses: http, config: {url: %[2]q}}]}}
`

// TestPipelineFaults has what is wrong in a pipeline named, while the rest goes on: a registry that limits requests, Freight of one repository from two
// Warehouses, an unknown step, a receiver without its Secret. A webhook starts a search; a Promotion is aborted; no value of a Secret is in a status.
func TestPipelineFaults(t *testing.T) {
	t.Parallel()
	p := newPipelined(t)
	var ready, verified atomic.Bool
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/verify") {
			fmt.Fprintf(w, `{"verified": %v}`, verified.Load() && r.Header.Get("Authorization") == "s3cret-of-the-api")
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		if !ready.Load() {
			w.WriteHeader(http.StatusAccepted)
		}
		fmt.Fprint(w, "hello "+r.Header.Get("Authorization"))
	}))
	t.Cleanup(api.Close)
	var asked atomic.Int32
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(registry.Close)
	p.put(pipelineProject)
	eventually(t, "the namespace of the Project is there", func() (bool, string) {
		_, err := p.client.CoreV1().Namespaces().Get(t.Context(), "shop", metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
	for one := range strings.SplitSeq(fmt.Sprintf(pipelineFaults, p.sources, api.URL+"/call", strings.TrimPrefix(registry.URL, "http://")+"/shop", kit.User, kit.Token), "---\n") {
		if err := p.world.put(one); err != nil {
			t.Fatal(err)
		}
	}
	var first string
	eventually(t, "there is Freight of both Warehouses", func() (bool, string) {
		freight := p.list("freights")
		for _, f := range freight {
			if origin, _, _ := unstructured.NestedString(f.Object, "origin", "name"); origin == "source" {
				first = f.GetName()
			}
		}
		return len(freight) == 2, fmt.Sprint(len(freight))
	})
	t.Run("limited", func(t *testing.T) {
		says(t, p, "warehouses", "limited", "Ready", "limits the rate of requests")
		before := asked.Load()
		p.annotate(t, "warehouses", "limited", v1alpha1.RefreshAnnotation, "now")
		p.annotate(t, "warehouses", "limited", v1alpha1.RefreshAnnotation, "again")
		// Another Warehouse answers in the meantime.
		p.annotate(t, "warehouses", "twin", v1alpha1.RefreshAnnotation, "now")
		eventually(t, "the other Warehouse was searched", func() (bool, string) {
			for _, w := range p.list("warehouses") {
				if handled, _, _ := unstructured.NestedString(w.Object, "status", "lastHandledRefresh"); w.GetName() == "twin" && handled == "now" {
					return true, ""
				}
			}
			return false, ""
		})
		if after := asked.Load(); after != before {
			t.Errorf("the registry was asked %d times in spite of its limit", after-before)
		}
	})
	t.Run("receivers", func(t *testing.T) { p.receives(t) })
	t.Run("aborted", func(t *testing.T) {
		name := p.running(t, "auto-http")
		p.ends(t, "auto-http", 0, "Promotion shop/"+name+" ended Aborted: the Promotion was aborted by ")
		p.ends(t, "after", 1, "no Promotion is in progress")
		eventually(t, "the Promotion is aborted", func() (bool, string) {
			u, err := p.world.client.Resource(v1alpha1.GroupVersion.WithResource("promotions")).Namespace("shop").Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
			return phase == "Aborted", fmt.Sprint(u.Object["status"])
		})
	})
	t.Run("twins", func(t *testing.T) {
		p.promotes(t, "twins", first)
		if phase, message := p.promoted("twins", nil); phase != "Succeeded" {
			t.Errorf("the Promotion of one ended %s: %s", phase, message)
		}
		for _, f := range p.list("freights") {
			if origin, _, _ := unstructured.NestedString(f.Object, "origin", "name"); origin == "twin" {
				before := map[string]bool{}
				for _, u := range p.list("promotions") {
					before[u.GetName()] = true
				}
				p.promotesAs(t, "twins", f.GetName(), "twins.second")
				if phase, message := p.promoted("twins", before); phase != "Errored" || !strings.Contains(message, "warehouse(") {
					t.Errorf("the Promotion of both ended %s: %s", phase, message)
				}
				break
			}
		}
	})
	t.Run("unknown", func(t *testing.T) {
		p.promotes(t, "unknown", first)
		if phase, message := p.promoted("unknown", nil); phase != "Errored" || !strings.Contains(message, `step "make-coffee" is not supported`) {
			t.Errorf("the Promotion ended %s: %s", phase, message)
		}
	})
	t.Run("verified", func(t *testing.T) { p.verifies(t, first, &verified) })
	t.Run("refused", func(t *testing.T) { p.refused(t, first) })
	t.Run("measured", func(t *testing.T) { p.measured(t, first, api.URL+"/call") })
	t.Run("secret", func(t *testing.T) {
		ready.Store(true)
		p.promotesAs(t, "auto-http", first, "auto-http.by-hand")
		eventually(t, "the Promotion has called", func() (bool, string) {
			for _, u := range p.list("promotions") {
				phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
				if u.GetName() == "auto-http.by-hand" {
					return phase == "Succeeded", fmt.Sprint(u.Object["status"])
				}
			}
			return false, "there is none"
		})
		for _, resource := range []string{"promotions", "stages", "freights", "warehouses", "projectconfigs"} {
			for _, u := range p.list(resource) {
				data, err := u.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				if text := string(data); strings.Contains(text, "s3cret") {
					t.Errorf("%s %s has the value of a Secret: %s", resource, u.GetName(), text)
				}
			}
		}
	})
}

// verifies has Freight verified by an analysis that fails at first, and is repeated on request.
func (p *pipelined) verifies(t *testing.T, freight string, ready *atomic.Bool) {
	p.promotes(t, "unchecked", freight)
	says(t, p, "stages", "unchecked", "Verified", `there is no AnalysisTemplate "missing"`)
	p.promotes(t, "checked", freight)
	says(t, p, "stages", "checked", "Verified", `metric "answers" assessed Failed`)
	p.promotes(t, "after", freight)
	if phase, message := p.promoted("after", nil); phase != "Errored" || !strings.Contains(message, "is not verified in Stage") {
		t.Errorf("without a verification the Promotion ended %s: %s", phase, message)
	}
	ready.Store(true)
	for _, s := range p.list("stages") {
		if s.GetName() == "checked" {
			p.annotate(t, "stages", "checked", v1alpha1.ReverifyAnnotation, verificationOf(&s))
		}
	}
	p.stands("checked", freight)
	p.promotesAs(t, "after", freight, "after.again")
	p.stands("after", freight)
	runs := schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "analysisruns"}
	all, err := p.world.client.Resource(runs).Namespace("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	phases := map[string]int{}
	for _, u := range all.Items {
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		phases[phase]++
		if text := fmt.Sprint(u.Object); strings.Contains(text, "s3cret") {
			t.Errorf("AnalysisRun %s has the value of a Secret: %s", u.GetName(), text)
		}
	}
	if phases["Failed"] != 1 || phases["Successful"] != 1 || len(all.Items) != 2 {
		t.Errorf("the AnalysisRuns are %v", phases)
	}
}

// says waits until a condition has a message.
func says(t *testing.T, p *pipelined, resource, name, kind, message string) {
	t.Helper()
	eventually(t, name+" says "+message, func() (bool, string) {
		u, err := p.world.client.Resource(v1alpha1.GroupVersion.WithResource(resource)).Namespace("shop").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, item := range conditions {
			if c, _ := item.(map[string]any); c["type"] == kind && strings.Contains(fmt.Sprint(c["message"]), message) {
				return true, ""
			}
		}
		return false, fmt.Sprint(conditions)
	})
}

func (p *pipelined) annotate(t *testing.T, resource, name, key, value string) {
	t.Helper()
	change := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
	_, err := p.world.client.Resource(v1alpha1.GroupVersion.WithResource(resource)).Namespace("shop").Patch(t.Context(), name, types.MergePatchType, []byte(change), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// running waits until a Promotion of a Stage is in progress, and returns its name.
func (p *pipelined) running(t *testing.T, stage string) string {
	t.Helper()
	name := ""
	eventually(t, "a Promotion of "+stage+" is in progress", func() (bool, string) {
		for _, u := range p.list("promotions") {
			of, _, _ := unstructured.NestedString(u.Object, "spec", "stage")
			phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
			if name = u.GetName(); of == stage && phase == "Running" {
				return true, ""
			}
		}
		return false, fmt.Sprint(p.list("stages"))
	})
	return name
}

// receives has a push reported by a webhook searched at once; the receiver whose Secret is missing is named.
func (p *pipelined) receives(t *testing.T) {
	says(t, p, "projectconfigs", "shop", "Ready", `Secret "shop/missing" does not exist`)
	var path string
	eventually(t, "the receiver listens", func() (bool, string) {
		for _, c := range p.list("projectconfigs") {
			receivers, _, _ := unstructured.NestedSlice(c.Object, "status", "webhookReceivers")
			for _, item := range receivers {
				if r, _ := item.(map[string]any); r["name"] == "gitea" {
					path = fmt.Sprint(r["path"])
				}
			}
		}
		return path != "", ""
	})
	hooks := httptest.NewServer(p.kit.Engine.Hooks())
	t.Cleanup(hooks.Close)
	commit := p.commit(p.sources, "version", "2")
	body := fmt.Sprintf(`{"repository":{"clone_url":%q}}`, p.sources)
	post := func(path, token string) int {
		t.Helper()
		mac := hmac.New(sha256.New, []byte(token))
		_, _ = io.WriteString(mac, body)
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, hooks.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("X-Gitea-Event", "push")
		q.Header.Set("X-Gitea-Signature", hex.EncodeToString(mac.Sum(nil)))
		response, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	if got := post(path, "wrong"); got != http.StatusBadRequest {
		t.Errorf("a request that is not signed: status %d", got)
	}
	if got := post(path+"0", "s3cret-token"); got != http.StatusNotFound {
		t.Errorf("a request to nobody: status %d", got)
	}
	if got := post(path, "s3cret-token"); got != http.StatusOK {
		t.Errorf("a request: status %d", got)
	}
	eventually(t, "the commit is Freight", func() (bool, string) {
		for _, f := range p.list("freights") {
			commits, _, _ := unstructured.NestedSlice(f.Object, "commits")
			for _, item := range commits {
				if c, _ := item.(map[string]any); c["id"] == commit {
					return true, ""
				}
			}
		}
		return false, ""
	})
}
