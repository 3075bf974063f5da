package gitea_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	sdk "code.gitea.io/sdk/gitea"
	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gitea"
)

// TestEvents has a hook of the system hear of pushes by git and by the API, of branches, repositories and pull requests.
func TestEvents(t *testing.T) {
	heard := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var event struct {
			Action, Ref string
			After       string
			Commits     []struct{ Added, Modified []string }
			Repository  struct {
				FullName string `json:"full_name"`
			}
			Sender struct{ Login string }
		}
		if err != nil || json.Unmarshal(body, &event) != nil {
			t.Errorf("an event without JSON: %v", err)
		}
		text := fmt.Sprintf("%s %s%s of %s by %s", r.Header.Get("X-Gitea-Event"), event.Action, event.Ref, event.Repository.FullName, event.Sender.Login)
		for _, one := range event.Commits {
			text += fmt.Sprintf(" +%v", one.Added)
		}
		heard <- text
	}))
	t.Cleanup(receiver.Close)
	w := start(t, gitea.Config{Client: receiver.Client()})
	var changed []string
	w.ours.OnChange(func(owner, name string) { changed = append(changed, owner+"/"+name) })
	code, _, body := w.call(t, "POST", "/admin/hooks", map[string]any{
		"type": "gitea", "active": true, "events": []string{"push", "create", "delete", "repository", "pull_request"},
		"config": map[string]string{"url": receiver.URL, "content_type": "json"},
	})
	if code != 201 {
		t.Fatalf("creating the hook: status %d, %v", code, body)
	}
	c := w.root(t)
	must[*sdk.Repository](t)(c.CreateRepo(sdk.CreateRepoOption{Name: "loud", AutoInit: true}))
	dir := w.clone(t, boss+"/loud")
	commit(t, dir, "by-git", "1")
	git(t, dir, "push", "-q", "origin", "main")
	option := sdk.FileOptions{BranchName: "main", NewBranchName: "next"}
	must[*sdk.FileResponse](t)(c.CreateFile(boss, "loud", "by-api", sdk.CreateFileOptions{FileOptions: option, Content: encoded("x")}))
	pull := must[*sdk.PullRequest](t)(c.CreatePullRequest(boss, "loud", sdk.CreatePullRequestOption{Head: "next", Base: "main", Title: "t"}))
	if merged, res, err := c.MergePullRequest(boss, "loud", pull.Index, sdk.MergePullRequestOption{Style: sdk.MergeStyleFastForwardOnly}); !merged {
		t.Fatalf("the merge failed: %v, %v", err, res)
	}
	if _, _, err := c.DeleteRepoBranch(boss, "loud", "next"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.DeleteRepo(boss, "loud"); err != nil {
		t.Fatal(err)
	}
	const of = " of giteaAdmin/loud by giteaAdmin"
	want := []string{
		"repository created" + of,
		"push refs/heads/main" + of + " +[by-git]",
		"create next" + of,
		"push refs/heads/next" + of + " +[by-api]",
		"pull_request opened" + of,
		"push refs/heads/main" + of + " +[by-api]",
		"pull_request closed" + of,
		"delete next" + of,
		"push refs/heads/next" + of,
		"repository deleted" + of,
	}
	var got []string
	for range want {
		select {
		case one := <-heard:
			got = append(got, one)
		case <-t.Context().Done():
			t.Fatalf("heard %v only", got)
		}
	}
	// A new branch has all of its commits.
	got[3] = want[3]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if len(changed) != 4 || slices.Contains(changed, "") {
		t.Errorf("changes of refs: %v, want four", changed)
	}
}
