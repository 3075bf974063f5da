package gitea_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "code.gitea.io/sdk/gitea"
	"github.com/go-logr/logr/funcr"

	"github.com/headgate-dev/headgate/internal/gitea"
)

const (
	boss, bossPassword = "giteaAdmin", "developer-1-Password"
)

// world is a server, ours or a real Gitea that the environment variable HEADGATE_GITEA names by the URL of its administrator
// (http://giteaAdmin:PASSWORD@127.0.0.1:3000).
type world struct {
	url, admin, password string
	// ours is nil for a real Gitea.
	ours *gitea.Server
	log  *logs
}

type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) add(_, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *logs) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// start starts our server in a directory that is new unless the configuration has one.
func start(t *testing.T, cfg gitea.Config) *world {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = filepath.Join(t.TempDir(), "state")
	}
	w := &world{admin: boss, password: bossPassword, log: &logs{}}
	var handler http.Handler
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		serving := handler
		mu.Unlock()
		serving.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	cfg.Root, cfg.Log = server.URL, funcr.New(w.log.add, funcr.Options{})
	var err error
	if w.ours, err = gitea.New(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if err := w.ours.EnsureAdmin(boss, "gitea@cnoe.io", bossPassword); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	handler = w.ours
	mu.Unlock()
	w.url = server.URL
	return w
}

// any is a real Gitea if there is one, else our server.
func anyServer(t *testing.T) *world {
	t.Helper()
	real := os.Getenv("HEADGATE_GITEA")
	if real == "" {
		return start(t, gitea.Config{})
	}
	u, err := url.Parse(real)
	if err != nil || u.User == nil {
		t.Fatal("HEADGATE_GITEA is not a URL with the administrator's name and password")
	}
	password, _ := u.User.Password()
	w := &world{admin: u.User.Username(), password: password}
	u.User = nil
	w.url = strings.TrimSuffix(u.String(), "/")
	return w
}

// client is the SDK of Gitea for a user; without one it is anonymous.
func (w *world) client(t *testing.T, user, password string) *sdk.Client {
	t.Helper()
	var options []sdk.ClientOption
	if user != "" {
		options = append(options, sdk.SetBasicAuth(user, password))
	}
	c, err := sdk.NewClient(w.url, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) root(t *testing.T) *sdk.Client {
	t.Helper()
	return w.client(t, w.admin, w.password)
}

// git is the URL of a repository with credentials.
func (w *world) git(user, password, repository string) string {
	return strings.Replace(w.url, "http://", "http://"+user+":"+password+"@", 1) + "/" + repository + ".git"
}

// must fails the test for an error.
func must[T any](t *testing.T) func(T, *sdk.Response, error) T {
	return func(value T, _ *sdk.Response, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// status checks that a request failed as Gitea has it fail.
func status(t *testing.T, what string, got *sdk.Response, want int) {
	t.Helper()
	if got == nil || got.Response == nil {
		t.Fatalf("%s: no answer", what)
	}
	if got.StatusCode != want {
		t.Errorf("%s: status %d, want %d", what, got.StatusCode, want)
	}
}

// fresh creates a repository with a first commit, which is deleted after the test.
func (w *world) fresh(t *testing.T, name string) *sdk.Repository {
	t.Helper()
	c := w.root(t)
	// One that an earlier run against the same Gitea left.
	_, _ = c.DeleteRepo(w.admin, name)
	repository := must[*sdk.Repository](t)(c.CreateRepo(sdk.CreateRepoOption{Name: name, AutoInit: true, DefaultBranch: "main"}))
	t.Cleanup(func() { _, _ = w.root(t).DeleteRepo(w.admin, name) })
	return repository
}

// call makes a request of the administrator that the SDK has no function for.
func (w *world) call(t *testing.T, method, path string, body any) (int, http.Header, map[string]any) {
	t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+"/api/v1"+path, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(w.admin, w.password)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer map[string]any
	// Some answers have no body, or a list.
	_ = json.NewDecoder(res.Body).Decode(&answer)
	return res.StatusCode, res.Header, answer
}

func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// commit commits a file in a working copy.
func commit(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "change "+name)
}

func (w *world) clone(t *testing.T, repository string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, "", "clone", "-q", w.git(w.admin, w.password, repository), dir)
	return dir
}
