package gitea_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/headgate-dev/headgate/internal/gitea"
)

// TestSlowReceiver has a receiver that answers only after everything else: pushes and another receiver do not wait for it, and it
// loses nothing.
func TestSlowReceiver(t *testing.T) {
	release, began := make(chan struct{}), make(chan struct{}, 10)
	slow, quick := make(chan string, 10), make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		to := quick
		if r.URL.Path == "/slow" {
			to = slow
			began <- struct{}{}
			<-release
		}
		to <- r.Header.Get("X-Gitea-Event")
	}))
	t.Cleanup(receiver.Close)
	// Before the receiver is closed, which waits for its requests.
	open := sync.OnceFunc(func() { close(release) })
	t.Cleanup(open)
	w := start(t, gitea.Config{Client: receiver.Client()})
	w.fresh(t, "pushed")
	c := w.root(t)
	for _, path := range []string{"/slow", "/quick"} {
		config := map[string]string{"url": receiver.URL + path, "content_type": "json"}
		must[*sdk.Hook](t)(c.CreateRepoHook(boss, "pushed", sdk.CreateHookOption{Type: "gitea", Config: config, Events: []string{"push"}, Active: true}))
	}
	hear := func(what string, from chan string) {
		t.Helper()
		select {
		case event := <-from:
			if event != "push" {
				t.Errorf("%s: event %q, want push", what, event)
			}
		case <-t.Context().Done():
			t.Fatalf("%s has heard nothing", what)
		}
	}
	dir := w.clone(t, boss+"/pushed")
	const pushes = 3
	for i := range pushes {
		commit(t, dir, "a", fmt.Sprint(i))
		git(t, dir, "push", "-q", "origin", "main")
		if i == 0 {
			<-began
		}
		hear("the quick receiver", quick)
	}
	must[*sdk.FileResponse](t)(c.CreateFile(boss, "pushed", "b", sdk.CreateFileOptions{Content: encoded("x")}))
	hear("the quick receiver", quick)
	if len(slow) != 0 {
		t.Error("the slow receiver has answered before it was released")
	}
	open()
	for range pushes + 1 {
		hear("the slow receiver", slow)
	}
}

// TestPushesRace pushes different commits at the same time: one is taken, the others are refused, and those who rebase lose nothing.
func TestPushesRace(t *testing.T) {
	w := anyServer(t)
	w.fresh(t, "raced")
	const writers = 4
	type result struct {
		dir, name, out string
		err            error
	}
	results := make(chan result, writers)
	begin := make(chan struct{})
	for i := range writers {
		one := result{dir: w.clone(t, w.admin+"/raced"), name: fmt.Sprintf("file-%d", i)}
		commit(t, one.dir, one.name, "x")
		go func() {
			<-begin
			one.out, one.err = tryGit(one.dir, "push", "origin", "main")
			results <- one
		}()
	}
	close(begin)
	var lost []result
	won := ""
	for range writers {
		one := <-results
		switch {
		case one.err == nil && won == "":
			won = git(t, one.dir, "rev-parse", "HEAD")
		case one.err == nil:
			t.Errorf("the push of %s has won as well", one.name)
		default:
			if !strings.Contains(one.out, "rejected") {
				t.Errorf("the push of %s: git printed %q, want that it was rejected", one.name, one.out)
			}
			lost = append(lost, one)
		}
	}
	if won == "" {
		t.Fatal("no push was taken")
	}
	c := w.root(t)
	if got := must[*sdk.Branch](t)(c.GetRepoBranch(w.admin, "raced", "main")).Commit.ID; got != won {
		t.Errorf("main is %s, want %s of the push that was taken", got, won)
	}
	for _, one := range lost {
		git(t, one.dir, "pull", "-q", "--rebase", "origin", "main")
		git(t, one.dir, "push", "-q", "origin", "main")
	}
	last := w.clone(t, w.admin+"/raced")
	for i := range writers {
		if _, err := os.Stat(filepath.Join(last, fmt.Sprintf("file-%d", i))); err != nil {
			t.Errorf("a file is lost: %v", err)
		}
	}
	git(t, last, "fsck", "--strict")
}

// TestFullDiskInRepository has the disk be full where a branch moves: pushes and writes fail and say why, and the repository is
// read as before, until there is room.
func TestFullDiskInRepository(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("there is no device that is always full")
	}
	dir := filepath.Join(t.TempDir(), "state")
	w := start(t, gitea.Config{Dir: dir})
	w.fresh(t, "kept")
	copied := w.clone(t, boss+"/kept")
	before := git(t, copied, "rev-parse", "HEAD")
	found, err := filepath.Glob(filepath.Join(dir, "repositories", "*.git"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the repositories are %v, %v", found, err)
	}
	// Git writes its log of a branch if there is one, before the branch.
	log := filepath.Join(found[0], "logs", "refs", "heads", "main")
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(full, log); err != nil {
		t.Fatal(err)
	}
	c := w.root(t)
	commit(t, copied, "a", "1")
	if out, err := tryGit(copied, "push", "origin", "main"); err == nil || !strings.Contains(out, "No space left on device") {
		t.Errorf("a push to a full disk: %v: git printed %q", err, out)
	}
	_, res, err := c.CreateFile(boss, "kept", "b", sdk.CreateFileOptions{Content: encoded("x")})
	status(t, "a write to a full disk", res, http.StatusInsufficientStorage)
	if err == nil || !strings.Contains(err.Error(), "disk of the Git server is full") || strings.Contains(err.Error(), dir) {
		t.Errorf("a write to a full disk says: %v", err)
	}
	if got := must[*sdk.Branch](t)(c.GetRepoBranch(boss, "kept", "main")).Commit.ID; got != before {
		t.Errorf("main is %s, want %s", got, before)
	}
	if got := git(t, w.clone(t, boss+"/kept"), "rev-parse", "HEAD"); got != before {
		t.Errorf("a clone has %s, want %s", got, before)
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	git(t, copied, "push", "-q", "origin", "main")
	must[*sdk.FileResponse](t)(c.CreateFile(boss, "kept", "b", sdk.CreateFileOptions{Content: encoded("x")}))
	git(t, w.clone(t, boss+"/kept"), "fsck", "--strict")
}

// TestMergeNotRecorded has a merge reach the branch and not the record of its pull request: those who follow the branch hear of it,
// and the merge can be repeated.
func TestMergeNotRecorded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	w := start(t, gitea.Config{Dir: dir})
	w.fresh(t, "merged")
	c := w.root(t)
	option := sdk.FileOptions{BranchName: "main", NewBranchName: "next"}
	head := must[*sdk.FileResponse](t)(c.CreateFile(boss, "merged", "a", sdk.CreateFileOptions{FileOptions: option, Content: encoded("x")})).Commit.SHA
	pull := must[*sdk.PullRequest](t)(c.CreatePullRequest(boss, "merged", sdk.CreatePullRequestOption{Head: "next", Base: "main", Title: "t"}))
	changes := make(chan string, 10)
	w.ours.OnChange(func(owner, name string) { changes <- owner + "/" + name })
	// No file replaces a directory.
	state := filepath.Join(dir, "gitea.json")
	if err := os.Rename(state, state+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	style := sdk.MergePullRequestOption{Style: sdk.MergeStyleFastForwardOnly}
	_, res, _ := c.MergePullRequest(boss, "merged", pull.Index, style)
	status(t, "a merge that is not recorded", res, http.StatusInternalServerError)
	if got := must[*sdk.Branch](t)(c.GetRepoBranch(boss, "merged", "main")).Commit.ID; got != head {
		t.Errorf("main is %s, want %s", got, head)
	}
	select {
	case got := <-changes:
		if got != boss+"/merged" {
			t.Errorf("%s has changed", got)
		}
	default:
		t.Error("nobody hears that the branch has the merge")
	}
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(state+"-away", state); err != nil {
		t.Fatal(err)
	}
	if merged, res, err := c.MergePullRequest(boss, "merged", pull.Index, style); !merged {
		t.Fatalf("the merge is not repeated: %v, %v", err, res)
	}
	if got := must[*sdk.PullRequest](t)(c.GetPullRequest(boss, "merged", pull.Index)); !got.HasMerged {
		t.Errorf("the pull request is %+v", got)
	}
}
