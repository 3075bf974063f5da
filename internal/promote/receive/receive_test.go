package receive

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/webhook"
)

func receiver(t *testing.T, text string) Receiver {
	t.Helper()
	var declared v1alpha1.WebhookReceiver
	if err := yaml.UnmarshalStrict([]byte(text), &declared); err != nil {
		t.Fatal(err)
	}
	r, err := Of(declared)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// delivered has a request verified, as the server does it, and returns what was delivered.
func delivered(t *testing.T, r Receiver, headers map[string]string, body string) (webhook.Delivery, bool) {
	t.Helper()
	var got *webhook.Delivery
	handler := webhook.New(webhook.Config{Find: func(string) (webhook.Hook, bool) {
		return webhook.Hook{Name: "hook", Type: r.Sender, Token: "s3cret", Deliver: func(_ context.Context, d webhook.Delivery) error {
			got = &d
			return nil
		}}, true
	}})
	q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, r.Path("shop", "s3cret"), strings.NewReader(body))
	q.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		q.Header.Set(name, value)
	}
	handler.ServeHTTP(httptest.NewRecorder(), q)
	if got == nil {
		return webhook.Delivery{}, false
	}
	return *got, true
}

func signed(body string) string {
	mac := hmac.New(sha256.New, []byte("s3cret"))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

// TestRead has what platforms report verified, and read as repositories that subscriptions match.
func TestRead(t *testing.T) {
	git := func(url string) v1alpha1.RepoSubscription {
		return v1alpha1.RepoSubscription{Git: &v1alpha1.GitSubscription{RepoURL: url}}
	}
	image := func(url string) v1alpha1.RepoSubscription {
		return v1alpha1.RepoSubscription{Image: &v1alpha1.ImageSubscription{RepoURL: url}}
	}
	chart := func(url string) v1alpha1.RepoSubscription {
		return v1alpha1.RepoSubscription{Chart: &v1alpha1.ChartSubscription{RepoURL: url}}
	}
	hub := func(event string) func(body string) map[string]string {
		return func(body string) map[string]string {
			return map[string]string{"X-Github-Event": event, "X-Hub-Signature-256": "sha256=" + signed(body)}
		}
	}
	plain := func(pairs ...string) func(string) map[string]string {
		return func(string) map[string]string {
			headers := map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				headers[pairs[i]] = pairs[i+1]
			}
			return headers
		}
	}
	const secret = "{name: hook, %s: {secretRef: {name: s}}}"
	for name, c := range map[string]struct {
		kind    string
		declare string
		headers func(body string) map[string]string
		body    string
		yes, no []v1alpha1.RepoSubscription
	}{
		"GitHub push": {
			kind: "github", headers: hub("push"), body: `{"repository":{"clone_url":"https://github.com/Acme/Shop.git","ssh_url":"git@github.com:Acme/Shop.git"}}`,
			yes: []v1alpha1.RepoSubscription{git("https://github.com/acme/shop"), git("git@github.com:acme/shop.git")},
			no:  []v1alpha1.RepoSubscription{git("https://github.com/acme/shop2"), image("github.com/acme/shop")},
		},
		"GitHub ping": {kind: "github", headers: hub("ping"), body: `{"repository":{"clone_url":"https://github.com/a/b"}}`, no: []v1alpha1.RepoSubscription{git("https://github.com/a/b")}},
		"GitHub package": {
			kind: "github", headers: hub("package"), body: `{"action":"published","package":{"package_type":"CONTAINER","package_version":{"package_url":"ghcr.io/acme/shop:1.2"}}}`,
			yes: []v1alpha1.RepoSubscription{image("ghcr.io/acme/shop"), chart("oci://ghcr.io/acme/shop")}, no: []v1alpha1.RepoSubscription{image("ghcr.io/acme/cart")},
		},
		// Gitea's packages are "created", whatever kind of receiver takes them.
		"Gitea package to a GitHub receiver": {
			kind: "github", headers: hub("package"), body: `{"action":"created","package":{"type":"container","name":"team/shop","version":"1.2","owner":{"login":"Acme"},"html_url":"https://gitea.example.com:8443/Acme/-/packages/container/team%2Fshop/1.2"}}`,
			yes: []v1alpha1.RepoSubscription{image("gitea.example.com:8443/acme/team/shop")}, no: []v1alpha1.RepoSubscription{image("gitea.example.com:8443/acme/shop")},
		},
		"Gitea push": {
			kind: "gitea", headers: func(body string) map[string]string {
				return map[string]string{"X-Gitea-Event": "push", "X-Gitea-Signature": signed(body)}
			}, body: `{"repository":{"clone_url":"https://gitea.example.com/acme/shop.git"}}`,
			yes: []v1alpha1.RepoSubscription{git("https://gitea.example.com/acme/shop")},
		},
		"GitLab push": {
			kind: "gitlab", headers: plain("X-Gitlab-Token", "s3cret", "X-Gitlab-Event", "Push Hook"), body: `{"project":{"git_http_url":"https://gitlab.com/acme/shop.git","git_ssh_url":"git@gitlab.com:acme/shop.git"}}`,
			yes: []v1alpha1.RepoSubscription{git("https://gitlab.com/acme/shop")},
		},
		"Bitbucket push": {
			kind: "bitbucket", headers: func(body string) map[string]string {
				return map[string]string{"X-Event-Key": "repo:push", "X-Hub-Signature": "sha256=" + signed(body)}
			}, body: `{"repository":{"links":{"html":{"href":"https://bitbucket.org/acme/shop"}}}}`,
			yes: []v1alpha1.RepoSubscription{git("https://bitbucket.org/acme/shop.git"), git("git@bitbucket.org:acme/shop.git")},
		},
		"Docker Hub": {
			kind: "dockerhub", headers: plain(), body: `{"push_data":{"tag":"1"},"repository":{"repo_name":"acme/shop"}}`,
			yes: []v1alpha1.RepoSubscription{image("docker.io/acme/shop"), image("acme/shop")},
		},
		"Quay": {kind: "quay", headers: plain(), body: `{"docker_url":"quay.io/acme/shop","updated_tags":["1"]}`, yes: []v1alpha1.RepoSubscription{image("quay.io/acme/shop")}},
		"Harbor": {
			kind: "harbor", headers: plain("Authorization", "s3cret"), body: `{"type":"PUSH_ARTIFACT","event_data":{"resources":[{"resource_url":"harbor.example.com/acme/shop:1"}]}}`,
			yes: []v1alpha1.RepoSubscription{image("harbor.example.com/acme/shop")},
		},
		"Harbor's deletion": {
			kind: "harbor", headers: plain("Authorization", "s3cret"), body: `{"type":"DELETE_ARTIFACT","event_data":{"resources":[{"resource_url":"harbor.example.com/acme/shop:1"}]}}`,
			no: []v1alpha1.RepoSubscription{image("harbor.example.com/acme/shop")},
		},
		"Azure's registry": {
			kind: "azure", headers: plain(), body: `{"action":"push","target":{"repository":"shop","tag":"1"},"request":{"host":"acme.azurecr.io"}}`,
			yes: []v1alpha1.RepoSubscription{image("acme.azurecr.io/shop")},
		},
		"Azure DevOps": {
			kind: "azure", headers: plain(), body: `{"eventType":"git.push","resource":{"repository":{"remoteUrl":"https://dev.azure.com/acme/shop/_git/shop"}}}`,
			yes: []v1alpha1.RepoSubscription{git("https://dev.azure.com/acme/shop/_git/shop")},
		},
		"Artifactory": {
			kind: "artifactory", declare: "{name: hook, artifactory: {secretRef: {name: s}, virtualRepoName: docker}}",
			headers: func(body string) map[string]string { return map[string]string{"X-JFrog-Event-Auth": signed(body)} },
			body:    `{"domain":"docker","event_type":"pushed","jpd_origin":"https://jfrog.example.com","data":{"repo_key":"docker-local","image_name":"shop","tag":"1"}}`,
			yes:     []v1alpha1.RepoSubscription{image("jfrog.example.com/docker-local/shop"), image("jfrog.example.com/docker/shop")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			declare := c.declare
			if declare == "" {
				declare = strings.Replace(secret, "%s", c.kind, 1)
			}
			r := receiver(t, declare)
			if r.Kind != c.kind || !strings.HasPrefix(r.Path("shop", "s3cret"), "/webhooks/"+c.kind+"/") {
				t.Errorf("the receiver is %s at %s", r.Kind, r.Path("shop", "s3cret"))
			}
			d, verified := delivered(t, r, c.headers(c.body), c.body)
			if !verified {
				t.Fatal("the request is not let in")
			}
			pushed, err := r.Read(d)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range c.yes {
				if !pushed.Matches(s) {
					t.Errorf("%v does not match %v", pushed, s)
				}
			}
			for _, s := range c.no {
				if pushed.Matches(s) {
					t.Errorf("%v matches %v", pushed, s)
				}
			}
			if len(c.headers("")) > 0 && c.kind != "generic" {
				if _, verified := delivered(t, r, nil, c.body); verified {
					t.Error("a request without a proof is let in")
				}
			}
		})
	}
}

// TestPath has receivers listen where those of Kargo do. The vector is that of a real installation, whose repository is not a part of this one.
func TestPath(t *testing.T) {
	if got, want := receiver(t, "{name: hook, github: {secretRef: {name: s}}}").Path("shop", "s3cret"),
		"/webhooks/github/c94317ead4d44291142101fc3773b3e8719cbf48714bc49fb86c4fbcf4e298a0"; got != want {
		t.Errorf("the path is %s, want %s", got, want)
	}
	root := os.Getenv("STACKS_GOLDEN")
	if root == "" {
		t.Skip("STACKS_GOLDEN does not name the repository with the vector")
	}
	var config v1alpha1.ProjectConfig
	var secret corev1.Secret
	for file, into := range map[string]any{"ProjectConfig.kargo-pipelines.k8s.yaml": &config, "Secret.kargo-gitea-webhook-secret.k8s.yaml": &secret} {
		data, err := os.ReadFile(filepath.Join(root, "kargo-pipelines-project/manifests", file))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile(filepath.Join(root, "kargo-gitea-webhook-setup/manifests/ConfigMap.gitea-webhook-setup-script.k8s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Of(config.Spec.WebhookReceivers[0])
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`/webhooks/github/[0-9a-f]{64}`).FindString(string(script))
	if got := r.Path(config.Namespace, secret.StringData[r.Key]); got != want || want == "" {
		t.Errorf("the path is %s, want %s", got, want)
	}
}

// TestOf refuses receivers of no platform and of two.
func TestOf(t *testing.T) {
	one := &v1alpha1.SecretReceiver{SecretRef: corev1.LocalObjectReference{Name: "s"}}
	for _, declared := range []v1alpha1.WebhookReceiver{{Name: "none"}, {Name: "two", GitHub: one, Gitea: one}} {
		if r, err := Of(declared); err == nil {
			t.Errorf("%s: it is %s, want an error", declared.Name, r.Kind)
		}
	}
}

// TestSelects has a generic receiver refresh what its actions select.
func TestSelects(t *testing.T) {
	const target = `{name: hook, generic: {secretRef: {name: s}, actions: [{action: Refresh, whenExpression: "%s", targetSelectionCriteria: [%s]}]}}`
	warehouses := []*v1alpha1.Warehouse{
		{
			ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "a"}},
			Spec:       v1alpha1.WarehouseSpec{Subscriptions: []v1alpha1.RepoSubscription{{Git: &v1alpha1.GitSubscription{RepoURL: "https://github.com/acme/shop"}}}},
		},
		{
			ObjectMeta: metav1.ObjectMeta{Name: "cart", Labels: map[string]string{"team": "b"}},
			Spec:       v1alpha1.WarehouseSpec{Subscriptions: []v1alpha1.RepoSubscription{{Image: &v1alpha1.ImageSubscription{RepoURL: "ghcr.io/acme/cart"}}}},
		},
	}
	for name, c := range map[string]struct {
		when, criteria, fails string
		want                  []string
	}{
		"By name":                 {when: "true", criteria: `{kind: Warehouse, name: shop}`, want: []string{"shop"}},
		"By a name in the body":   {when: "request.body.event == 'push'", criteria: `{kind: Warehouse, name: '${{ request.body.warehouse }}'}`, want: []string{"cart"}},
		"By labels":               {when: "request.header('X-Team') == 'a'", criteria: `{kind: Warehouse, labelSelector: {matchLabels: {team: b}}}`, want: []string{"cart"}},
		"By what is subscribed":   {when: "true", criteria: `{kind: Warehouse, indexSelector: {matchIndices: [{key: subscribedURLs, operator: Equals, value: '${{ normalizeGit(request.body.url) }}'}]}}`, want: []string{"shop"}},
		"By what is not":          {when: "true", criteria: `{kind: Warehouse, indexSelector: {matchIndices: [{key: subscribedURLs, operator: NotEquals, value: 'https://github.com/acme/shop'}]}}`, want: []string{"cart"}},
		"Not then":                {when: "request.body.event == 'pull'", criteria: `{kind: Warehouse, name: shop}`},
		"No condition":            {when: "request.body.event", criteria: `{kind: Warehouse, name: shop}`, fails: "actions[0].whenExpression: it gives a string"},
		"A field that is missing": {when: "true", criteria: `{kind: Warehouse, name: '${{ nothing.here }}'}`, fails: "actions[0].targetSelectionCriteria[0].name:"},
	} {
		t.Run(name, func(t *testing.T) {
			r := receiver(t, strings.Replace(strings.Replace(target, "%s", c.when, 1), "%s", c.criteria, 1))
			d, verified := delivered(t, r, map[string]string{"X-Team": "a"}, `{"event":"push","warehouse":"cart","url":"https://GitHub.com/acme/shop.git"}`)
			if !verified {
				t.Fatal("the request is not let in")
			}
			found, err := r.Selects(d, warehouses, nil, time.Now())
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("the error is %v, want one that has %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, w := range found {
				names = append(names, w.Name)
			}
			if !slices.Equal(names, c.want) {
				t.Errorf("selected are %v, want %v", names, c.want)
			}
		})
	}
}
