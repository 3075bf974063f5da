package feed_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/source"
)

// server is a Git server that counts requests, with the repository "app".
type server struct {
	t    *testing.T
	git  *gitserver.Server
	work string
	// front is its address; lists and sent count requests for references and for commits.
	front       string
	lists, sent atomic.Int64
}

const user, token = "ann", "a-token-for-tests"

func serve(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, work: t.TempDir()}
	ctx := context.WithoutCancel(t.Context())
	var err error
	if s.git, err = gitserver.Start(ctx, gitserver.Config{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.git.Stop(ctx) })
	s.git.AddUser(user, token, true)
	s.git.AddUser("bob", token, false)
	if err := s.git.CreateRepo(ctx, "app"); err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(s.git.Base())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, in := r.BasicAuth(); in && r.Method == http.MethodPost {
			s.sent.Add(1)
		} else if in {
			s.lists.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s.front = front.URL
	s.run("init", "-q", "-b", "main")
	s.commit("one")
	return s
}

func (s *server) run(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "git", append([]string{"-C", s.work, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit pushes a file of a name, and a tag.
func (s *server) commit(name string) string {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.work, name), []byte(name), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.run("add", "-A")
	s.run("commit", "-q", "-m", name)
	s.run("tag", "-a", "-m", "annotated", name)
	s.run("push", "-q", strings.Replace(s.git.URL("app"), "http://", "http://"+user+":"+token+"@", 1), "main", name)
	return s.run("rev-parse", "HEAD")
}

// options are those of a user.
func (s *server) options(name string, ref source.GitRef) source.GitOptions {
	o := source.GitOptions{URL: s.front + "/git/app.git", Ref: ref, SpillDir: s.t.TempDir()}
	if name != "" {
		o.Username, o.Password = name, token
	}
	return o
}

// reader notes what it is notified of.
type reader struct {
	mu    sync.Mutex
	heard []feed.Listing
}

func (r *reader) Listed(l feed.Listing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = append(r.heard, l)
}

func (r *reader) last() (feed.Listing, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.heard) == 0 {
		return feed.Listing{}, 0
	}
	return r.heard[len(r.heard)-1], len(r.heard)
}

var mainBranch = source.GitRef{Branch: "main"}

// TestOneTransfer has readers of one repository share what is transferred, and how it is asked.
func TestOneTransfer(t *testing.T) {
	s, f := serve(t), feed.New()
	one := s.run("rev-parse", "HEAD")
	first, second, third := &reader{}, &reader{}, &reader{}
	since := time.Now()
	get := func(r feed.Reader, name string, ref source.GitRef, since time.Time) feed.Result {
		t.Helper()
		got, err := f.Git(t.Context(), r, feed.Git{Options: s.options(name, ref), Share: "ns", Since: since})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	counts := func(reason string, sent int64) {
		t.Helper()
		if got := s.sent.Load(); got != sent {
			t.Errorf("%s: the server sent commits %d times, want %d", reason, got, sent)
		}
	}
	a := get(first, user, mainBranch, since)
	counts("the first reader", 1)
	lists := s.lists.Load()
	b := get(second, user, mainBranch, since)
	counts("another one", 1)
	if a.Revision != "main@sha1:"+one || b.Revision != a.Revision || a.Tree.Digest() != b.Tree.Digest() || !b.Began.Equal(a.Began) {
		t.Errorf("they have %s of %s and %s of %s", a.Revision, a.Began, b.Revision, b.Began)
	}
	if s.lists.Load() != lists {
		t.Errorf("the references were requested again, though they are as new as was wanted")
	}
	file := func(r feed.Result) *source.File { got, _ := r.Tree.File("one"); return got }
	if a.Tree != b.Tree {
		t.Error("the same tree is in memory twice")
	}
	all := source.KeepAll
	whole := s.options(user, mainBranch)
	whole.Ignore = &all
	if c, err := f.Git(t.Context(), third, feed.Git{Options: whole, Since: since}); err != nil || c.Tree == a.Tree || file(c) != file(a) {
		t.Errorf("a tree with other files shares those that are the same: %v", err)
	}
	if got := get(third, user, source.GitRef{Commit: one}, since); got.Revision != "sha1:"+one {
		t.Errorf("the commit is %s", got.Revision)
	}
	counts("the same commit by its hash", 1)

	// A commit that has to be on a branch is not taken from another one.
	s.run("checkout", "-q", "-b", "aside")
	side := s.commit("side")
	s.run("push", "-q", strings.Replace(s.git.URL("app"), "http://", "http://"+user+":"+token+"@", 1), "aside")
	s.run("checkout", "-q", "main")
	get(third, user, source.GitRef{Branch: "aside"}, time.Now())
	_, err := f.Git(t.Context(), third, feed.Git{Options: s.options(user, source.GitRef{Commit: side, Branch: "main"}), Since: since})
	if !errors.Is(err, source.ErrReference) {
		t.Errorf("a commit of another branch: %v", err)
	}
	get(second, user, mainBranch, since)
	counts("another branch, and a search in the first one", 3)

	// One of them requests what is new: it is transferred once, and the others are notified.
	two := s.commit("two")
	if got := get(first, user, mainBranch, time.Now()); got.Revision != "main@sha1:"+two {
		t.Errorf("the second commit is %s", got.Revision)
	}
	counts("the next commit", 4)
	heard, times := second.last()
	if revision, err := heard.Revision(mainBranch); times != 2 || err != nil || revision != "main@sha1:"+two {
		t.Errorf("another reader was notified %d times, last of %s: %v", times, revision, err)
	}
	if _, times := first.last(); times != 1 {
		t.Error("a reader was notified of what it requested")
	}
	lists = s.lists.Load()
	get(second, user, mainBranch, heard.Began)
	get(first, user, mainBranch, heard.Began)
	counts("what a reader was notified of", 4)
	if s.lists.Load() != lists {
		t.Error("the references were requested again by a reader that was notified of them")
	}
	get(second, user, mainBranch, time.Now())
	if s.lists.Load() == lists {
		t.Error("references serve that are older than was wanted")
	}

	// Other credentials are another remote.
	other, nobody := &reader{}, &reader{}
	get(other, "bob", mainBranch, since)
	counts("another user", 5)
	if _, err := f.Git(t.Context(), nobody, feed.Git{Options: s.options("", mainBranch), Since: since}); !errors.Is(err, source.ErrAuth) {
		t.Errorf("a reader without credentials got %v", err)
	}
	counts("no user", 5)
	if _, times := other.last(); times != 0 {
		t.Error("a reader was notified of what others read with other credentials")
	}
	for _, r := range []feed.Reader{first, second, third, other, nobody} {
		f.Leave(r)
	}
	f.Wait()
}

// TestLeave has what nothing reads deleted, and not before.
func TestLeave(t *testing.T) {
	s, f, dir := serve(t), feed.New(), t.TempDir()
	first, second := &reader{}, &reader{}
	kept := func() int {
		t.Helper()
		f.Wait()
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(left)
	}
	get := func(r feed.Reader, name string) {
		t.Helper()
		o := s.options(name, mainBranch)
		o.SpillDir = dir
		if _, err := f.Git(t.Context(), r, feed.Git{Options: o}); err != nil {
			t.Fatal(err)
		}
	}
	get(first, user)
	get(second, user)
	f.Leave(first)
	if got := kept(); got != 1 {
		t.Errorf("%d clones are left, though there is a reader of one", got)
	}
	get(second, "bob")
	if got := kept(); got != 1 {
		t.Errorf("%d clones are left after the credentials of the only reader changed", got)
	}
	f.Leave(second)
	if got := kept(); got != 0 {
		t.Errorf("%d clones are left, though nothing reads them", got)
	}
}

// silent is a server that never answers; it reports each request.
func silent(t *testing.T) (address string, asked chan struct{}) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked = make(chan struct{}, 1000)
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			_ = c.Close()
		}
	})
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			go func() {
				// A connection that was begun for a request may serve another one.
				if _, err := c.Read(make([]byte, 1)); err == nil {
					asked <- struct{}{}
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String(), asked
}

// TestSilentHost has many repositories of many namespaces on a host that never answers, and some on one that does.
func TestSilentHost(t *testing.T) {
	s, f := serve(t), feed.New()
	address, asked := silent(t)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			_, err := f.Git(ctx, &reader{}, feed.Git{
				Options: source.GitOptions{URL: fmt.Sprintf("%s/%d.git", address, i), Timeout: time.Hour}, Share: fmt.Sprint("ns", i),
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a host that never answers: %v", err)
			}
		})
	}
	// It has all the slots that a host may have.
	for range 8 {
		<-asked
	}
	for i := range 3 {
		if _, err := f.Git(t.Context(), &reader{}, feed.Git{Options: s.options(user, mainBranch), Share: fmt.Sprint("ns", i)}); err != nil {
			t.Errorf("another host: %v", err)
		}
	}
	stop()
	wg.Wait()
	if n := len(asked); n > 0 {
		t.Errorf("%d more requests were made of a host than it has slots", n)
	}
}

// TestSilentRepository has several readers of a repository wait for its server together, and each for as long as it declares.
func TestSilentRepository(t *testing.T) {
	f := feed.New()
	address, asked := silent(t)
	since := time.Now()
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			_, err := f.Git(t.Context(), &reader{}, feed.Git{
				Options: source.GitOptions{URL: address + "/app.git", Timeout: time.Second}, Since: since,
			})
			if err == nil || !strings.Contains(err.Error(), "timed out after 1s") {
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
	if n := len(asked); n != 1 {
		t.Errorf("the server was asked %d times, want once for all", n)
	}
	_, err := f.Git(t.Context(), &reader{}, feed.Git{
		Options: source.GitOptions{URL: address + "/app.git", Timeout: 2 * time.Second}, Since: since,
	})
	if err == nil || !strings.Contains(err.Error(), "timed out after 2s") {
		t.Errorf("a reader that waits for longer got %v", err)
	}
	_, err = f.Git(t.Context(), &reader{}, feed.Git{
		Options: source.GitOptions{URL: address + "/app.git", Timeout: 2 * time.Second}, Since: time.Now(),
	})
	if err == nil || len(asked) != 3 {
		t.Errorf("a later request asked the server %d times: %v", len(asked), err)
	}
}

// TestCancelledReader has the others served when the reader ends that requests something for all of them.
func TestCancelledReader(t *testing.T) {
	f := feed.New()
	address, asked := silent(t)
	since := time.Now()
	ctx, stop := context.WithCancel(t.Context())
	options := source.GitOptions{URL: address + "/app.git", Timeout: time.Hour}
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := f.Git(ctx, &reader{}, feed.Git{Options: options, Since: since})
		first <- err
	}()
	<-asked
	others, leave := context.WithCancel(t.Context())
	go func() {
		_, err := f.Git(others, &reader{}, feed.Git{Options: options, Since: since})
		second <- err
	}()
	stop()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the reader that ended got %v", err)
	}
	<-asked // the other one asks itself
	leave()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("the other one got %v", err)
	}
	if n := len(asked); n != 0 {
		t.Errorf("the other one asked %d times more", n)
	}
}
