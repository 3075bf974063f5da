package source_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

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

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	big := strings.Repeat("x", 2<<20)
	for name, content := range map[string]string{
		"a.yaml": "a: 1\n", "dir/b.yaml": "b: 1\n", ".git/config": "x", "nested/.git": "gitdir: x", "big.bin": big, "x.png": "x",
	} {
		write(t, dir, name, content)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, link} {
		got, err := source.Directory{Path: at}.Tree(source.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a.yaml", "big.bin", "dir/b.yaml", "link"}, got.Paths()); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if f, _ := got.File("link"); f.Link != "/etc/passwd" {
			t.Errorf("the link is %+v", f)
		}
		f, _ := got.File("big.bin")
		if data, err := f.Read(); err != nil || string(data) != big {
			t.Errorf("the large file has %d bytes: %v", len(data), err)
		}
	}
	got, err := source.Directory{Path: dir}.Tree(source.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "big.bin", strings.Repeat("y", 2<<20))
	f, _ := got.File("big.bin")
	if _, err := f.Read(); err == nil {
		t.Error("a large file that changed was read")
	}
	for reason, path := range map[string]string{"a file": filepath.Join(dir, "a.yaml"), "nothing": filepath.Join(dir, "none")} {
		if _, err := (source.Directory{Path: path}).Tree(source.Selection{}); err == nil {
			t.Errorf("%s was read as a directory", reason)
		}
	}
}

func TestDirectoryDoesNotReadWhatIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	giant, err := os.Create(filepath.Join(dir, "giant.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if err := giant.Truncate(101 << 20); err != nil {
		t.Fatal(err)
	}
	if err := giant.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := (source.Directory{Path: dir}).Tree(source.Selection{}); err == nil || !strings.Contains(err.Error(), "giant.bin") {
		t.Errorf("a giant file gave %v", err)
	}
	write(t, dir, ".sourceignore", "*.bin\n")
	if _, err := (source.Directory{Path: dir}).Tree(source.Selection{}); err != nil {
		t.Error(err)
	}
}

func TestDirectorySelection(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{"a.yaml": "a", "dir/b.yaml": "b", "dir/c.txt": "c", "ignored.yaml": "i", ".sourceignore": "*.txt\n"} {
		write(t, dir, name, content)
	}
	write(t, other, "x.yaml", "x")
	write(t, other, "x.txt", "x")
	included, err := source.Directory{Path: other}.Tree(source.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	all := source.Directory{Path: dir, Only: map[string]bool{"a.yaml": true, "dir/b.yaml": true, "dir/c.txt": true, ".sourceignore": true, "gone.yaml": true}}
	rules := "/a.yaml\n"
	cases := map[string]struct {
		reason    string
		selection source.Selection
		want      []string
	}{
		"all":    {reason: "what counts, by the rules that the files hold", want: []string{".sourceignore", "a.yaml", "dir/b.yaml"}},
		"ignore": {reason: "rules of the declaration are added", selection: source.Selection{Ignore: &rules}, want: []string{".sourceignore", "dir/b.yaml"}},
		"sparse": {reason: "rules outside of the wanted directories do not count", selection: source.Selection{Sparse: []string{"dir"}}, want: []string{"dir/b.yaml", "dir/c.txt"}},
		"include": {
			reason: "rules count for what is included", selection: source.Selection{Include: []source.Inclusion{{Name: "other", Tree: included, To: "there"}}},
			want: []string{".sourceignore", "a.yaml", "dir/b.yaml", "there/x.yaml"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := all.Tree(c.selection)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got.Paths()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	if _, err := all.Tree(source.Selection{Sparse: []string{"none"}}); err == nil || !strings.Contains(err.Error(), `spec.sparseCheckout[0]: no such directory "none"`) {
		t.Errorf("a directory that is not there gave %v", err)
	}
}
