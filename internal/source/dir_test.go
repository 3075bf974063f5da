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

func TestReadDir(t *testing.T) {
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
		got, err := source.ReadDir(at, nil)
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
	got, err := source.ReadDir(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "big.bin", strings.Repeat("y", 2<<20))
	f, _ := got.File("big.bin")
	if _, err := f.Read(); err == nil {
		t.Error("a large file that changed was read")
	}
	for reason, path := range map[string]string{"a file": filepath.Join(dir, "a.yaml"), "nothing": filepath.Join(dir, "none")} {
		if _, err := source.ReadDir(path, nil); err == nil {
			t.Errorf("%s was read as a directory", reason)
		}
	}
}

func TestReadDirDoesNotReadWhatIsLeftOut(t *testing.T) {
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
	if _, err := source.ReadDir(dir, nil); err == nil || !strings.Contains(err.Error(), "giant.bin") {
		t.Errorf("a giant file gave %v", err)
	}
	write(t, dir, ".sourceignore", "*.bin\n")
	if _, err := source.ReadDir(dir, nil); err != nil {
		t.Error(err)
	}
}
