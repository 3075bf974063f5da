// Package laws holds the import law of the rooms, and the few rules of the house that a compiler
// does not check, as tests over our own source.
package laws

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type file struct {
	path, room string
	test       bool
	ast        *ast.File
}

func sources(t *testing.T) []file {
	t.Helper()
	var files []file
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == "tools" || name == "testdata" || (strings.HasPrefix(name, ".") && name != ".." && name != "../..") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		room := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(path, "../../")))
		files = append(files, file{path: path, room: room, test: strings.HasSuffix(path, "_test.go"), ast: parsed})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d files were found", len(files))
	}
	return files
}

// TestDefinitionsComeFromTheTypesInUse compares the modules that the CRDs are generated from with those
// that the engine is built with.
func TestDefinitionsComeFromTheTypesInUse(t *testing.T) {
	version := regexp.MustCompile(`(?m)^\s*(github\.com/fluxcd/[a-z-]+-controller/api) (v\S+)`)
	read := func(path string) map[string]string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		versions := map[string]string{}
		for _, match := range version.FindAllStringSubmatch(string(data), -1) {
			versions[match[1]] = match[2]
		}
		return versions
	}
	used := read("../../go.mod")
	if len(used) == 0 {
		t.Fatal("go.mod requires no module with types of the upstream")
	}
	if diff := cmp.Diff(used, read("../../tools/go.mod")); diff != "" {
		t.Errorf("go.mod and tools/go.mod require other versions (-go.mod +tools/go.mod):\n%s", diff)
	}
}

func TestExampleKeyIsMarked(t *testing.T) {
	data, err := os.ReadFile("../../examples/layered/age.agekey")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(data), "# EXAMPLE ONLY") {
		t.Error("the key of the example must say that it is one")
	}
}
