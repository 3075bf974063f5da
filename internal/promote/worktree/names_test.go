package worktree

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func TestReserved(t *testing.T) {
	for name, want := range map[string]bool{
		".git": true, ".GIT": true, ".Git": true, ".git.": true, ".git ": true, ".git . .": true, "git~1": true, "GIT~1": true, "git~2": true,
		".g\u200cit": true, "\ufeff.git": true, ".git\u200d": true, ".\u2060git": true, "．git": true, ".ｇｉｔ": true, ".git::$INDEX_ALLOCATION": true, ".git:x": true,
		`a\.git\config`: true, ".gi\ufe0ft": true, ".git\x01": true,
		".gitignore": false, ".github": false, ".gitmodules": false, "git": false, "a.git": false, "git-sync": false, "..git": false, "": false, "digit~1": false, "~": false,
	} {
		if got := Reserved(name); got != want {
			t.Errorf("Reserved(%q) is %v", name, got)
		}
	}
}

// links is a directory with links in all places.
func links(t testing.TB) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"a/b/c", "d"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"a/l": "b", "a/b/up": "../..", "l": "a", "d/out": "/", "loop": "loop", "gone": "nothing"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a/b/f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestStraight(t *testing.T) {
	root := links(t)
	for name, link := range map[string]string{
		".": "", "a": "", "a/b/f": "", "new/x": "", "a/new": "", "l": "l", "l/b": "l", "a/l": "a/l", "a/l/c/new": "a/l", "a/b/up/d": "a/b/up", "d/out/etc": "d/out", "loop": "loop", "gone": "gone",
	} {
		err := Straight(root, name)
		if (err != nil) != (link != "") || link != "" && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), `"`+link+`"`)) {
			t.Errorf("%q: the error is %v, want %q", name, err, link)
		}
	}
}

// FuzzStraight has paths that are taken lead where they say.
func FuzzStraight(f *testing.F) {
	root := links(f)
	at, err := filepath.EvalSymlinks(root.Name())
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"a/b/f", "l/b/f", "a/../l/b", "d/out/etc/passwd", "a//l/./b", "loop/x", "a/b/up/a/b/f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		cleaned := path.Clean(name)
		if !filepath.IsLocal(cleaned) || Straight(root, cleaned) != nil {
			return
		}
		joined := filepath.Join(at, cleaned)
		if real, err := filepath.EvalSymlinks(joined); err == nil && real != joined {
			t.Errorf("%q leads to %q", name, real)
		}
	})
}

// FuzzReserved has names that file systems may take for Git's stay so, whatever is ignored in them.
func FuzzReserved(f *testing.F) {
	for _, seed := range []string{"", "\u200c", " ", ".", ":", "\u200f. "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, behind string) {
		for _, name := range []string{".git" + visible("\u200c"), strings.TrimRight(".GIT"+strings.Repeat(".", len(behind)%3), "")} {
			if !Reserved(name) {
				t.Errorf("%q is not reserved", name)
			}
		}
		if visible(behind) == "" && !Reserved(".g"+behind+"it") {
			t.Errorf("%q is not reserved", ".g"+behind+"it")
		}
		if strings.Trim(behind, ". ") == "" && !Reserved(".git"+behind) {
			t.Errorf("%q is not reserved", ".git"+behind)
		}
	})
}
