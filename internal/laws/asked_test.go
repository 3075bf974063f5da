package laws

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/engine"
)

// answers are the annotations that messages have a person set, with the test or scenario which shows that each acts at once, without
// another request.
func answers() map[string]string {
	return map[string]string{
		"headgate.dev/allow-reinstall":          "helm/reinstall",
		engine.DeletionHold:                     "apply/hold",
		"force: enabled":                        "apply/force",
		"helmv2.ResetRequestAnnotation":         "helm/failures",
		"argocd.argoproj.io/deletion-approved":  "argo/deletion",
		"argocd.argoproj.io/skip-reconcile":     "cli/argo",
		"headgate.dev/deletion-approved":        "argo/incident-sets",
		"headgate.dev/decryption":               "argo/decryption",
		"crossplane.io/external-create-pending": "internal/provision/digitalocean.TestKilledAnywhere",
		"crossplane.io/external-name":           "provision/digitalocean",
	}
}

// elsewhere are annotations that messages name and no loop waits for, and why.
func elsewhere() map[string]string {
	return map[string]string{
		"build.headgate.dev/outputs-of-run":                "a finding of graph --check, which reads it next time",
		"kargo.akuity.io/authorized-stage":                 "a Promotion that failed is over: another one is created",
		"kubectl.kubernetes.io/last-applied-configuration": "a sync that failed is requested again, as with the upstream",
	}
}

var (
	asks       = regexp.MustCompile(`\bannotate (it|the|%s)|\b(set|or|with|remove) (the|its) (%s)?( )?annotation|\bremove the $`)
	annotation = regexp.MustCompile(`[a-z0-9-]+(\.[a-z0-9-]+)+/[A-Za-z-]+|force: enabled`)
)

// TestAnnotationsThatMessagesName has every annotation act at once that a message has a person set: it is listed with what shows it.
func TestAnnotationsThatMessagesName(t *testing.T) {
	files, tests := sources(t), testsOf(t)
	constants, named := constantsOf(files), map[string]string{}
	for _, f := range files {
		if f.test || strings.HasPrefix(f.room, "test/") || strings.HasPrefix(f.room, "hack") {
			continue
		}
		for _, name := range asked(f, constants) {
			named[name] = f.path
		}
	}
	for name, path := range named {
		if answers()[name] == "" && elsewhere()[name] == "" {
			t.Errorf("%s: a message has a person set %s: have it act at once, and list the test that shows it", path, name)
		}
	}
	for name, by := range answers() {
		_, missing := os.Stat("../../test/scenario/testdata/" + by + ".txtar")
		if named[name] == "" || !tests[by] && missing != nil {
			t.Errorf("%s is named by no message, or there is no test %s", name, by)
		}
	}
}

// testsOf are the tests of the packages, by room and name.
func testsOf(t *testing.T) map[string]bool {
	tests := map[string]bool{}
	for _, f := range sources(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil {
				tests[f.room+"."+fn.Name.Name] = true
			}
		}
	}
	return tests
}

// constantsOf are the constants of the sources that name annotations.
func constantsOf(files []file) map[string]string {
	found := map[string]string{}
	for _, f := range files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, is := n.(*ast.ValueSpec)
			if !is || len(spec.Names) != len(spec.Values) {
				return true
			}
			for i, value := range spec.Values {
				if text := textOf(value); annotation.FindString(text) == text && text != "" {
					found[filepath.Base(f.room)+"."+spec.Names[i].Name] = text
				}
			}
			return true
		})
	}
	return found
}

// textOf is the value of a literal, empty for anything else.
func textOf(n ast.Node) string {
	literal, is := n.(*ast.BasicLit)
	if !is || literal.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return text
}

// asked are the annotations that the messages of a file have a person set: those that the statement names, or the field, of which the
// text is a part.
func asked(f file, constants map[string]string) []string {
	var found []string
	var path []ast.Node
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		if asks.MatchString(textOf(n)) {
			found = append(found, namedIn(whole(path), filepath.Base(f.room), constants)...)
		}
		return true
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// whole is the message of which a text is a part.
func whole(path []ast.Node) ast.Node {
	for i := len(path) - 1; i > 0; i-- {
		switch path[i].(type) {
		case ast.Stmt, *ast.KeyValueExpr, *ast.ValueSpec:
			return path[i]
		}
	}
	return path[0]
}

// namedIn are the annotations that a message of a room names, by their names or by constants.
func namedIn(n ast.Node, room string, constants map[string]string) []string {
	var found []string
	constant := func(name string) {
		if value, known := constants[name]; known {
			found = append(found, value)
		} else if strings.HasSuffix(name, "Annotation") {
			found = append(found, name)
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		found = append(found, annotation.FindAllString(textOf(n), -1)...)
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if of, is := n.X.(*ast.Ident); is {
				constant(of.Name + "." + n.Sel.Name)
				return false
			}
		case *ast.Ident:
			constant(room + "." + n.Name)
		}
		return true
	})
	return found
}
