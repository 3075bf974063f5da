package gitea_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/headgate-dev/headgate/internal/gitea"
	"github.com/headgate-dev/headgate/internal/gitserver"
)

func TestGitOverHTTP(t *testing.T) {
	w := anyServer(t)
	w.fresh(t, "pushed")
	repository := w.admin + "/pushed"
	first, second := w.clone(t, repository), w.clone(t, repository)
	for name, url := range map[string]string{
		"WrongPassword": w.git(w.admin, "wrong", repository), "UnknownUser": w.git("mallory", w.password, repository), "Anonymous": w.url + "/" + repository + ".git",
	} {
		commit(t, first, "a", name)
		if out, err := tryGit(first, "push", url, "main"); err == nil {
			t.Errorf("%s pushed: %s", name, out)
		}
	}
	git(t, first, "push", "-q", "origin", "main")
	commit(t, second, "b", "2")
	if out, err := tryGit(second, "push", "origin", "main"); err == nil || !strings.Contains(out, "rejected") {
		t.Errorf("of two pushes the second has not lost: %v: %s", err, out)
	}
	git(t, second, "pull", "-q", "--rebase", "origin", "main")
	git(t, second, "push", "-q", "origin", "main")
	git(t, first, "fetch", "-q", "origin")
	if got, want := git(t, first, "rev-parse", "origin/main"), git(t, second, "rev-parse", "HEAD"); got != want {
		t.Errorf("fetched %s, want %s", got, want)
	}
	git(t, "", "clone", "-q", "--depth=1", w.url+"/"+repository+".git", filepath.Join(t.TempDir(), "anonymous"))
}

func TestPushesAreRefused(t *testing.T) {
	w := start(t, gitea.Config{Quota: gitea.Quota{Repository: 256 << 10, Repositories: 2}})
	bare := filepath.Join(t.TempDir(), "mirror.git")
	if err := gitserver.Init(t.Context(), bare, "main"); err != nil {
		t.Fatal(err)
	}
	const reason = "this repository mirrors the directory packages/app; change the files there"
	if err := w.ours.Show(gitea.Mirror{Owner: boss, Name: "shown", Dir: bare, Branch: "main", Reason: reason}); err != nil {
		t.Fatal(err)
	}
	w.fresh(t, "small")
	dir := w.clone(t, boss+"/small")
	if out, err := tryGit(dir, "push", w.git(boss, bossPassword, boss+"/shown"), "main"); err == nil || !strings.Contains(out, "remote: "+reason) {
		t.Errorf("a push to a mirror: %v: git printed %q", err, out)
	}
	c := w.root(t)
	_, res, _ := c.CreateFile(boss, "shown", "a", sdk.CreateFileOptions{Content: encoded("x")})
	status(t, "a write to a mirror", res, 403)
	res, _ = c.DeleteRepo(boss, "shown")
	status(t, "deleting a mirror", res, 403)

	noise := make([]byte, 300<<10)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	commit(t, dir, "noise", string(noise))
	if out, err := tryGit(dir, "push", "origin", "main"); err == nil || !strings.Contains(out, "maximum allowed size") {
		t.Errorf("a push above the quota: %v: git printed %q", err, out)
	}
	must[*sdk.FileResponse](t)(c.CreateFile(boss, "small", "noise", sdk.CreateFileOptions{Content: base64.StdEncoding.EncodeToString(noise)}))
	_, res, _ = c.CreateFile(boss, "small", "more", sdk.CreateFileOptions{Content: encoded("x")})
	status(t, "a write above the quota", res, 413)
	git(t, dir, "reset", "-q", "--hard", "HEAD~1")
	commit(t, dir, "more", "x")
	if out, err := tryGit(dir, "push", "origin", "main:more"); err == nil || !strings.Contains(out, "limit reached") {
		t.Errorf("a push to what is full: %v: git printed %q", err, out)
	}
	w.fresh(t, "second")
	_, res, _ = c.CreateRepo(sdk.CreateRepoOption{Name: "third"})
	status(t, "a repository too many", res, 413)
	if err := w.ours.Hide(boss, "shown"); err != nil {
		t.Fatal(err)
	}
	_, res, _ = c.GetRepo(boss, "shown")
	status(t, "a mirror that ended", res, 404)
}

func TestRestart(t *testing.T) {
	cfg := gitea.Config{Dir: filepath.Join(t.TempDir(), "state"), Key: bytes.Repeat([]byte{3}, 32)}
	w := start(t, cfg)
	c := w.root(t)
	must[*sdk.Repository](t)(c.CreateRepo(sdk.CreateRepoOption{Name: "kept", AutoInit: true, Private: true}))
	token := must[*sdk.AccessToken](t)(c.CreateAccessToken(sdk.CreateAccessTokenOption{Name: "kept", Scopes: []sdk.AccessTokenScope{"all"}}))
	config := map[string]string{"url": "http://user:hunter2@127.0.0.1:1/", "content_type": "json", "secret": "swordfish"}
	hook := must[*sdk.Hook](t)(c.CreateRepoHook(boss, "kept", sdk.CreateHookOption{Type: "gitea", Config: config, Active: true}))
	dir := w.clone(t, boss+"/kept")
	commit(t, dir, "a", "1")
	git(t, dir, "push", "-q", "origin", "main")

	err := filepath.WalkDir(cfg.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, secret := range []string{"swordfish", "hunter2", bossPassword, token.Token} {
			if bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s has a secret in clear", path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	again := start(t, cfg)
	by, err := sdk.NewClient(again.url, sdk.SetToken(token.Token))
	if err != nil {
		t.Fatal(err)
	}
	if got := must[*sdk.Hook](t)(by.GetRepoHook(boss, "kept", hook.ID)); got.Config["url"] != config["url"] {
		t.Errorf("the hook after a restart: %+v", got)
	}
	if got := must[*sdk.Branch](t)(by.GetRepoBranch(boss, "kept", "main")); got.Commit.ID != git(t, dir, "rev-parse", "HEAD") {
		t.Errorf("main after a restart is %s", got.Commit.ID)
	}
}

// TestFullDisk has requests fail that cannot be stored, and others continue.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	w := start(t, gitea.Config{Dir: dir})
	w.fresh(t, "before")
	c := w.root(t)
	// Nothing can be created where the directory is another one.
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, res, _ := c.CreateRepo(sdk.CreateRepoOption{Name: "during", AutoInit: true})
	status(t, "a repository on a disk that fails", res, 500)
	_, res, _ = c.CreateOrg(sdk.CreateOrgOption{Name: "during"})
	status(t, "an organization on a disk that fails", res, 500)
	must[*sdk.User](t)(c.GetMyUserInfo())
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	_, res, _ = c.GetRepo(boss, "during")
	status(t, "a repository that was not stored", res, 404)
	w.fresh(t, "during")
}

func TestUnknownEndpoints(t *testing.T) {
	w := start(t, gitea.Config{})
	for _, path := range []string{"/repos/a/b/actions/runs", "/repos/c/d/actions/runs"} {
		code, _, body := w.call(t, "GET", path, nil)
		if code != 404 || body["message"] == "" || body["url"] == nil {
			t.Errorf("%s: status %d, %v", path, code, body)
		}
	}
	if n := strings.Count(w.log.text(), "is not supported"); n != 1 {
		t.Errorf("an unknown endpoint was logged %d times, want once:\n%s", n, w.log.text())
	}
	if strings.Contains(w.log.text(), bossPassword) {
		t.Error("the log has a password")
	}
	if code, _, _ := w.call(t, "POST", "/user/repos?sudo=other", map[string]any{"name": "x"}); code != 403 {
		t.Errorf("sudo: status %d, want 403", code)
	}
}
