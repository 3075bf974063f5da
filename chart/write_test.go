package chart_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/chart"
)

// tree is the files of a directory and what is in them, but for the list of synth.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() == ".headgate-synth.json" {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if entry.IsDir() {
			found[filepath.ToSlash(name)+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		found[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(found, "./")
	return found
}

func file(path, data string) chart.File { return chart.File{Path: path, Data: []byte(data)} }

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	steps := []struct {
		reason string
		before func()
		out    chart.Output
		files  []chart.File
		want   chart.Changes
		tree   map[string]string
	}{
		{
			"a first time", nil,
			chart.Output{Dir: dir},
			[]chart.File{file("a.yaml", "1"), file("b/c.yaml", "2"), file("b/d/e.yaml", "3")},
			chart.Changes{Added: []string{"a.yaml", "b/c.yaml", "b/d/e.yaml"}},
			map[string]string{"a.yaml": "1", "b/": "", "b/c.yaml": "2", "b/d/": "", "b/d/e.yaml": "3"},
		},
		{
			"a comparison writes nothing", nil,
			chart.Output{Dir: dir, Check: true},
			[]chart.File{file("a.yaml", "other"), file("b/c.yaml", "2"), file("new.yaml", "")},
			chart.Changes{Added: []string{"new.yaml"}, Changed: []string{"a.yaml"}, Removed: []string{"b/d/e.yaml"}, Unchanged: 1},
			map[string]string{"a.yaml": "1", "b/": "", "b/c.yaml": "2", "b/d/": "", "b/d/e.yaml": "3"},
		},
		{
			"files of others stay, and so does their folder",
			func() {
				if err := os.WriteFile(filepath.Join(dir, "b", "mine.txt"), []byte("mine"), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			chart.Output{Dir: dir},
			[]chart.File{file("a.yaml", "other")},
			chart.Changes{Changed: []string{"a.yaml"}, Removed: []string{"b/c.yaml", "b/d/e.yaml"}},
			map[string]string{"a.yaml": "other", "b/": "", "b/mine.txt": "mine"},
		},
		{
			"what was not synthesized stays when only some charts were", nil,
			chart.Output{Dir: dir, Partial: true},
			[]chart.File{file("z.yaml", "z")},
			chart.Changes{Added: []string{"z.yaml"}},
			map[string]string{"a.yaml": "other", "z.yaml": "z", "b/": "", "b/mine.txt": "mine"},
		},
		{
			"it is removed when all were", nil,
			chart.Output{Dir: dir},
			[]chart.File{file("z.yaml", "z")},
			chart.Changes{Removed: []string{"a.yaml"}, Unchanged: 1},
			map[string]string{"z.yaml": "z", "b/": "", "b/mine.txt": "mine"},
		},
		{
			"a file that somebody removed is written again", func() {
				if err := os.Remove(filepath.Join(dir, "z.yaml")); err != nil {
					t.Fatal(err)
				}
			},
			chart.Output{Dir: dir},
			[]chart.File{file("z.yaml", "z")},
			chart.Changes{Added: []string{"z.yaml"}},
			map[string]string{"z.yaml": "z", "b/": "", "b/mine.txt": "mine"},
		},
	}
	for _, step := range steps {
		if step.before != nil {
			step.before()
		}
		got, err := step.out.Write(step.files)
		if err != nil {
			t.Fatalf("%s: %v", step.reason, err)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: changes (-want +got):\n%s", step.reason, diff)
		}
		if diff := cmp.Diff(step.tree, tree(t, dir)); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", step.reason, diff)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		before map[string]string
		files  []chart.File
		want   string
	}{
		"Foreign": {"a file of another author in the way", map[string]string{"a.yaml": "mine"}, []chart.File{file("0.yaml", ""), file("a.yaml", "ours")}, "a.yaml exists and was not written by synth"},
		"Out":     {"a path out of the directory", nil, []chart.File{file("../a.yaml", "")}, `"../a.yaml" is not the name of a file`},
		"List":    {"the list itself", nil, []chart.File{file(".headgate-synth.json", "")}, "is not the name of a file"},
		"Forged":  {"a list that names files elsewhere", map[string]string{".headgate-synth.json": `{"files":["../../x"]}`}, nil, `names "../../x", which is not in the directory`},
		"Broken":  {"a list that is no list", map[string]string{".headgate-synth.json": `{`}, nil, "delete it to forget"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for path, data := range tc.before {
				if err := os.WriteFile(filepath.Join(dir, path), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := tree(t, dir)
			_, err := chart.Output{Dir: dir}.Write(tc.files)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: the error is %v, want %q", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("%s: something was written (-before +after):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWriteWithinLinks expects that a link in the directory does not lead a write out of it.
func TestWriteWithinLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if _, err := (chart.Output{Dir: dir}).Write([]chart.File{file("link/a.yaml", "x")}); err == nil {
		t.Error("it was written through the link")
	}
	if found := tree(t, outside); len(found) > 0 {
		t.Errorf("the folder outside has %v", found)
	}
}
