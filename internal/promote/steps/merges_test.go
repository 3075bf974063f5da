package steps

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/gitea"
	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// serveGitea starts a Gitea with a repository whose branch change differs from main.
func serveGitea(t *testing.T) *forge {
	t.Helper()
	var handler atomic.Pointer[gitea.Server]
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.Load().ServeHTTP(w, r) }))
	t.Cleanup(front.Close)
	server, err := gitea.New(t.Context(), gitea.Config{Dir: filepath.Join(t.TempDir(), "state"), Root: front.URL, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.EnsureAdmin("kargo", "kargo@example.org", token); err != nil {
		t.Fatal(err)
	}
	handler.Store(server)
	f := &forge{url: front.URL + "/kargo/deploy.git", runner: &Runner{
		Login: func(context.Context, string) (Login, error) { return Login{Username: "kargo", Password: token}, nil }, HTTP: front.Client(),
	}}
	f.allow(front.URL)
	f.api(t, http.MethodPost, "/api/v1/user/repos", `{"name": "deploy", "auto_init": true, "default_branch": "main"}`)
	w := f.run(t, f.work(t, "seed"), "git-clone", clone(f.url, "main", false))
	put(t, w, "repo/change", "1")
	w = f.run(t, w, "git-commit", `{"path": "repo", "message": "Promote web\n\nFrom 1 to 2."}`)
	f.run(t, w, "git-push", `{"path": "repo", "targetBranch": "change"}`)
	return f
}

// api makes a request to the API of Gitea, which has to succeed.
func (f *forge) api(t *testing.T, verb, path, body string) map[string]any {
	t.Helper()
	base, _, _ := strings.Cut(f.url, "/kargo/")
	request, err := http.NewRequestWithContext(t.Context(), verb, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.SetBasicAuth("kargo", token)
	request.Header.Set("Content-Type", "application/json")
	response, err := f.runner.HTTP.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode > 299 {
		t.Fatalf("%s %s: %s: %s: %v", verb, path, response.Status, data, err)
	}
	var of map[string]any
	if len(bytes.TrimSpace(data)) > 0 {
		if err := json.Unmarshal(data, &of); err != nil {
			t.Fatal(err)
		}
	}
	return of
}

// opened opens the pull request of change, and gives its number.
func (f *forge) opened(t *testing.T, w Work) any {
	t.Helper()
	r := f.try(t, w, "git-open-pr", fmt.Sprintf(`{"repoURL": %q, "provider": "gitea", "sourceBranch": "change", "targetBranch": "main"}`, f.url))
	of, is := r.Output["pr"].(map[string]any)
	if r.Status != plan.StepSucceeded || !is {
		t.Fatalf("the pull request is %s: %s", r.Status, r.Message)
	}
	return of["id"]
}

func (f *forge) number(number any, more string) string {
	return fmt.Sprintf(`{"repoURL": %q, "provider": "gitea", "prNumber": %v%s}`, f.url, number, more)
}

func TestMerge(t *testing.T) {
	f := serveGitea(t)
	w := f.work(t, "p")
	first := f.opened(t, w)
	// The process ended before it recorded the pull request.
	if again := f.opened(t, w); again != first {
		t.Errorf("there are two pull requests: %v and %v", first, again)
	}
	one := f.api(t, http.MethodGet, fmt.Sprintf("/api/v1/repos/kargo/deploy/pulls/%v", first), "")
	if one["title"] != "Promote web" || one["body"] != "From 1 to 2." {
		t.Errorf("the pull request says %v: %v", one["title"], one["body"])
	}
	if waiting := f.try(t, w, "git-wait-for-pr", f.number(first, `, "pollInterval": "1m"`)); waiting.Status != plan.StepRunning || waiting.Again.Minutes() != 1 {
		t.Errorf("an open pull request is %s, again after %s: %s", waiting.Status, waiting.Again, waiting.Message)
	}
	merged := f.try(t, w, "git-merge-pr", f.number(first, ""))
	if merged.Status != plan.StepSucceeded || len(fmt.Sprint(merged.Output["commit"])) != 40 {
		t.Fatalf("merging is %s: %s", merged.Status, merged.Message)
	}
	for _, uses := range []string{"git-merge-pr", "git-wait-for-pr"} {
		if after := f.try(t, w, uses, f.number(first, "")); after.Status != plan.StepSucceeded || after.Output["commit"] != merged.Output["commit"] {
			t.Errorf("%s of what is merged is %s: %s, with %v", uses, after.Status, after.Message, after.Output)
		}
	}
	// It was merged before the process that opened it could record it.
	if after := f.opened(t, w); after != first {
		t.Errorf("what was merged has another pull request: %v", after)
	}
}

func TestMergeConflict(t *testing.T) {
	f := serveGitea(t)
	w := f.run(t, f.work(t, "other"), "git-clone", clone(f.url, "main", false))
	put(t, w, "repo/change", "other")
	w = f.run(t, w, "git-commit", `{"path": "repo", "message": "other"}`)
	f.run(t, w, "git-push", `{"path": "repo"}`)
	first := f.opened(t, w)
	if refused := f.try(t, w, "git-merge-pr", f.number(first, "")); refused.Status != plan.StepFailed || !strings.Contains(refused.Message, "cannot be merged") {
		t.Errorf("a conflict is %s: %s", refused.Status, refused.Message)
	}
	if waits := f.try(t, w, "git-merge-pr", f.number(first, `, "wait": true`)); waits.Status != plan.StepRunning || waits.Again == 0 {
		t.Errorf("a conflict that is waited for is %s: %s", waits.Status, waits.Message)
	}
	f.api(t, http.MethodPatch, fmt.Sprintf("/api/v1/repos/kargo/deploy/pulls/%v", first), `{"state": "closed"}`)
	for _, uses := range []string{"git-merge-pr", "git-wait-for-pr"} {
		if closed := f.try(t, w, uses, f.number(first, "")); closed.Status != plan.StepFailed || !closed.Terminal || !strings.Contains(closed.Message, "not merged") {
			t.Errorf("%s of a closed one is %s: %s", uses, closed.Status, closed.Message)
		}
	}
	if second := f.opened(t, w); second == first {
		t.Error("a closed pull request is taken for a new one")
	}
}

// TestForks has someone open a pull request of a branch of the same name in a fork.
func TestForks(t *testing.T) {
	for name, tc := range map[string]struct {
		api    pullAPI
		answer string
		want   int64
	}{
		"GitHub": {github{}, `[{"number": 9, "state": "open", "head": {"ref": "a", "repo": {"id": 2}}, "base": {"ref": "main", "repo": {"id": 1}}}]`, 0},
		"Gone":   {github{}, `[{"number": 9, "state": "open", "head": {"ref": "a", "repo": null}, "base": {"ref": "main", "repo": {"id": 1}}}]`, 0},
		"Ours":   {github{gitea: true}, `[{"number": 9, "state": "open", "head": {"ref": "a", "repo": {"id": 1}}, "base": {"ref": "main", "repo": {"id": 1}}}]`, 9},
		"Merged": {github{}, `[{"number": 9, "state": "closed", "merged_at": "2026-01-01T00:00:00Z", "head": {"ref": "a", "sha": "c0"}, "base": {"ref": "main"}}]`, 9},
		"Older":  {github{}, `[{"number": 9, "state": "closed", "merged_at": "2026-01-01T00:00:00Z", "head": {"ref": "a", "sha": "c1"}, "base": {"ref": "main"}}]`, 0},
		"Closed": {github{}, `[{"number": 9, "state": "closed", "merged_at": null, "head": {"ref": "a", "sha": "c0"}, "base": {"ref": "main"}}]`, 0},
		"GitLab": {gitlab{}, `[{"iid": 9, "state": "opened", "source_project_id": 2, "target_project_id": 1}]`, 0},
		"OursGL": {gitlab{}, `[{"iid": 9, "state": "merged", "sha": "c0", "source_project_id": 1, "target_project_id": 1}]`, 9},
	} {
		t.Run(name, func(t *testing.T) {
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if page := r.URL.Query().Get("page"); page != "" && page != "1" {
					_, _ = io.WriteString(w, "[]")
					return
				}
				_, _ = io.WriteString(w, tc.answer)
			}))
			defer front.Close()
			f := &pullServer{step: &step{runner: &Runner{HTTP: front.Client()}}, base: front.URL, path: "team/deploy"}
			found, err := tc.api.find(t.Context(), f, "a", "main", "c0")
			switch {
			case err != nil:
				t.Fatal(err)
			case found == nil && tc.want != 0 || found != nil && found.Number != tc.want:
				t.Errorf("found %+v, want number %d", found, tc.want)
			}
		})
	}
}
