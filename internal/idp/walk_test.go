package idp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestWalk(t *testing.T) {
	dir := lay(t, map[string]string{
		"root/p/a.yaml": "a", "root/p/sub/b.sh": "bb", "root/p/.hidden": "", "root/p/.git/config": "secret", "root/p/sub/.GIT/x": "", "root/p/empty/": "",
		"root/p/base": "->../base", "root/base/c.yaml": "ccc", "root/p/sub/up": "->..", "root/p/out": "->../../outside", "outside/key": "k", "root/p/broken": "->nowhere",
		"root/p/linked.yaml": "->sub/b.sh",
	})
	if err := os.Chmod(filepath.Join(dir, "root/p/sub/b.sh"), 0o700); err != nil { //nolint:gosec // it is a script
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, "root"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // the end of the test
	entries, skipped, err := Walk(root.FS(), "p")
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{".hidden", "p/.hidden", false, 0},
		{"a.yaml", "p/a.yaml", false, 1},
		{"base/c.yaml", "p/base/c.yaml", false, 3},
		{"linked.yaml", "p/linked.yaml", true, 2},
		{"sub/b.sh", "p/sub/b.sh", true, 2},
	}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Errorf("the files (-want +got):\n%s", diff)
	}
	var left []string
	for _, s := range skipped {
		left = append(left, fmt.Sprintf("%s: %v", s.Path, s.Err))
	}
	if diff := cmp.Diff([]string{
		"broken: no such file or directory", "out: path escapes from parent", "sub/up: it is a link to a directory that it is in",
	}, left); diff != "" {
		t.Errorf("what is skipped (-want +got):\n%s", diff)
	}
}

func TestWalkLimits(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		lay    func(fstest.MapFS)
		says   string
	}{
		"Missing": {"there has to be a directory", func(fstest.MapFS) {}, "file does not exist"},
		"Deep":    {"levels are counted", func(m fstest.MapFS) { m["p/"+strings.Repeat("d/", maxDepth+1)+"f"] = &fstest.MapFile{} }, "more than 64 levels"},
		"Many": {"so are files", func(m fstest.MapFS) {
			for i := range maxEntries + 1 {
				m[fmt.Sprintf("p/%d", i)] = &fstest.MapFile{}
			}
		}, "more than 20000 files"},
		"Large": {"and bytes", func(m fstest.MapFS) { m["p/f"] = &fstest.MapFile{Data: make([]byte, maxBytes+1)} }, "more than 256 MiB"},
		"File":  {"a file is not a directory", func(m fstest.MapFS) { m["p"] = &fstest.MapFile{} }, "not implemented"},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{}
			tc.lay(files)
			entries, _, err := Walk(files, "p")
			if err == nil || !strings.Contains(err.Error(), tc.says) || entries != nil {
				t.Errorf("%s: %d files, %v", tc.reason, len(entries), err)
			}
		})
	}
}

// FuzzWalk lists directories of any names and links: what is listed is a file below the directory, each path once, nothing of Git's, and nothing
// from outside the root.
func FuzzWalk(f *testing.F) {
	f.Add("p/a=x\np/sub/b=y\np/.git/config=z\n")
	f.Add("p/loop->.\np/out->../../secret\nkey=k\np/a/b->../../p\n")
	f.Add("p/a->b\np/b->a\np/c->/etc\np/d->c/passwd\n")
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "root", "p"), 0o750), os.WriteFile(filepath.Join(dir, "secret"), []byte("of the host"), 0o600)); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(filepath.Join(dir, "root"))
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close() //nolint:errcheck // the end of the test
		for _, line := range strings.SplitN(text, "\n", 16) {
			name, content, is := strings.Cut(line, "=")
			target := ""
			if !is {
				name, target, is = strings.Cut(line, "->")
			}
			// Some names are none, and some are taken: whatever there is in the end is listed.
			if is && fs.ValidPath(name) && root.MkdirAll(path.Dir(name), 0o750) == nil {
				if target == "" {
					_ = root.WriteFile(name, []byte(content), 0o600)
				} else {
					_ = root.Symlink(target, name)
				}
			}
		}
		entries, _, err := Walk(root.FS(), "p")
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, e := range entries {
			if seen[e.Path] || !fs.ValidPath(e.Path) || e.Source != "p/"+e.Path || strings.Contains("/"+strings.ToLower(e.Path)+"/", "/.git/") {
				t.Errorf("%q lists %+v", text, e)
			}
			seen[e.Path] = true
			data, err := root.ReadFile(e.Source)
			if err != nil || int64(len(data)) != e.Size || string(data) == "of the host" && !strings.Contains(text, "of the host") {
				t.Errorf("%q has %q, not %d bytes: %v", e.Source, data, e.Size, err)
			}
		}
	})
}
