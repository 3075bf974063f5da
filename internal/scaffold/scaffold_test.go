package scaffold

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	if err := Write(dir, []File{{"main.go", []byte("one")}, {"a/b.go", []byte("two")}}); err != nil {
		t.Fatal(err)
	}
	err := Write(dir, []File{{"a/c.go", []byte("three")}, {"main.go", []byte("four")}, {"a/b.go", nil}})
	var exists *ExistsError
	if !errors.As(err, &exists) || cmp.Diff([]string{"main.go", "a/b.go"}, exists.Names) != "" {
		t.Errorf("files that are there: %v", err)
	}
	if diff := cmp.Diff(map[string]string{"main.go": "one", "a/b.go": "two"}, contents(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRenew replaces the copy alone, also after a renewal that was interrupted.
func TestRenew(t *testing.T) {
	dir := t.TempDir()
	files := append([]File{{"main.go", []byte("mine")}}, Below(CopyDir, []File{{"chart/a.go", []byte("one")}, {"chart/gone.go", []byte("one")}})...)
	if err := Write(dir, files); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, CopyDir+".new", "chart"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"two", "three"} {
		if err := Renew(dir, []File{{"chart/a.go", []byte(version)}}); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"main.go": "mine", CopyDir + "/chart/a.go": version}
		if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// contents are the files below a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
