package gitserver_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"

	"github.com/headgate-dev/headgate/internal/source"
)

// counter passes requests on to a server and counts the bytes of its answers.
type counter struct {
	http.Handler
	sent atomic.Int64
}

type counted struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	c.sent.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.Handler.ServeHTTP(counted{w, &c.sent}, r)
}

// large are files that do not compress.
func large(t *testing.T, files, size int) map[string]string {
	t.Helper()
	made := map[string]string{}
	for i := range files {
		data := make([]byte, size)
		if _, err := rand.Read(data); err != nil {
			t.Fatal(err)
		}
		made[fmt.Sprintf("large/%d/%d.bin", i%7, i)] = string(data)
	}
	return made
}

func TestFetchTransfersWhatIsNew(t *testing.T) {
	s := serve(t)
	u, err := url.Parse(s.server.Base())
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{Handler: httputil.NewSingleHostReverseProxy(u)}
	front := httptest.NewServer(c)
	defer front.Close()
	commit(t, s.work, "large", large(t, 200, 10_000))
	s.push(t, "main")
	o := s.options(source.GitRef{})
	o.URL, o.SpillDir, o.Clone = front.URL+"/git/app.git", t.TempDir(), &source.Clone{}
	fetch := func(reason string, ref source.GitRef, atMost int64) {
		t.Helper()
		c.sent.Store(0)
		o.Ref = ref
		got, err := source.FetchGit(t.Context(), o, "", nil)
		if err != nil {
			t.Fatalf("%s: %v", reason, err)
		}
		sent := c.sent.Load()
		t.Logf("%s: %d bytes", reason, sent)
		if sent > atMost {
			t.Errorf("%s: the server sent %d bytes, more than %d", reason, sent, atMost)
		}
		fresh := o
		fresh.Clone = nil
		want, err := source.FetchGit(t.Context(), fresh, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Revision != want.Revision || got.CommitMessage != want.CommitMessage || got.Tree.Digest() != want.Tree.Digest() {
			t.Errorf("%s: got %s with tree %s, a new clone has %s with %s", reason, got.Revision, got.Tree.Digest(), want.Revision, want.Tree.Digest())
		}
	}
	const little, all = 10_000, 3_000_000
	main := source.GitRef{Branch: "main"}
	fetch("the first fetch", main, all)
	if c.sent.Load() < 2_000_000 {
		t.Fatalf("the repository has %d bytes only", c.sent.Load())
	}
	commit(t, s.work, "line", map[string]string{"version.yaml": "line\n"})
	s.push(t, "main")
	fetch("one line", main, little)
	for i := range 5 {
		commit(t, s.work, "more", map[string]string{"version.yaml": fmt.Sprint(i), fmt.Sprintf("more/%d", i): "x"})
	}
	s.push(t, "main")
	fetch("several commits", main, little)
	fetch("nothing", main, little)
	git(t, s.work, "reset", "-q", "--hard", "HEAD~3")
	s.push(t, "main")
	fetch("back to a commit of before that was not fetched", main, little)
	git(t, s.work, "commit", "-q", "--amend", "-m", "amended")
	s.push(t, "main")
	fetch("a commit in the place of the last", main, little)
	fetch("another branch", source.GitRef{Branch: "side"}, little)
	fetch("and back", main, little)
	fetch("an annotated tag", source.GitRef{Tag: "v1.2.0"}, little)
	git(t, s.work, "tag", "-a", "-m", "annotated", "v3.0.0", "main")
	s.push(t, "--tags")
	// The clone has the commit of the branch, but is sent that of the tag.
	fetch("a range", source.GitRef{SemVer: ">=3"}, all)
	git(t, s.work, "checkout", "-q", "-b", "next")
	commit(t, s.work, "next", map[string]string{"version.yaml": "next\n"})
	git(t, s.work, "tag", "-a", "-m", "annotated", "v3.1.0")
	s.push(t, "next", "--tags")
	fetch("the next of the range", source.GitRef{SemVer: ">=3"}, little)
	fetch("any reference", source.GitRef{Name: "refs/heads/next"}, little)
	fetch("a commit has the history", source.GitRef{Commit: s.commits["one"]}, all)
	fetch("which the clone does without", source.GitRef{Branch: "next"}, little)

	git(t, s.work, "checkout", "-q", "--orphan", "fresh")
	commit(t, s.work, "fresh", large(t, 3, 1000))
	s.push(t, "fresh:next")
	fetch("a history that has nothing of the other", source.GitRef{Branch: "next"}, all)
	git(t, s.work, "push", "-q", "-f", as(s.server.URL("app"), writer, writerToken), ":next", "fresh:next/below")
	fetch("a branch below the name of one that is gone", source.GitRef{Branch: "next/below"}, little)

	damage(t, o.SpillDir)
	commit(t, s.work, "after", map[string]string{"version.yaml": "after\n"})
	s.push(t, "fresh:next/below")
	fetch("a clone that is damaged", source.GitRef{Branch: "next/below"}, all)
	commit(t, s.work, "giant", large(t, 1, 17<<20))
	s.push(t, "fresh:next/below")
	fetch("more than is taken in at a time", source.GitRef{Branch: "next/below"}, 50_000_000)
	commit(t, s.work, "little", map[string]string{"version.yaml": "little\n"})
	s.push(t, "fresh:next/below")
	fetch("the clone that this made", source.GitRef{Branch: "next/below"}, little)
	o.URL = s.server.URL("app")
	fetch("another URL", source.GitRef{Branch: "next/below"}, all)
	if err := o.Clone.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(o.SpillDir); err != nil || len(left) > 0 {
		t.Errorf("the clone left %v, %v", left, err)
	}
	fetch("a clone that was closed", source.GitRef{Branch: "next/below"}, all)
	if err := o.Clone.Close(); err != nil {
		t.Fatal(err)
	}
}

// damage deletes what a clone has kept, but not the clone.
func damage(t *testing.T, dir string) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "*", "objects", "pack", "*"))
	if err != nil || len(packs) == 0 {
		t.Fatalf("there are no packs: %v", err)
	}
	for _, name := range packs {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFetchBySSHTransfersWhatIsNew(t *testing.T) {
	work := workingCopy(t)
	commit(t, work, "large", large(t, 50, 10_000))
	_, host := sshKey(t, "")
	identity, signer := sshKey(t, "")
	address, received := countedSSH(t, work, host, signer.PublicKey())
	o := source.GitOptions{
		URL: "ssh://git@" + address + "/app.git", Identity: identity, Ref: source.GitRef{Branch: "main"},
		KnownHosts: []byte(knownhosts.Line([]string{address}, host.PublicKey()) + "\n"),
		Clone:      &source.Clone{}, SpillDir: t.TempDir(),
	}
	fetch := func(atLeast, atMost int64) {
		t.Helper()
		received.Store(0)
		got, err := source.FetchGit(t.Context(), o, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := "main@sha1:" + git(t, work, "rev-parse", "HEAD"); got.Revision != want {
			t.Errorf("revision %q, want %q", got.Revision, want)
		}
		if sent := received.Load(); sent < atLeast || sent > atMost {
			t.Errorf("the server sent %d bytes, want %d to %d", sent, atLeast, atMost)
		}
	}
	fetch(500_000, 600_000)
	commit(t, work, "line", map[string]string{"a.yaml": "a: 2\n"})
	fetch(1, 10_000)
	if err := o.Clone.Close(); err != nil {
		t.Fatal(err)
	}
}

// countedSSH is an SSH server behind a relay that counts what it sends.
func countedSSH(t *testing.T, repo string, host ssh.Signer, allowed ssh.PublicKey) (string, *atomic.Int64) {
	t.Helper()
	server := sshServer(t, repo, host, allowed)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	received := &atomic.Int64{}
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", server)
			if err != nil {
				_ = in.Close()
				continue
			}
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
			go func() { _, _ = io.Copy(relay{in, received}, out); _ = in.Close() }()
		}
	}()
	return listener.Addr().String(), received
}

type relay struct {
	io.Writer
	count *atomic.Int64
}

func (r relay) Write(p []byte) (int, error) {
	r.count.Add(int64(len(p)))
	return r.Writer.Write(p)
}
