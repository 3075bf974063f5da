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
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/headgate-dev/headgate/"

// arrows are the imports that each room may make of other rooms.
var arrows = map[string][]string{
	"cmd/headgate":               {"internal/cli"},
	"internal/cli":               {"internal/flux", "internal/runner", "internal/engine", "internal/controlplane", "internal/gitserver", "internal/source", "internal/buildinfo"},
	"internal/flux":              {"internal/runner", "internal/render", "internal/render/decrypt", "internal/render/substitute", "internal/source", "internal/apply", "internal/cluster", "internal/engine", "internal/flux/crds"},
	"internal/flux/crds":         {},
	"internal/runner":            {"internal/render", "internal/source", "internal/apply", "internal/cluster", "internal/health", "internal/engine"},
	"internal/apply":             {"internal/cluster", "internal/engine"},
	"internal/cluster":           {"internal/health", "internal/engine"},
	"internal/health":            {"internal/engine"},
	"internal/engine":            {},
	"internal/render":            {"internal/source", "internal/render/decrypt", "internal/render/substitute"},
	"internal/render/decrypt":    {},
	"internal/render/substitute": {},
	"internal/source":            {},
	"internal/gitserver":         {},
	"internal/controlplane":      {},
	"internal/buildinfo":         {},
	"internal/kit":               {"internal/controlplane", "internal/flux", "internal/gitserver", "internal/source"},
	"internal/laws":              {},
}

// guarded are modules that one room alone imports, beside the tests outside of the rooms.
var guarded = map[string][]string{
	"k8s.io/kubernetes/":                      {"internal/controlplane"},
	"go.etcd.io/":                             {"internal/controlplane"},
	"sigs.k8s.io/kwok/":                       {"internal/controlplane"},
	"github.com/getsops/":                     {"internal/render/decrypt"},
	"github.com/go-git/":                      {"internal/source"},
	"github.com/fluxcd/kustomize-controller/": {"internal/flux"},
	"github.com/fluxcd/source-controller/":    {"internal/flux"},
	"sigs.k8s.io/kustomize/":                  {"internal/render", "internal/flux"},
	"github.com/spf13/cobra":                  {"internal/cli"},
}

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

func TestArrows(t *testing.T) {
	for _, f := range sources(t) {
		if strings.HasPrefix(f.room, "test/") {
			continue
		}
		allowed, known := arrows[f.room]
		if !known {
			t.Errorf("%s: room %q is not in the table of arrows; say what it may import", f.path, f.room)
			continue
		}
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if to, ours := strings.CutPrefix(name, module); ours && !slices.Contains(allowed, to) && to != f.room && !f.test {
				t.Errorf("%s: %s -> %s is an arrow that the law does not allow", f.path, f.room, to)
			}
			for prefix, rooms := range guarded {
				if strings.HasPrefix(name, prefix) && !slices.Contains(rooms, f.room) && !f.test {
					t.Errorf("%s: %s -> %s: only %v may import it", f.path, f.room, name, rooms)
				}
			}
		}
	}
}

func TestHouse(t *testing.T) {
	documented := map[string]bool{}
	rooms := map[string]string{}
	for _, f := range sources(t) {
		if !f.test || rooms[f.room] == "" {
			rooms[f.room] = f.path
		}
		documented[f.room] = documented[f.room] || f.ast.Doc != nil
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch node := n.(type) {
			case *ast.FuncDecl:
				if node.Recv == nil && node.Name.Name == "init" {
					t.Errorf("%s: it has an init function", f.path)
				}
			case *ast.SelectorExpr:
				x, _ := node.X.(*ast.Ident)
				if x == nil {
					return true
				}
				call := x.Name + "." + node.Sel.Name
				if call == "os.Exit" && f.room != "cmd/headgate" && !strings.HasPrefix(f.room, "test/") {
					t.Errorf("%s: it ends the process", f.path)
				}
				if call == "time.Sleep" {
					t.Errorf("%s: it sleeps; wait for a condition", f.path)
				}
			}
			return true
		})
	}
	for room, path := range rooms {
		if !documented[room] {
			t.Errorf("%s: package %s has no comment that says what it is", path, room)
		}
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
