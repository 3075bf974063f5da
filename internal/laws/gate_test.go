package laws

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOneGate keeps the writes of Applications together: what a project permits is asked in one file, and whatever writes
// or deletes past it bypasses that.
func TestOneGate(t *testing.T) {
	const gate = "gate.go"
	passed := 0
	for _, f := range sources(t) {
		if !strings.HasPrefix(f.room+"/", "internal/argo/") || f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			called, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			through, ok := called.X.(*ast.SelectorExpr)
			if !ok || through.Sel.Name != "Applier" || !slices.Contains([]string{"Write", "Remove", "Apply", "Delete"}, called.Sel.Name) {
				return true
			}
			if passed++; filepath.Base(f.path) != gate {
				t.Errorf("%s: Applier.%s passes by the gate of the Application: call it in %s", f.path, called.Sel.Name, gate)
			}
			return true
		})
	}
	if passed == 0 {
		t.Errorf("no write was found: the law looks for something that is not there any more")
	}
}
