package worktree

import (
	"context"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

const password = "s3cret-token"

// forge is a Git server with a repository.
type forge struct {
	t      *testing.T
	server *gitserver.Server
	remote Remote
}

func serve(t *testing.T) *forge {
	t.Helper()
	server, err := gitserver.Start(t.Context(), gitserver.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.WithoutCancel(t.Context())) })
	server.AddUser("kargo", password, true)
	if err := server.CreateRepo(t.Context(), "deploy"); err != nil {
		t.Fatal(err)
	}
	return &forge{t, server, Remote{URL: server.URL("deploy"), Username: "kargo", Password: password, Client: &http.Client{Transport: &http.Transport{}}}}
}

// git runs the git program in a directory of the test.
func (f *forge) git(dir string, args ...string) string {
	f.t.Helper()
	command := exec.CommandContext(f.t.Context(), "git", append([]string{"-c", "user.name=ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"}, args...)...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := command.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// ask runs the git program on the repository of the server.
func (f *forge) ask(args ...string) string { return f.git(f.server.Dir("deploy"), args...) }

// seed has a working copy of the git program, whose branch main is pushed past the server's own checks.
func (f *forge) seed(write func(dir string)) (dir string) {
	f.t.Helper()
	dir = f.t.TempDir()
	f.git(dir, "init", "-q")
	f.more(dir, "seed", write)
	return dir
}

// more commits and pushes more.
func (f *forge) more(dir, message string, write func(dir string)) {
	f.t.Helper()
	write(dir)
	f.git(dir, "add", "--all")
	f.git(dir, "commit", "-q", "--allow-empty", "-m", message)
	f.git(dir, "push", "-q", f.server.Dir("deploy"), "HEAD:refs/heads/"+f.git(dir, "rev-parse", "--abbrev-ref", "HEAD"))
}

// files writes files by their names.
func files(t *testing.T, all map[string]string) func(dir string) {
	return func(dir string) {
		t.Helper()
		for name, text := range all {
			at := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// copied is a checkout.
type copied struct {
	*forge
	repo *Repository
	dir  string
	root *os.Root
}

// clone fetches, and writes the files.
func (f *forge) clone(ref Ref, sparse ...string) *copied {
	f.t.Helper()
	c, err := f.tryClone(ref, sparse...)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func (f *forge) tryClone(ref Ref, sparse ...string) (*copied, error) {
	f.t.Helper()
	repo, err := Create(f.t.TempDir())
	if err != nil {
		f.t.Fatal(err)
	}
	c := &copied{forge: f, repo: repo, dir: f.t.TempDir()}
	if c.root, err = os.OpenRoot(c.dir); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = c.root.Close() })
	server, err := f.remote.Connect(f.t.Context())
	if err == nil {
		err = repo.Fetch(f.t.Context(), server, ref)
	}
	if err == nil {
		err = repo.Write(f.t.Context(), c.root, sparse)
	}
	return c, err
}

// again opens the checkout as another process does.
func (c *copied) again() {
	c.t.Helper()
	var err error
	if c.repo, err = Open(c.repo.dir); err != nil {
		c.t.Fatal(err)
	}
}

func (c *copied) put(all map[string]string) { files(c.t, all)(c.dir) }

// commit commits, and expects a change.
func (c *copied) commit(message string) {
	c.t.Helper()
	if changed, err := c.repo.Commit(c.t.Context(), c.root, message, Author{"Headgate", "no-reply@example.org"}); err != nil || !changed {
		c.t.Fatalf("the commit: %v, %v", changed, err)
	}
}

func (c *copied) push(branch string) error {
	c.t.Helper()
	server, err := c.remote.Connect(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	return c.repo.Push(c.t.Context(), server, c.root, branch, Author{"Headgate", "no-reply@example.org"})
}

func (c *copied) pushed(branch string) {
	c.t.Helper()
	if err := c.push(branch); err != nil {
		c.t.Fatal(err)
	}
}

// found are the files of a directory, links with their targets and directories that are empty.
func found(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		at, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir():
			below, err := os.ReadDir(name)
			if len(below) == 0 {
				all[at] = "empty"
			}
			return err
		case entry.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(name)
			all[at] = "-> " + target
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o100 != 0 {
			data = append([]byte("run "), data...)
		}
		all[at] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// listed are the entries of a branch of the server, with their modes.
func (f *forge) listed(branch string) []string {
	f.t.Helper()
	all := map[string]bool{}
	for line := range strings.Lines(f.ask("ls-tree", "-r", branch)) {
		fields := strings.Fields(line)
		all[fields[0]+" "+fields[3]] = true
	}
	return slices.Sorted(maps.Keys(all))
}
