package laws

import (
	"go/ast"
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// vague are the names that say nothing of what a package holds.
var vague = []string{"util", "utils", "common", "shared", "helper", "helpers", "misc", "base", "lib"}

// excused are the rooms with the name of a package of the standard library, with the reason.
var excused = map[string]string{
	"internal/buildinfo": "debug/buildinfo reads other binaries, which nothing here does",
}

// initializes are the rooms that have an init function, with the reason.
var initializes = map[string]string{
	"internal/controlplane/quiet": "it has to come before init functions of Kubernetes, and does nothing else",
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
				if node.Recv == nil && node.Name.Name == "init" && initializes[f.room] == "" {
					t.Errorf("%s: it has an init function", f.path)
				}
			case *ast.SelectorExpr:
				x, _ := node.X.(*ast.Ident)
				if x == nil {
					return true
				}
				call := x.Name + "." + node.Sel.Name
				if call == "os.Exit" && f.ast.Name.Name != "main" && !strings.HasPrefix(f.room, "test/") {
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

// TestNames keeps packages from hiding one of the standard library's, and from names that say nothing.
func TestNames(t *testing.T) {
	standard := standardNames(t)
	for _, f := range sources(t) {
		name := strings.TrimSuffix(f.ast.Name.Name, "_test")
		if path := standard[name]; path != "" && excused[f.room] == "" {
			t.Errorf("%s: package %s hides %q of the standard library", f.path, name, path)
		}
		if slices.Contains(vague, name) {
			t.Errorf("%s: package %s says nothing of what it holds", f.path, name)
		}
	}
}

// standardNames are the importable packages of the standard library, by the names that they are used under.
func standardNames(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join(build.Default.GOROOT, "src")
	names := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir() || path == root:
			return nil
		case slices.Contains([]string{"cmd", "internal", "testdata", "vendor", "builtin"}, entry.Name()):
			return filepath.SkipDir
		}
		if found, err := filepath.Glob(filepath.Join(path, "*.go")); err == nil && len(found) > 0 {
			names[entry.Name()] = filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if names["http"] != "net/http" {
		t.Fatalf("the standard library was not found in %q", root)
	}
	return names
}
