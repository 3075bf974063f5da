package gitea_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"
	"github.com/google/go-cmp/cmp"
)

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// TestTokens is what idpbuilder does first: it deletes its token, creates it again, and uses it.
func TestTokens(t *testing.T) {
	w := anyServer(t)
	c := w.root(t)
	if version, _, err := c.ServerVersion(); err != nil || version == "" {
		t.Errorf("version %q, %v", version, err)
	}
	_, _ = c.DeleteAccessToken("admin")
	token := must[*sdk.AccessToken](t)(c.CreateAccessToken(sdk.CreateAccessTokenOption{Name: "admin", Scopes: []sdk.AccessTokenScope{"all"}}))
	if len(token.Token) != 40 || !strings.HasSuffix(token.Token, token.TokenLastEight) {
		t.Errorf("token %+v", token)
	}
	_, res, err := c.CreateAccessToken(sdk.CreateAccessTokenOption{Name: "admin", Scopes: []sdk.AccessTokenScope{"all"}})
	if err == nil {
		t.Error("a token was created twice")
	}
	status(t, "a second token", res, 400)
	by, err := sdk.NewClient(w.url, sdk.SetToken(token.Token))
	if err != nil {
		t.Fatal(err)
	}
	if me := must[*sdk.User](t)(by.GetMyUserInfo()); me.UserName != w.admin || !me.IsAdmin {
		t.Errorf("the token is that of %+v", me)
	}
	found := false
	for _, one := range must[[]*sdk.AccessToken](t)(c.ListAccessTokens(sdk.ListAccessTokensOptions{})) {
		found = found || one.ID == token.ID && one.Token == ""
	}
	if !found {
		t.Error("the token is not listed, or shown")
	}
	if _, err := c.DeleteAccessToken("admin"); err != nil {
		t.Fatal(err)
	}
	_, res, err = by.GetMyUserInfo()
	if err == nil {
		t.Error("a token that was deleted is valid")
	}
	status(t, "a token that was deleted", res, 401)
}

// TestScopes has a token do what its scopes say and no more.
func TestScopes(t *testing.T) {
	w := anyServer(t)
	w.fresh(t, "scoped")
	c := w.root(t)
	_, _ = c.DeleteAccessToken("reader")
	token := must[*sdk.AccessToken](t)(c.CreateAccessToken(sdk.CreateAccessTokenOption{Name: "reader", Scopes: []sdk.AccessTokenScope{"read:repository"}}))
	by, err := sdk.NewClient(w.url, sdk.SetToken(token.Token))
	if err != nil {
		t.Fatal(err)
	}
	must[*sdk.Repository](t)(by.GetRepo(w.admin, "scoped"))
	_, res, _ := by.CreateRepo(sdk.CreateRepoOption{Name: "more"})
	status(t, "creating a repository with a token that reads", res, 403)
	_, res, _ = by.ListAdminHooks(sdk.ListAdminHooksOptions{})
	status(t, "listing hooks of the system with a token that reads repositories", res, 403)
	dir := w.clone(t, w.admin+"/scoped")
	commit(t, dir, "a", "1")
	if out, err := tryGit(dir, "push", w.git(w.admin, token.Token, w.admin+"/scoped"), "main"); err == nil {
		t.Errorf("a token that reads has pushed: %s", out)
	}
}

func TestAccounts(t *testing.T) {
	w := anyServer(t)
	c := w.root(t)
	_, _ = c.DeleteOrg("crew")
	_, _ = c.AdminDeleteUser("ann")
	no := false
	ann := must[*sdk.User](t)(c.AdminCreateUser(sdk.CreateUserOption{Username: "ann", Email: "ann@example.com", Password: "ann-has-One-password", MustChangePassword: &no}))
	if ann.UserName != "ann" || ann.IsAdmin {
		t.Errorf("created %+v", ann)
	}
	email, password := "ann@example.com", "ann-has-Another-1"
	if _, err := c.AdminEditUser("ann", sdk.EditUserOption{LoginName: "ann", Email: &email, Password: password, MustChangePassword: &no}); err != nil {
		t.Fatal(err)
	}
	_, res, _ := w.client(t, "ann", "ann-has-One-password").GetMyUserInfo()
	status(t, "the password before", res, 401)
	must[*sdk.User](t)(w.client(t, "ann", password).GetMyUserInfo())
	_, res, _ = w.client(t, "ann", password).ListAdminHooks(sdk.ListAdminHooksOptions{})
	status(t, "hooks of the system for a user", res, 403)
	_, res, _ = c.GetUserInfo("none")
	status(t, "an unknown user", res, 404)

	org := must[*sdk.Organization](t)(c.CreateOrg(sdk.CreateOrgOption{Name: "crew"}))
	if org.Name != "crew" {
		t.Errorf("created %+v", org)
	}
	_, res, _ = c.CreateOrg(sdk.CreateOrgOption{Name: "Crew"})
	status(t, "an organization twice", res, 422)
	_, res, _ = w.client(t, "ann", password).CreateOrgRepo("crew", sdk.CreateRepoOption{Name: "app"})
	status(t, "a repository of another owner", res, 403)
	must[*sdk.Repository](t)(c.CreateOrgRepo("crew", sdk.CreateRepoOption{Name: "app", Private: true}))
	_, res, _ = w.client(t, "ann", password).GetRepo("crew", "app")
	status(t, "a private repository of another owner", res, 404)
	if _, err := c.DeleteRepo("CREW", "App"); err != nil {
		t.Error(err)
	}
	if _, err := c.DeleteOrg("crew"); err != nil {
		t.Error(err)
	}
	if _, err := c.AdminDeleteUser("ann"); err != nil {
		t.Error(err)
	}
}

func TestRepositories(t *testing.T) {
	w := anyServer(t)
	c := w.root(t)
	made := w.fresh(t, "listed-1")
	w.fresh(t, "listed-2")
	w.fresh(t, "listed-3")
	if made.FullName != w.admin+"/listed-1" || made.DefaultBranch != "main" || made.Empty || made.CloneURL == "" {
		t.Errorf("created %+v", made)
	}
	_, res, _ := c.CreateRepo(sdk.CreateRepoOption{Name: "Listed-1"})
	status(t, "a repository twice", res, 409)
	_, res, _ = c.CreateRepo(sdk.CreateRepoOption{Name: "../x"})
	status(t, "a name that is a path", res, 422)
	_, res, _ = c.GetRepo(w.admin, "none")
	status(t, "an unknown repository", res, 404)

	var names []string
	for at := 1; at != 0; {
		repositories, res, err := c.SearchRepos(sdk.SearchRepoOptions{Keyword: "listed-", ListOptions: sdk.ListOptions{Page: at, PageSize: 2}})
		if err != nil {
			t.Fatal(err)
		}
		if total := res.Header.Get("X-Total-Count"); total != "3" {
			t.Errorf("X-Total-Count %q, want 3", total)
		}
		for _, one := range repositories {
			names = append(names, one.Name)
		}
		at = res.NextPage
	}
	if diff := cmp.Diff([]string{"listed-1", "listed-2", "listed-3"}, names); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	private, description := true, "hidden"
	edited := must[*sdk.Repository](t)(c.EditRepo(w.admin, "listed-1", sdk.EditRepoOption{Private: &private, Description: &description}))
	if !edited.Private || edited.Description != "hidden" {
		t.Errorf("edited %+v", edited)
	}
	_, res, _ = w.client(t, "", "").GetRepo(w.admin, "listed-1")
	status(t, "a private repository for anyone", res, 404)
	must[*sdk.Repository](t)(w.client(t, "", "").GetRepo(strings.ToLower(w.admin), "LISTED-2"))
	_, res, _ = w.client(t, "", "").CreateRepo(sdk.CreateRepoOption{Name: "x"})
	status(t, "a repository for anyone", res, 401)
}

func TestContents(t *testing.T) {
	w := anyServer(t)
	w.fresh(t, "files")
	c := w.root(t)
	at := func(branch string) sdk.FileOptions { return sdk.FileOptions{BranchName: branch, Message: "change"} }
	made := must[*sdk.FileResponse](t)(c.CreateFile(w.admin, "files", "deploy/a b.yaml", sdk.CreateFileOptions{FileOptions: at("main"), Content: encoded("a: 1\n")}))
	if made.Content == nil || made.Commit == nil || made.Content.Path != "deploy/a b.yaml" {
		t.Fatalf("created %+v", made)
	}
	_, res, _ := c.CreateFile(w.admin, "files", "deploy/a b.yaml", sdk.CreateFileOptions{FileOptions: at("main"), Content: encoded("x")})
	status(t, "a file that exists", res, 422)
	_, res, _ = c.UpdateFile(w.admin, "files", "deploy/a b.yaml", sdk.UpdateFileOptions{FileOptions: at("main"), SHA: made.Commit.SHA, Content: encoded("x")})
	status(t, "a file that is another one", res, 422)
	changed := must[*sdk.FileResponse](t)(c.UpdateFile(w.admin, "files", "deploy/a b.yaml", sdk.UpdateFileOptions{FileOptions: at("main"), SHA: made.Content.SHA, Content: encoded("a: 2\n")}))
	got := must[*sdk.ContentsResponse](t)(c.GetContents(w.admin, "files", "main", "deploy/a b.yaml"))
	if got.Content == nil || *got.Content != encoded("a: 2\n") || got.SHA != changed.Content.SHA || got.Type != "file" {
		t.Errorf("read %+v", got)
	}
	if raw := must[[]byte](t)(c.GetFile(w.admin, "files", "main", "deploy/a b.yaml")); string(raw) != "a: 2\n" {
		t.Errorf("raw content %q", raw)
	}
	listed := must[[]*sdk.ContentsResponse](t)(c.ListContents(w.admin, "files", "main", ""))
	if len(listed) != 2 {
		t.Errorf("the root has %d entries, want the folder and README.md", len(listed))
	}
	_, res, _ = c.GetContents(w.admin, "files", "main", "none")
	status(t, "a file that there is not", res, 404)

	branch := sdk.CreateFileOptions{FileOptions: sdk.FileOptions{BranchName: "main", NewBranchName: "feature/x", Message: "m"}, Content: encoded("b")}
	must[*sdk.FileResponse](t)(c.CreateFile(w.admin, "files", "b", branch))
	if _, err := c.DeleteFile(w.admin, "files", "deploy/a b.yaml", sdk.DeleteFileOptions{FileOptions: at("feature/x"), SHA: got.SHA}); err != nil {
		t.Error(err)
	}
	var names []string
	for _, one := range must[[]*sdk.Branch](t)(c.ListRepoBranches(w.admin, "files", sdk.ListRepoBranchesOptions{})) {
		names = append(names, one.Name)
	}
	if len(names) != 2 {
		t.Errorf("branches %v, want main and feature/x", names)
	}
	must[*sdk.Branch](t)(c.GetRepoBranch(w.admin, "files", "feature/x"))
	must[*sdk.Branch](t)(c.CreateBranch(w.admin, "files", sdk.CreateBranchOption{BranchName: "other", OldBranchName: "feature/x"}))
	_, res, _ = c.CreateBranch(w.admin, "files", sdk.CreateBranchOption{BranchName: "other", OldBranchName: "main"})
	status(t, "a branch that exists", res, 409)
	_, res, _ = c.CreateBranch(w.admin, "files", sdk.CreateBranchOption{BranchName: "another", OldBranchName: "none"})
	status(t, "a branch of none", res, 404)
	if deleted, _, err := c.DeleteRepoBranch(w.admin, "files", "feature/x"); err != nil || !deleted {
		t.Errorf("deleting a branch: %v, %v", deleted, err)
	}
	_, res, _ = c.DeleteRepoBranch(w.admin, "files", "main")
	status(t, "deleting the default branch", res, 403)
	dir := w.clone(t, w.admin+"/files")
	if got := git(t, dir, "show", "HEAD:deploy/a b.yaml"); got != "a: 2" {
		t.Errorf("git reads %q", got)
	}
}

// TestPullRequests is what Kargo does: a branch, a pull request, a merge.
func TestPullRequests(t *testing.T) {
	w := anyServer(t)
	w.fresh(t, "pulled")
	c := w.root(t)
	file := func(name, content, from, onto string) string {
		made := must[*sdk.FileResponse](t)(c.CreateFile(w.admin, "pulled", name, sdk.CreateFileOptions{
			FileOptions: sdk.FileOptions{BranchName: from, NewBranchName: onto, Message: "m"}, Content: encoded(content),
		}))
		return made.Commit.SHA
	}
	head := file("one", "1", "main", "one")
	file("same", "from a branch", "main", "two")
	open := func(head string) (*sdk.PullRequest, *sdk.Response, error) {
		return c.CreatePullRequest(w.admin, "pulled", sdk.CreatePullRequestOption{Head: head, Base: "main", Title: "Promote " + head, Body: "b"})
	}
	one := must[*sdk.PullRequest](t)(open("one"))
	if one.State != sdk.StateOpen || one.Head.Sha != head || one.Base.Ref != "main" || one.HasMerged {
		t.Errorf("opened %+v", one)
	}
	_, res, _ := open("one")
	status(t, "a pull request twice", res, 409)
	_, res, _ = open("none")
	status(t, "a pull request of no branch", res, 404)
	two := must[*sdk.PullRequest](t)(open("two"))
	if listed := must[[]*sdk.PullRequest](t)(c.ListRepoPullRequests(w.admin, "pulled", sdk.ListPullRequestsOptions{State: sdk.StateOpen})); len(listed) != 2 {
		t.Errorf("listed %d pull requests, want 2", len(listed))
	}
	merge := func(index int64, o sdk.MergePullRequestOption) (bool, *sdk.Response) {
		var merged bool
		var res *sdk.Response
		// Gitea decides in the background whether there are conflicts, and answers 405 until then.
		for range 50 {
			merged, res, _ = c.MergePullRequest(w.admin, "pulled", index, o)
			if w.ours != nil || merged || res.StatusCode != 405 {
				break
			}
			must[*sdk.PullRequest](t)(c.GetPullRequest(w.admin, "pulled", index))
		}
		return merged, res
	}
	_, res = merge(one.Index, sdk.MergePullRequestOption{Style: sdk.MergeStyleMerge, HeadCommitId: strings.Repeat("0", 39) + "1"})
	status(t, "a merge of another head", res, 409)
	if merged, res := merge(one.Index, sdk.MergePullRequestOption{Style: sdk.MergeStyleMerge}); !merged {
		t.Fatalf("the merge failed with status %d", res.StatusCode)
	}
	done := must[*sdk.PullRequest](t)(c.GetPullRequest(w.admin, "pulled", one.Index))
	if !done.HasMerged || done.State != sdk.StateClosed || done.MergedCommitID == nil || done.MergedBy == nil {
		t.Fatalf("merged %+v", done)
	}
	if main := must[*sdk.Branch](t)(c.GetRepoBranch(w.admin, "pulled", "main")); main.Commit.ID != *done.MergedCommitID {
		t.Errorf("main is %s, want the merge %s", main.Commit.ID, *done.MergedCommitID)
	}
	_, res, _ = c.MergePullRequest(w.admin, "pulled", one.Index, sdk.MergePullRequestOption{Style: sdk.MergeStyleMerge})
	status(t, "a merge twice", res, 405)

	file("same", "from main", "main", "")
	if w.ours != nil {
		if two = must[*sdk.PullRequest](t)(c.GetPullRequest(w.admin, "pulled", two.Index)); two.Mergeable {
			t.Error("a pull request with conflicts is mergeable")
		}
		_, res = merge(two.Index, sdk.MergePullRequestOption{Style: sdk.MergeStyleSquash})
		status(t, "a merge with conflicts", res, 409)
	}
	closed := sdk.StateClosed
	if two = must[*sdk.PullRequest](t)(c.EditPullRequest(w.admin, "pulled", two.Index, sdk.EditPullRequestOption{State: &closed})); two.State != sdk.StateClosed {
		t.Errorf("closed %+v", two)
	}
	_, res, _ = c.MergePullRequest(w.admin, "pulled", two.Index, sdk.MergePullRequestOption{Style: sdk.MergeStyleMerge})
	if res.StatusCode/100 != 4 {
		t.Errorf("a merge of what is closed: status %d", res.StatusCode)
	}
}

func TestHookRecords(t *testing.T) {
	w := anyServer(t)
	w.fresh(t, "hooked")
	c := w.root(t)
	option := sdk.CreateHookOption{
		Type: sdk.HookTypeGitea, Config: map[string]string{"url": "http://127.0.0.1:1/hook", "content_type": "json", "secret": "swordfish"}, Events: []string{"push"}, Active: true,
	}
	one := must[*sdk.Hook](t)(c.CreateRepoHook(w.admin, "hooked", option))
	if one.Config["url"] != option.Config["url"] || one.Config["secret"] != "" || !one.Active {
		t.Errorf("created %+v", one)
	}
	off := false
	if _, err := c.EditRepoHook(w.admin, "hooked", one.ID, sdk.EditHookOption{Active: &off, Events: []string{"push", "create"}}); err != nil {
		t.Fatal(err)
	}
	if one = must[*sdk.Hook](t)(c.GetRepoHook(w.admin, "hooked", one.ID)); one.Active || len(one.Events) != 2 {
		t.Errorf("edited %+v", one)
	}
	if code, _, _ := w.call(t, "POST", fmt.Sprintf("/repos/%s/hooked/hooks", w.admin), map[string]any{"type": "gitea", "config": map[string]string{"content_type": "json"}}); code != 422 {
		t.Errorf("a hook without a URL: status %d, want 422", code)
	}
	if _, err := c.DeleteRepoHook(w.admin, "hooked", one.ID); err != nil {
		t.Fatal(err)
	}
	_, res, _ := c.GetRepoHook(w.admin, "hooked", one.ID)
	status(t, "a hook that was deleted", res, 404)

	code, _, system := w.call(t, "POST", "/admin/hooks", map[string]any{
		"type": "gitea", "active": true, "events": []string{"push", "create", "delete", "release", "package"}, "config": map[string]string{"url": "http://127.0.0.1:1/x", "content_type": "json"},
	})
	if code != 201 {
		t.Fatalf("a hook of the system: status %d, %v", code, system)
	}
	id := int64(system["id"].(float64))
	if got := must[*sdk.Hook](t)(c.GetAdminHook(id)); got.ID != id {
		t.Errorf("read %+v", got)
	}
	if _, err := c.DeleteAdminHook(id); err != nil {
		t.Error(err)
	}
}
