package gitserver_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

const (
	writer, writerToken = "writer", "writer-token"
	reader, readerToken = "reader", "reader-token"
)

// start starts a server with a user who has push access and one who has not.
func start(t *testing.T) *gitserver.Server {
	t.Helper()
	s, err := gitserver.Start(t.Context(), gitserver.Config{Dir: filepath.Join(t.TempDir(), "repositories")})
	if err != nil {
		t.Fatal(err)
	}
	s.AddUser(writer, writerToken, true)
	s.AddUser(reader, readerToken, false)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// as puts credentials into a URL.
func as(url, user, token string) string {
	return strings.Replace(url, "http://", "http://"+user+":"+token+"@", 1)
}

// tryGit runs the git of this machine without anybody's settings.
func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.TrimSpace(out.String()), err
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// commit writes files into a working copy and commits all there is.
func commit(t *testing.T, dir, message string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		write(t, dir, name, content)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", message)
	return git(t, dir, "rev-parse", "HEAD")
}

// workingCopy makes a repository with one commit on the branch main.
func workingCopy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	git(t, "", "init", "-q", "-b", "main", dir)
	commit(t, dir, "first", map[string]string{"a.yaml": "a: 1\n", "dir/b.yaml": "b: 1\n"})
	return dir
}

// show returns the files of a revision in a served repository, by cloning it.
func show(t *testing.T, s *gitserver.Server, repo, branch string) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, "", "clone", "-q", "--depth=1", "--branch", branch, as(s.URL(repo), reader, readerToken), dir)
	files := map[string]string{}
	for _, name := range strings.Fields(git(t, dir, "ls-files")) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			// A submodule is an empty directory.
			data = []byte("-")
		}
		files[name] = string(data)
	}
	return files
}

// random is text that does not compress.
func random(t *testing.T, n int) string {
	t.Helper()
	data := make([]byte, n)
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	return string(data)
}
