package gitserver_test

import (
	"context"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/source"
)

// served is a repository on a server, and the working copy that it was pushed from.
type served struct {
	server  *gitserver.Server
	work    string
	commits map[string]string
}

// options are those of a user with read access.
func (s *served) options(ref source.GitRef) source.GitOptions {
	return source.GitOptions{URL: s.server.URL("app"), Username: reader, Password: readerToken, Ref: ref}
}

func (s *served) push(t *testing.T, refs ...string) {
	t.Helper()
	git(t, s.work, append([]string{"push", "-q", "-f", as(s.server.URL("app"), writer, writerToken)}, refs...)...)
}

// serve serves a repository with branches and tags.
func serve(t *testing.T) *served {
	t.Helper()
	s := &served{server: start(t), work: workingCopy(t), commits: map[string]string{}}
	if err := s.server.CreateRepo(t.Context(), "app"); err != nil {
		t.Fatal(err)
	}
	step := func(name string) {
		s.commits[name] = commit(t, s.work, name, map[string]string{"version.yaml": name + "\n"})
	}
	step("one")
	git(t, s.work, "tag", "v1.0.0")
	step("two")
	git(t, s.work, "tag", "-a", "-m", "annotated", "v1.2.0")
	git(t, s.work, "tag", "-a", "-m", "of a tag", "nested", "v1.2.0")
	step("three")
	git(t, s.work, "tag", "v2.0.0-rc.1")
	git(t, s.work, "tag", "not-a-version")
	git(t, s.work, "branch", "master")
	step("four")
	git(t, s.work, "update-ref", "refs/pull/7/head", "HEAD")
	git(t, s.work, "checkout", "-q", "-b", "side", s.commits["one"])
	step("side")
	git(t, s.work, "checkout", "-q", "main")
	s.push(t, "main", "master", "side", "--tags")
	s.push(t, "refs/pull/7/head")
	return s
}

func TestFetchReferences(t *testing.T) {
	s := serve(t)
	one, two, three, four := s.commits["one"], s.commits["two"], s.commits["three"], s.commits["four"]
	cases := map[string]struct {
		reason   string
		ref      source.GitRef
		revision string
		version  string
		err      error
	}{
		"none":       {"the branch is master when nothing is said", source.GitRef{}, "master@sha1:" + three, "three", nil},
		"branch":     {"a branch is its newest commit", source.GitRef{Branch: "main"}, "main@sha1:" + four, "four", nil},
		"tag":        {"a tag is its commit", source.GitRef{Tag: "v1.0.0"}, "v1.0.0@sha1:" + one, "one", nil},
		"annotated":  {"an annotated tag is too", source.GitRef{Tag: "v1.2.0"}, "v1.2.0@sha1:" + two, "two", nil},
		"nested":     {"a tag of a tag is too", source.GitRef{Tag: "nested"}, "nested@sha1:" + two, "two", nil},
		"semver":     {"the highest version in the range counts", source.GitRef{SemVer: ">=1.0.0"}, "v1.2.0@sha1:" + two, "two", nil},
		"prerelease": {"a range may ask for early versions", source.GitRef{SemVer: ">=1.0.0-0"}, "v2.0.0-rc.1@sha1:" + three, "three", nil},
		"name":       {"any reference has a name", source.GitRef{Name: "refs/pull/7/head"}, "refs/pull/7/head@sha1:" + four, "four", nil},
		"name of branch": {
			"a branch has one as well",
			source.GitRef{Name: "refs/heads/side"},
			"refs/heads/side@sha1:" + s.commits["side"], "side", nil,
		},
		"HEAD": {"and so has what is checked out by default", source.GitRef{Name: "HEAD"}, "HEAD@sha1:" + four, "four", nil},
		"commit": {
			"a commit of any branch can be named",
			source.GitRef{Commit: s.commits["side"]},
			"sha1:" + s.commits["side"], "side", nil,
		},
		"commit of branch": {
			"a commit of a branch names the branch", source.GitRef{Commit: one, Branch: "main"}, "main@sha1:" + one, "one", nil,
		},
		"precedence": {
			"a commit counts before all else",
			source.GitRef{Commit: two, Name: "refs/heads/side", SemVer: "*", Tag: "v1.0.0"},
			"sha1:" + two, "two", nil,
		},
		"name first":     {"then a name", source.GitRef{Name: "refs/heads/side", SemVer: "*", Tag: "v1.0.0", Branch: "main"}, "refs/heads/side@sha1:" + s.commits["side"], "side", nil},
		"semver first":   {"then a range", source.GitRef{SemVer: "*", Tag: "v1.0.0", Branch: "main"}, "v1.2.0@sha1:" + two, "two", nil},
		"tag first":      {"then a tag", source.GitRef{Tag: "v1.0.0", Branch: "main"}, "v1.0.0@sha1:" + one, "one", nil},
		"no branch":      {"a missing branch is named", source.GitRef{Branch: "none"}, "", "", source.ErrReference},
		"no tag":         {"a missing tag is", source.GitRef{Tag: "none"}, "", "", source.ErrReference},
		"no version":     {"so is an empty range", source.GitRef{SemVer: ">=9"}, "", "", source.ErrReference},
		"bad range":      {"or one that is none", source.GitRef{SemVer: "x y"}, "", "", source.ErrReference},
		"no commit":      {"a commit that does not exist is", source.GitRef{Commit: strings.Repeat("a", 40)}, "", "", source.ErrReference},
		"bad commit":     {"a short hash is none", source.GitRef{Commit: one[:7]}, "", "", source.ErrReference},
		"not on branch":  {"a commit must be on the branch that is named", source.GitRef{Commit: s.commits["side"], Branch: "main"}, "", "", source.ErrReference},
		"pattern":        {"a pattern is no name", source.GitRef{Name: "refs/heads/*"}, "", "", source.ErrReference},
		"peeled is none": {"what the protocol lists beside tags is none", source.GitRef{Tag: "v1.2.0^{}"}, "", "", source.ErrReference},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := source.FetchGit(t.Context(), s.options(c.ref), "", nil)
			if diff := cmp.Diff(c.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", c.reason, diff)
			}
			if err != nil {
				return
			}
			f, ok := got.Tree.File("version.yaml")
			if !ok {
				t.Fatalf("%s: there is no version.yaml", c.reason)
			}
			data, err := f.Read()
			if err != nil {
				t.Fatal(err)
			}
			if got.Revision != c.revision || string(data) != c.version+"\n" || strings.TrimSpace(got.CommitMessage) != c.version {
				t.Errorf("%s: got %s with %q, message %q", c.reason, got.Revision, data, got.CommitMessage)
			}
		})
	}
}

// proxy passes requests on and notes what was asked.
type proxy struct {
	http.Handler
	mu    sync.Mutex
	asked []string
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.URL.Path)
	p.mu.Unlock()
	p.Handler.ServeHTTP(w, r)
}

func (p *proxy) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.asked
	p.asked = nil
	return asked
}

func before(t *testing.T, s *gitserver.Server) *proxy {
	t.Helper()
	u, err := url.Parse(s.Base())
	if err != nil {
		t.Fatal(err)
	}
	return &proxy{Handler: httputil.NewSingleHostReverseProxy(u)}
}

func TestPollWithoutChangeDownloadsNothing(t *testing.T) {
	s := serve(t)
	p := before(t, s.server)
	front := httptest.NewServer(p)
	defer front.Close()
	o := s.options(source.GitRef{Branch: "main"})
	o.URL = front.URL + "/git/app.git"
	first, err := source.FetchGit(t.Context(), o, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.take()
	again, err := source.FetchGit(t.Context(), o, first.Revision, first.Tree)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Unchanged || again.Tree != first.Tree || again.Revision != first.Revision {
		t.Errorf("a poll without change gave %+v", again)
	}
	if diff := cmp.Diff([]string{"GET /git/app.git/info/refs"}, p.take()); diff != "" {
		t.Errorf("requests of a poll without change (-want +got):\n%s", diff)
	}
	commit(t, s.work, "five", map[string]string{"version.yaml": "five\n"})
	s.push(t, "main")
	changed, err := source.FetchGit(t.Context(), o, first.Revision, first.Tree)
	if err != nil || changed.Unchanged {
		t.Fatalf("a poll after a push gave %+v, %v", changed, err)
	}
	for name, shared := range map[string]bool{"a.yaml": true, "version.yaml": false} {
		old, _ := first.Tree.File(name)
		if f, _ := changed.Tree.File(name); (f == old) != shared {
			t.Errorf("%s is shared with the tree before: %v, want %v", name, f == old, shared)
		}
	}
	// A commit needs no asking at all.
	o.Ref = source.GitRef{Commit: s.commits["one"]}
	pinned, err := source.FetchGit(t.Context(), o, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.take()
	if again, err := source.FetchGit(t.Context(), o, pinned.Revision, pinned.Tree); err != nil || !again.Unchanged || len(p.take()) > 0 {
		t.Errorf("a poll of a commit gave %+v, %v", again, err)
	}
}

func TestFetchCredentials(t *testing.T) {
	const secret = "s3cr3t/with+signs"
	s := serve(t)
	withUser := func(user string) string {
		return strings.Replace(s.server.URL("app"), "http://", "http://"+user+"@", 1)
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	cases := map[string]struct {
		reason string
		change func(o *source.GitOptions)
		err    error
		fails  bool
	}{
		"basic":       {reason: "a user and a password", change: func(*source.GitOptions) {}},
		"bearer":      {reason: "a token alone", change: func(o *source.GitOptions) { o.Username, o.Password, o.BearerToken = "", "", readerToken }},
		"in the URL":  {reason: "credentials in the URL", change: func(o *source.GitOptions) { o.Username, o.Password, o.URL = "", "", as(o.URL, reader, readerToken) }},
		"wrong":       {reason: "a wrong password", change: func(o *source.GitOptions) { o.Password = secret }, err: source.ErrAuth, fails: true},
		"wrong token": {reason: "a wrong token", change: func(o *source.GitOptions) { o.BearerToken = secret }, err: source.ErrAuth, fails: true},
		"none":        {reason: "nobody", change: func(o *source.GitOptions) { o.Username, o.Password = "", "" }, err: source.ErrAuth, fails: true},
		"wrong in the URL": {
			reason: "a token in the place of a user", err: source.ErrAuth, fails: true,
			change: func(o *source.GitOptions) {
				o.Username, o.Password, o.URL = "", "", withUser(url.PathEscape(secret))
			},
		},
		"no server": {
			reason: "a server that is not there", fails: true,
			change: func(o *source.GitOptions) {
				o.URL = strings.Replace(closed.URL, "http://", "http://u:"+url.PathEscape(secret)+"@", 1) + "/x"
				o.Username, o.Password = "", ""
			},
		},
		"no proxy": {
			reason: "a proxy that is not there", fails: true,
			change: func(o *source.GitOptions) {
				o.Proxy = strings.Replace(closed.URL, "http://", "http://u:"+url.PathEscape(secret)+"@", 1)
			},
		},
		"no repository": {
			reason: "a repository that is not there", fails: true,
			change: func(o *source.GitOptions) { o.URL = s.server.URL("none") },
		},
		"ftp":       {reason: "a protocol that is not served", change: func(o *source.GitOptions) { o.URL = "ftp://git@example.com/x" }, err: source.ErrURL, fails: true},
		"no URL":    {reason: "no URL", change: func(o *source.GitOptions) { o.URL = "http://u:" + secret + "@/x" }, err: source.ErrURL, fails: true},
		"no host":   {reason: "a URL without a host", change: func(o *source.GitOptions) { o.URL = "https:///x" }, err: source.ErrURL, fails: true},
		"bad proxy": {reason: "a proxy that is none", change: func(o *source.GitOptions) { o.Proxy = "ftp://u:" + "x" + "@host" }, err: source.ErrURL, fails: true},
		"bad CA":    {reason: "a CA that is none", change: func(o *source.GitOptions) { o.CAFile = []byte(secret) }, fails: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := s.options(source.GitRef{Branch: "main"})
			c.change(&o)
			_, err := source.FetchGit(t.Context(), o, "", nil)
			if (err != nil) != c.fails || c.err != nil && !errors.Is(err, c.err) {
				t.Fatalf("%s: got %v, want %v", c.reason, err, c.err)
			}
			if err == nil {
				return
			}
			for _, form := range []string{secret, url.PathEscape(secret), url.QueryEscape(secret), readerToken} {
				if strings.Contains(err.Error(), form) {
					t.Errorf("%s: the error shows a credential: %v", c.reason, err)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: the error has more than one line: %v", c.reason, err)
			}
		})
	}
}

func TestFetchByTLSAndProxy(t *testing.T) {
	s := serve(t)
	front := httptest.NewUnstartedServer(before(t, s.server))
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	front.StartTLS()
	defer front.Close()
	o := s.options(source.GitRef{Branch: "main"})
	o.URL = front.URL + "/git/app.git"
	if _, err := source.FetchGit(t.Context(), o, "", nil); err == nil {
		t.Error("an unknown CA was trusted")
	}
	o.CAFile = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	if _, err := source.FetchGit(t.Context(), o, "", nil); err != nil {
		t.Error(err)
	}

	p := before(t, s.server)
	// The server answers to no name but its own, as behind a proxy that knows it by that.
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		q.Host = "localhost"
		p.ServeHTTP(w, q)
	}))
	defer between.Close()
	o = s.options(source.GitRef{Branch: "main"})
	o.URL, o.Proxy = "http://git.example.invalid/git/app.git", between.URL
	if _, err := source.FetchGit(t.Context(), o, "", nil); err != nil {
		t.Error(err)
	}
	if len(p.take()) == 0 {
		t.Error("the proxy was not asked")
	}
}

func TestFetchEndsInTime(t *testing.T) {
	block := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-block:
		case <-r.Context().Done():
		}
	}))
	defer silent.Close()
	defer close(block)
	_, err := source.FetchGit(t.Context(), source.GitOptions{URL: silent.URL + "/x", Timeout: 50 * time.Millisecond}, "", nil)
	if err == nil || !strings.Contains(err.Error(), "timed out after 50ms") {
		t.Errorf("after the timeout: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source.FetchGit(ctx, source.GitOptions{URL: silent.URL + "/x"}, "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
}

func TestFetchFiles(t *testing.T) {
	s := serve(t)
	big := make([]byte, 2<<20)
	if _, err := rand.Read(big); err != nil {
		t.Fatal(err)
	}
	commit(t, s.work, "files", map[string]string{
		"big.bin": string(big), "photo.jpg": "x", "apps/.sourceignore": "skip/\n", "apps/skip/x.yaml": "x", "apps/keep.yaml": "x",
	})
	if err := os.Symlink("keep.yaml", filepath.Join(s.work, "apps/link.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(s.work, "big.bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, s.work, "-c", "protocol.file.allow=always", "submodule", "add", "-q", "file://"+workingCopy(t), "sub")
	commit(t, s.work, "link", nil)
	s.push(t, "main")

	o := s.options(source.GitRef{Branch: "main"})
	o.SpillDir = t.TempDir()
	got, err := source.FetchGit(t.Context(), o, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a.yaml", "apps/.sourceignore", "apps/keep.yaml", "apps/link.yaml", "big.bin", "dir/b.yaml", "photo.jpg", "version.yaml"}
	if diff := cmp.Diff(want, got.Tree.Paths()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if link, _ := got.Tree.File("apps/link.yaml"); link.Link != "keep.yaml" {
		t.Errorf("the link points to %q", link.Link)
	}
	f, _ := got.Tree.File("big.bin")
	data, err := f.Read()
	if err != nil || string(data) != string(big) || f.Mode.Perm() != 0o755 {
		t.Errorf("the large file has %d bytes, mode %v: %v", len(data), f.Mode, err)
	}
	if left, err := os.ReadDir(o.SpillDir); err != nil || len(left) > 0 {
		t.Errorf("the fetch left %v, %v", left, err)
	}

	ignore := "/*\n!/apps\n"
	o.Ignore = &ignore
	if got, err = source.FetchGit(t.Context(), o, "", nil); err != nil {
		t.Fatal(err)
	}
	// As with Flux, the last rule that matches counts: spec.ignore brings apps/skip back.
	want = []string{"apps/.sourceignore", "apps/keep.yaml", "apps/link.yaml", "apps/skip/x.yaml"}
	if diff := cmp.Diff(want, got.Tree.Paths()); diff != "" {
		t.Errorf("files with spec.ignore (-want +got):\n%s", diff)
	}
}

func TestFetchRefusesGiants(t *testing.T) {
	s := serve(t)
	giant, err := os.Create(filepath.Join(s.work, "giant.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(giant.Truncate(101<<20), giant.Close()); err != nil {
		t.Fatal(err)
	}
	commit(t, s.work, "giant", nil)
	s.push(t, "main")
	o := s.options(source.GitRef{Branch: "main"})
	o.SpillDir = t.TempDir()
	if _, err := source.FetchGit(t.Context(), o, "", nil); err == nil || !strings.Contains(err.Error(), "giant.bin") {
		t.Errorf("a giant file gave %v", err)
	}
	ignore := "giant.bin"
	o.Ignore = &ignore
	if _, err := source.FetchGit(t.Context(), o, "", nil); err != nil {
		t.Errorf("a giant file that is left out gave %v", err)
	}
}

func TestFetchFromMirrorWhileItMoves(t *testing.T) {
	s, dir := start(t), workingCopy(t)
	m, _ := mirror(t, s, dir)
	o := source.GitOptions{URL: s.URL("copy"), Username: reader, Password: readerToken, Ref: source.GitRef{Branch: "main"}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		var failed error
		for ctx.Err() == nil && failed == nil {
			_, failed = source.FetchGit(context.WithoutCancel(ctx), o, "", nil)
		}
		ended <- failed
	}()
	for range 20 {
		f, err := os.OpenFile(filepath.Join(dir, "a.yaml"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("x\n"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		refresh(t, m)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("a fetch while the branch moved: %v", err)
	}
}
