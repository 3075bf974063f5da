package gitserver_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

// filesOf are files with their contents; those whose name ends in .sh are executable.
func filesOf(contents map[string]string) []gitserver.File {
	var files []gitserver.File
	for name, text := range contents {
		files = append(files, gitserver.File{Path: name, Executable: strings.HasSuffix(name, ".sh"), Content: func() ([]byte, error) { return []byte(text), nil }})
	}
	return files
}

func TestExact(t *testing.T) {
	ctx := t.Context()
	s, err := gitserver.Start(ctx, gitserver.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	s.AddUser("reader", "secret", true)
	first, changed, err := s.Exact(ctx, "shop", filesOf(map[string]string{".gitignore": "*\n", "a.yaml": "one\n", `odd "name" \ é.yaml`: "", "sub/run.sh": "no newline"}))
	if err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	again, changed, err := s.Exact(ctx, "shop", filesOf(map[string]string{".gitignore": "*\n", "a.yaml": "one\n", `odd "name" \ é.yaml`: "", "sub/run.sh": "no newline"}))
	if err != nil || changed || again != first {
		t.Errorf("equal files: revision %s, then %s, changed %v, %v", first, again, changed, err)
	}
	url := strings.Replace(s.URL("shop"), "://", "://reader:secret@", 1)
	clone := filepath.Join(t.TempDir(), "clone")
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", args...).CombinedOutput()
		return string(out), err
	}
	if out, err := git("clone", "-q", url, clone); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]string{"a.yaml": "one\n", `odd "name" \ é.yaml`: "", "sub/run.sh": "no newline"} {
		if got, err := os.ReadFile(filepath.Join(clone, name)); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	if info, err := os.Stat(filepath.Join(clone, "sub/run.sh")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("sub/run.sh is not executable: %v", err)
	}
	if _, changed, err := s.Exact(ctx, "shop", filesOf(map[string]string{"a.yaml": "two\n"})); err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	if out, err := git("-C", clone, "fetch", "-q"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := git("-C", clone, "ls-tree", "-r", "--name-only", "origin/main"); err != nil || out != "a.yaml\n" {
		t.Errorf("after files were deleted there is %q, %v", out, err)
	}
	if out, err := git("-C", clone, "push", "-q", "origin", "HEAD:main", "-f"); err == nil || !strings.Contains(out, "403") {
		t.Errorf("a push is not refused: %v: %s", err, out)
	}
	broken := []gitserver.File{{Path: "b.yaml", Content: func() ([]byte, error) { return nil, errors.New("gone") }}}
	if _, _, err := s.Exact(ctx, "shop", broken); err == nil || !strings.Contains(err.Error(), `reading "b.yaml": gone`) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	if out, err := git("-C", clone, "ls-remote", "--heads", "origin"); err != nil || strings.Count(out, "\n") != 1 {
		t.Errorf("after a failure there is %q, %v", out, err)
	}
}
