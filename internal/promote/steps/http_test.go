package steps

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// TestHTTP makes requests whose responses are a success, a failure, or neither yet.
func TestHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"state": %q, "method": %q, "header": %q, "items": [1, 2]}`, r.URL.Query().Get("state"), r.Method, r.Header.Get("X-Token"))
		case "/yaml":
			w.Header().Set("Content-Type", "application/yaml")
			fmt.Fprint(w, "version: '2.0'\n")
		case "/text":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "hello")
		case "/large":
			fmt.Fprint(w, strings.Repeat("x", maxResponse+1))
		case "/broken":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{s3cret")
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message": "no such thing", "other": "s3cret"}`)
		}
	}))
	t.Cleanup(server.Close)
	f := &forge{runner: &Runner{HTTP: server.Client()}}
	for name, c := range map[string]struct {
		config  string
		status  string
		final   bool
		message string
		outputs map[string]any
	}{
		"Success": {
			config:  `{"url": "URL/json", "method": "POST", "queryParams": [{"name": "state", "value": "a b"}], "headers": [{"name": "X-Token", "value": "t"}], "outputs": [{"name": "status", "fromExpression": "response.status"}, {"name": "second", "fromExpression": "response.body.items[1]"}, {"name": "all", "fromExpression": "response.body.state + response.body.method + response.body.header"}, {"name": "kind", "fromExpression": "response.header('content-type')"}]}`,
			status:  plan.StepSucceeded,
			outputs: map[string]any{"status": 200, "second": float64(2), "all": "a bPOSTt", "kind": "application/json"},
		},
		"YAML":               {config: `{"url": "URL/yaml", "outputs": [{"name": "v", "fromExpression": "response.body.version"}]}`, status: plan.StepSucceeded, outputs: map[string]any{"v": "2.0"}},
		"Text":               {config: `{"url": "URL/text", "outputs": [{"name": "v", "fromExpression": "response.body"}]}`, status: plan.StepSucceeded, outputs: map[string]any{"v": "hello"}},
		"Another status":     {config: `{"url": "URL/none"}`, status: plan.StepErrored, message: "404 Not Found"},
		"Not yet":            {config: `{"url": "URL/json", "successExpression": "response.body.state == 'done'"}`, status: plan.StepRunning, message: "neither a success nor a failure yet"},
		"By expression":      {config: `{"url": "URL/none", "successExpression": "response.status == 404"}`, status: plan.StepSucceeded, outputs: map[string]any{}},
		"Failure":            {config: `{"url": "URL/none", "failureExpression": "response.status == 404", "errorExpression": "response.body.message"}`, status: plan.StepFailed, final: true, message: "failureExpression: no such thing"},
		"Failure goes first": {config: `{"url": "URL/json", "failureExpression": "true", "successExpression": "true"}`, status: plan.StepFailed, final: true, message: "is a failure"},
		"No truth":           {config: `{"url": "URL/json", "successExpression": "response.status"}`, status: plan.StepFailed, final: true, message: "successExpression: it gives a int"},
		"Too large":          {config: `{"url": "URL/large"}`, status: plan.StepFailed, final: true, message: "more than"},
		"Not JSON":           {config: `{"url": "URL/broken"}`, status: plan.StepFailed, final: true, message: "is not JSON"},
		"Not an address":     {config: `{"url": "file:///etc/passwd"}`, status: plan.StepFailed, final: true, message: "url: want"},
		"Proxy":              {config: `{"url": "URL/json", "proxy": "http://proxy"}`, status: plan.StepFailed, final: true, message: "proxy:"},
		"Any certificate":    {config: `{"url": "URL/json", "insecureSkipTLSVerify": true}`, status: plan.StepFailed, final: true, message: "insecureSkipTLSVerify:"},
		"Nobody there":       {config: `{"url": "http://127.0.0.1:1/?token=s3cret"}`, status: plan.StepErrored, message: "sending a request to 127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			result := f.try(t, f.work(t, "shop"), "http", strings.ReplaceAll(c.config, "URL", server.URL))
			if result.Status != c.status || result.Terminal != c.final || !strings.Contains(result.Message, c.message) || strings.Contains(result.Message, "s3cret") {
				t.Errorf("the step is %s (%v): %s", result.Status, result.Terminal, result.Message)
			}
			if diff := cmp.Diff(c.outputs, result.Output); c.outputs != nil && diff != "" {
				t.Errorf("outputs:\n%s", diff)
			}
			if result.Status == plan.StepRunning && result.Again != defaultPoll {
				t.Errorf("it asks to be tried again after %s", result.Again)
			}
		})
	}
}

// TestPulls opens a pull request once, however often it is attempted, and waits until that is merged or closed.
func TestPulls(t *testing.T) {
	for _, provider := range []string{"github", "gitea", "gitlab"} {
		t.Run(provider, func(t *testing.T) {
			f := serve(t)
			api := &pulls{t: t, provider: provider}
			front := api.before(f.server.Base())
			t.Cleanup(front.Close)
			f.runner.HTTP = front.Client()
			f.allow(front.URL)
			url := strings.Replace(f.url, f.server.Base(), front.URL, 1)
			w := f.work(t, "pull")
			open := fmt.Sprintf(`{"repoURL": %q, "provider": %q, "sourceBranch": "promotion", "targetBranch": "stage/dev", "createTargetBranch": true, "labels": ["promotion"]}`, url, provider)
			if result := f.try(t, w, "git-open-pr", open); result.Status != plan.StepFailed || !strings.Contains(result.Message, `no branch "promotion"`) {
				t.Fatalf("without a branch it is %s: %s", result.Status, result.Message)
			}
			w = f.run(t, w, "git-clone", clone(url, "main", false))
			put(t, w, "repo/new", "content\n")
			w = f.run(t, w, "git-commit", `{"path": "repo", "message": "new"}`)
			w = f.run(t, w, "git-push", `{"path": "repo", "targetBranch": "promotion"}`)
			for range 2 {
				result := f.try(t, w, "git-open-pr", open)
				pr, _ := result.Output["pr"].(map[string]any)
				if result.Status != plan.StepSucceeded || fmt.Sprint(pr["id"]) != "7" || !strings.HasSuffix(fmt.Sprint(pr["url"]), "/7") {
					t.Fatalf("it is %s: %s %v", result.Status, result.Message, result.Output)
				}
			}
			if api.opened != 1 || api.source != "promotion" || api.target != "stage/dev" || !strings.Contains(api.labels, "promotion") {
				t.Errorf("opened %d times, from %q to %q with %q", api.opened, api.source, api.target, api.labels)
			}
			wait := fmt.Sprintf(`{"repoURL": %q, "provider": %q, "prNumber": 7}`, url, provider)
			if result := f.try(t, w, "git-wait-for-pr", wait); result.Status != plan.StepRunning || !strings.Contains(result.Message, "merged or closed") {
				t.Errorf("while it is open it is %s: %s", result.Status, result.Message)
			}
			api.state = "closed"
			if result := f.try(t, w, "git-wait-for-pr", wait); result.Status != plan.StepFailed || !strings.Contains(result.Message, "was closed, and not merged") {
				t.Errorf("closed it is %s: %s", result.Status, result.Message)
			}
			api.state = "merged"
			if result := f.try(t, w, "git-wait-for-pr", wait); result.Status != plan.StepSucceeded || result.Output["commit"] != "c0ffee" {
				t.Errorf("merged it is %s: %s %v", result.Status, result.Message, result.Output)
			}
			w = f.run(t, w, "git-push", `{"path": "repo", "targetBranch": "same"}`)
			same := strings.Replace(open, `"stage/dev"`, `"same"`, 1)
			if result := f.try(t, w, "git-open-pr", same); result.Status != plan.StepSkipped {
				t.Errorf("without a difference it is %s: %s", result.Status, result.Message)
			}
			if result := f.try(t, w, "git-wait-for-pr", strings.Replace(wait, `"prNumber": 7`, `"prNumber": 8`, 1)); result.Status != plan.StepFailed || !strings.Contains(result.Message, "404") {
				t.Errorf("of none it is %s: %s", result.Status, result.Message)
			}
		})
	}
	f := serve(t)
	if result := f.try(t, f.work(t, "pull"), "git-wait-for-pr", fmt.Sprintf(`{"repoURL": %q, "prNumber": 7}`, f.url)); !strings.Contains(result.Message, "provider: it does not follow") {
		t.Errorf("without a provider it is %s: %s", result.Status, result.Message)
	}
}
