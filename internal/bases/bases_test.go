package bases_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/bases"
	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

const user, token = "ann", "a-token-for-tests"

// login reaches everything as the user of the tests, and an address in place of another one.
type login struct{ rules source.Rewrites }

func (l login) Git(address string) (source.GitOptions, error) {
	return source.GitOptions{URL: l.rules.Apply(address), Username: user, Password: token}, nil
}

func (l login) File(address string) (string, source.Access, error) {
	return l.rules.Apply(address), source.Access{}, nil
}

// rules are those of a test.
type rules struct{ source.Rewrites }

func (r rules) Rewritten(address string) string { return r.Apply(address) }

// repository is a Git server with a repository, under an address of its own.
type repository struct {
	t        *testing.T
	work, to string
	rules    source.Rewrites
}

const address = "https://git.invalid/git/app.git"

func serve(t *testing.T) *repository {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	git, err := gitserver.Start(ctx, gitserver.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = git.Stop(ctx) })
	git.AddUser(user, token, true)
	if err := git.CreateRepo(ctx, "app"); err != nil {
		t.Fatal(err)
	}
	r := &repository{t: t, work: t.TempDir(), to: strings.Replace(git.URL("app"), "http://", "http://"+user+":"+token+"@", 1)}
	if r.rules, err = source.ParseRewrites([]string{"https://git.invalid/=" + git.Base() + "/"}); err != nil {
		t.Fatal(err)
	}
	r.run("init", "-q", "-b", "main")
	return r
}

func (r *repository) run(args ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "git", append([]string{"-C", r.work, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit pushes a kustomization with a ConfigMap.
func (r *repository) commit(value string) string {
	r.t.Helper()
	for name, text := range map[string]string{
		"base/kustomization.yaml": "resources: [x.yaml]\n",
		"base/x.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {k: " + value + "}\n",
	} {
		if err := os.MkdirAll(filepath.Join(r.work, "base"), 0o700); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.work, name), []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.run("add", "-A")
	r.run("commit", "-q", "-m", value)
	r.run("push", "-q", r.to, "main")
	return r.run("rev-parse", "HEAD")
}

// value renders a kustomization of one entry, and returns what the ConfigMap in it has.
func value(t *testing.T, remotes render.Remotes, entry string, fresh bool) (string, error) {
	t.Helper()
	tree, err := source.NewTree([]*source.File{source.NewFile("kustomization.yaml", 0o644, []byte("resources: ['"+entry+"']\n"))})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, renderer := render.NewElsewhere(remotes, fresh), render.New()
	var result *render.Result
	err = elsewhere.Complete(t.Context(), func() (err error) {
		result, err = renderer.Build(t.Context(), tree, render.Options{Elsewhere: elsewhere})
		return err
	})
	if err != nil {
		return "", err
	}
	data, _ := result.Objects[0].Object["data"].(map[string]any)
	text, _ := data["k"].(string)
	return text, nil
}

// clones counts what is kept on disk.
func clones(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestRepositories fetches directories of repositories by the rules for fetches, again when it is to be newer, and keeps them no
// longer than the units that read them.
func TestRepositories(t *testing.T) {
	r, dir := serve(t), t.TempDir()
	first := r.commit("one")
	f := feed.New()
	store := bases.New(f, dir)
	reader := func(owner string) render.Remotes {
		return store.Reader(bases.Unit{Owner: owner, Share: "apps", Reach: login{r.rules}})
	}
	expect := func(reader render.Remotes, entry string, fresh bool, want string) {
		t.Helper()
		if got, err := value(t, reader, entry, fresh); err != nil || got != want {
			t.Errorf("%s: %q, error %v, want %q", entry, got, err, want)
		}
	}
	a, b := reader("a"), reader("b")
	expect(a, address+"//base?ref=main", false, "one")
	expect(b, address+"/base", false, "one")
	r.commit("two")
	expect(a, address+"//base?ref=main", false, "one")
	expect(a, address+"//base?ref=main", true, "two")
	expect(b, address+"//base?ref="+first, true, "one")
	if clones(t, dir) == 0 {
		t.Error("nothing is kept for the next fetch")
	}
	store.Forget("a")
	store.Forget("b")
	f.Wait()
	if n := clones(t, dir); n != 0 {
		t.Errorf("%d clones are kept for nobody", n)
	}
	expect(a, address+"//base?ref=main", true, "two")
	f.Wait()
	if n := clones(t, dir); n != 0 {
		t.Errorf("%d clones are kept of what was fetched for a unit that is gone", n)
	}
	for entry, want := range map[string]string{
		address + "//none?ref=main":   `the repository has no directory "none"`,
		address + "//base?ref=v9":     "no such reference",
		"file://" + r.work + "//base": `scheme "file" is not supported`,
	} {
		if _, err := value(t, reader("c"), entry, false); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "kustomization.yaml: resources[0]: ") {
			t.Errorf("%s: error %v, want %q", entry, err, want)
		}
	}
}

// TestFiles requests files of web servers, and repositories where there is none.
func TestFiles(t *testing.T) {
	big := strings.Repeat("# 0123456789\n", 1<<21)
	var agents atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.UserAgent(), "headgate") {
			agents.Add(1)
		}
		switch r.URL.Path {
		case "/x.yaml":
			_, _ = w.Write([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {k: web}\n"))
		case "/big.yaml":
			_, _ = w.Write([]byte(big))
		case "/team/base":
			_, _ = w.Write([]byte("<!DOCTYPE html>\n<html></html>"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	rewrites, err := source.ParseRewrites([]string{"https://web.invalid/=" + server.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	reader := bases.New(feed.New(), t.TempDir()).Reader(bases.Unit{Owner: "a", Share: "apps", Reach: bases.Anonymous{Rules: rules{rewrites}}})
	if got, err := value(t, reader, "https://web.invalid/x.yaml?token=secret", false); err != nil || got != "web" || agents.Load() == 0 {
		t.Errorf("%q, error %v, after %d requests of ours", got, err, agents.Load())
	}
	for entry, want := range map[string]string{
		"https://web.invalid/big.yaml":                       "more than 16777216 bytes",
		"https://web.invalid/team/base":                      "as a repository: ",
		"https://me:secret@web.invalid/none.yaml?key=secret": `"https://web.invalid/none.yaml": `,
	} {
		_, err := value(t, reader, entry, false)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want %q", entry, err, want)
		}
	}
}

// silent takes connections and never says a word.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return l.Addr().String()
}

// TestSilence has servers that never answer hold up the units that read them alone: others are served, a fetch ends with its unit,
// and in time.
func TestSilence(t *testing.T) {
	r := serve(t)
	r.commit("one")
	host := silent(t)
	store := bases.New(feed.New(), t.TempDir())
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	gone := errors.New("the unit is gone")
	ended := make(chan error, 40)
	for i := range cap(ended) {
		reader := store.Reader(bases.Unit{Owner: "hung" + string(rune('a'+i)), Share: "hung", Reach: bases.Anonymous{Rules: rules{}}})
		entry := []string{"http://" + host + "/x.yaml", "https://" + host + "/team/base.git//x?timeout=10h", "ssh://me@" + host + "/team/base.git", "http://" + host + "/team/base?ref=v1"}[i%4]
		go func() {
			_, err := reader.Fetch(ctx, render.Remote{URL: entry}, time.Now())
			ended <- err
		}()
	}
	reader := store.Reader(bases.Unit{Owner: "a", Share: "apps", Reach: login{r.rules}})
	if got, err := value(t, reader, address+"//base?ref=main", false); err != nil || got != "one" {
		t.Errorf("beside silent servers: %q, error %v", got, err)
	}
	late := store.Reader(bases.Unit{Owner: "late", Share: "late", Reach: bases.Anonymous{Rules: rules{}}})
	if _, err := value(t, late, "http://"+silent(t)+"/team/base.git//x?timeout=1s", false); err == nil || !strings.Contains(err.Error(), "timed out after 1s") {
		t.Errorf("error %v", err)
	}
	stop(gone)
	for range cap(ended) {
		if err := <-ended; err == nil {
			t.Error("a server that never answers has something")
		}
	}
}
