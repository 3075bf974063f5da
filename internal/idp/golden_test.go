package idp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGolden reads a tree of the layout that a real platform has: one package for each file, each with one directory of its own, but for
// those that name none.
func TestGolden(t *testing.T) {
	dir := os.Getenv("STACKS_GOLDEN")
	if dir == "" {
		t.Skip("STACKS_GOLDEN names no tree of packages")
	}
	input, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	result := Read(Options{Inputs: []Input{input}})
	for _, p := range result.Problems {
		t.Error(p)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Packages) != len(files) || len(files) == 0 || len(result.Overridden) > 0 {
		t.Errorf("there are %d packages in %d files, %d overridden", len(result.Packages), len(files), len(result.Overridden))
	}
	for i, p := range result.Packages {
		if i > 0 && p.Wave < result.Packages[i-1].Wave {
			t.Errorf("%s is before its wave", p.Name)
		}
		text, err := os.ReadFile(p.File)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Count(string(text), Scheme); len(p.Repositories) != want {
			t.Errorf("%s names %d directories, of %d addresses", p.Name, len(p.Repositories), want)
		}
		for _, r := range p.Repositories {
			if want := "idpbuilder-localdev-" + p.Object.GetName() + "-" + filepath.Base(r.path()); r.Name != want {
				t.Errorf("the repository is called %q, not %q", r.Name, want)
			}
			entries, skipped, err := Walk(os.DirFS(r.Root), r.Dir)
			if err != nil || len(skipped) > 0 || len(entries) == 0 {
				t.Errorf("%s: %d files, skipped %v, error %v", r.Name, len(entries), skipped, err)
			}
		}
		if text, err := p.Rewrite(Rewrites("https://gitea.invalid")).MarshalJSON(); err != nil || strings.Contains(string(text), Scheme) {
			t.Errorf("%s is rewritten to %s, error %v", p.Name, text, err)
		}
	}
}
