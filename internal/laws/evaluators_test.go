package laws

import (
	"go/ast"
	"go/token"
	"maps"
	pathpkg "path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// languages are the libraries that evaluate, compile or match what others write.
var languages = []string{
	"github.com/tidwall/gjson", "github.com/tidwall/sjson", "github.com/ohler55/ojg/jp", "k8s.io/client-go/util/jsonpath", "text/template", "html/template",
	"github.com/Masterminds/sprig/v3", "github.com/itchyny/gojq", "github.com/expr-lang/expr", "github.com/casbin/govaluate", "github.com/gobwas/glob/syntax", "github.com/gobwas/glob",
	"github.com/bmatcuk/doublestar/v4", "github.com/robfig/cron/v3", "github.com/fluxcd/pkg/envsubst", "github.com/google/go-jsonnet", "github.com/santhosh-tekuri/jsonschema/v6",
	"github.com/google/cel-go/cel", "github.com/yuin/gopher-lua", "github.com/yuin/gopher-lua/parse", "github.com/yuin/gopher-lua/pm", "github.com/lestrrat-go/strftime",
	"gopkg.in/evanphx/json-patch.v4", "github.com/evanphx/json-patch/v5",
}

// evaluators are the files that may call them, and what bounds them there.
var evaluators = map[string]string{
	"internal/argo/appset/functions.go":        "steps, bytes and items of each call are counted; a pass has a minute",
	"internal/argo/appset/gotemplate.go":       "steps, bytes and items of each call are counted; a pass has a minute",
	"internal/argo/manifests/evaluation.go":    "a job of the sandbox",
	"internal/argo/manifests/job.go":           "a job of the sandbox",
	"internal/argo/manifests/valuefiles.go":    "only the base of a pattern is split; internal/patterns matches",
	"internal/argo/policy/window.go":           "openings that are evaluated are bounded",
	"internal/builds/plan/schedule.go":         "times that were missed are bounded",
	"internal/expression/bounds.go":            "the costs of an evaluation are limited, and the size of what it makes",
	"internal/expression/expression.go":        "the costs of an evaluation are limited, and the size of what it makes",
	"internal/health/cel.go":                   "internal/expression compiles and evaluates",
	"internal/helm/schema.go":                  "a job of the sandbox",
	"internal/images/message.go":               "a job of the sandbox",
	"internal/jq/jq.go":                        "small expressions are evaluated here, all others in the sandbox",
	"internal/jq/small.go":                     "small expressions are evaluated here, all others in the sandbox",
	"internal/lua/library.go":                  "a meter of steps and bytes",
	"internal/lua/lua.go":                      "a meter of steps and bytes",
	"internal/lua/meter.go":                    "a meter of steps and bytes",
	"internal/lua/pattern.go":                  "a meter of steps and bytes",
	"internal/lua/text.go":                     "a meter of steps and bytes",
	"internal/lua/value.go":                    "a meter of steps and bytes",
	"internal/notify/expression.go":            "internal/expression compiles and evaluates",
	"internal/patterns/glob.go":                "lengths, instructions and alternatives are bounded",
	"internal/patterns/path.go":                "lengths, instructions and alternatives are bounded",
	"internal/promote/analysis/judge.go":       "a job of the sandbox",
	"internal/promote/steps/json.go":           "names are set here, with a bound for items; all else in the sandbox",
	"internal/provision/objects/readiness.go":  "internal/expression compiles and evaluates",
	"internal/render/substitute/substitute.go": "what functions make, and their work, is added up before",
	"internal/resourceset/functions.go":        "a job of the sandbox",
	"internal/resourceset/template.go":         "a job of the sandbox",
	"internal/secrets/store/values.go":         "names are selected here, all else in the sandbox",
	"internal/secrets/store/webhook/path.go":   "a job of the sandbox",
	"internal/secrets/templates/functions.go":  "a job of the sandbox",
	"internal/secrets/templates/template.go":   "a job of the sandbox",
	"internal/simulate/derive.go":              "rules are parsed within the limits of the parser; internal/expression evaluates",
	"internal/source/compose/request.go":       "only the base of a pattern is split; internal/patterns matches",
	"internal/workflow/cron/schedule.go":       "schedules and times that were missed are bounded",
	"internal/workflow/object/condition.go":    "paths are names of labels",
	"internal/workflow/object/output.go":       "small paths are evaluated here, all others in the sandbox",
	"internal/workflow/object/query.go":        "small paths are evaluated here, all others in the sandbox",
	"internal/workflow/plan/global.go":         "formats are of one letter",
	"internal/workflow/text/amplify.go":        "a meter of steps and bytes; conditions have a length",
	"internal/workflow/text/expression.go":     "a meter of steps and bytes; conditions have a length",
	"internal/workflow/text/function.go":       "a meter of steps and bytes; conditions have a length",
	"internal/workflow/text/guard.go":          "a meter of steps and bytes; conditions have a length",
	"internal/workflow/text/regular.go":        "a meter of steps and bytes; conditions have a length",
	"internal/workflow/text/when.go":           "a meter of steps and bytes; conditions have a length",
}

// constructors make what matches from a text, and are called where the text has been bounded.
var constructors = map[string]map[string]bool{
	"regexp":                           {"Compile": true, "CompilePOSIX": true, "MustCompile": true, "MustCompilePOSIX": true, "Match": true, "MatchString": true, "MatchReader": true},
	"github.com/Masterminds/semver/v3": {"NewConstraint": true},
}

// TestConstructors has texts of others made into regular expressions and ranges of versions by internal/patterns alone, which bounds them.
func TestConstructors(t *testing.T) {
	declared := map[string]map[string]bool{}
	for _, f := range sources(t) {
		if declared[f.room] == nil {
			declared[f.room] = map[string]bool{}
		}
		for _, d := range f.ast.Decls {
			if group, is := d.(*ast.GenDecl); is && group.Tok == token.CONST {
				for _, spec := range group.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						declared[f.room][name.Name] = true
					}
				}
			}
		}
	}
	for _, f := range sources(t) {
		if f.test || !strings.HasPrefix(f.room, "internal/") || f.room == "internal/patterns" {
			continue
		}
		names := map[string]map[string]bool{}
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if made := constructors[name]; made != nil {
				names[imported(spec, name)] = made
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || len(call.Args) == 0 {
				return true
			}
			fun, is := call.Fun.(*ast.SelectorExpr)
			if !is {
				return true
			}
			if of, is := fun.X.(*ast.Ident); is && names[of.Name][fun.Sel.Name] && !constant(call.Args[0], declared[f.room]) {
				t.Errorf("%s: %s.%s takes a text that is no constant; internal/patterns bounds those of others", f.path, of.Name, fun.Sel.Name)
			}
			return true
		})
	}
}

// imported is the name by which a file calls a package.
func imported(spec *ast.ImportSpec, path string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return strings.TrimSuffix(pathpkg.Base(strings.TrimSuffix(path, "/v3")), ".go")
}

// constant reports whether an expression is a literal, several joined, the name of a constant of the package, or a text that is quoted.
func constant(e ast.Expr, declared map[string]bool) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.BinaryExpr:
		return constant(e.X, declared) && constant(e.Y, declared)
	case *ast.ParenExpr:
		return constant(e.X, declared)
	case *ast.CallExpr:
		fun, is := e.Fun.(*ast.SelectorExpr)
		return is && fun.Sel.Name == "QuoteMeta"
	case *ast.Ident:
		return declared[e.Name]
	}
	return false
}

// TestEvaluators has what others write be evaluated within bounds, in files that are listed with these.
func TestEvaluators(t *testing.T) {
	used := map[string]bool{}
	for _, f := range sources(t) {
		if f.test || !strings.HasPrefix(f.room, "internal/") {
			continue
		}
		path := strings.TrimPrefix(f.path, "../../")
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(languages, name) {
				continue
			}
			used[path] = true
			if evaluators[path] == "" {
				t.Errorf("%s: it imports %s, which evaluates what others write; have the sandbox or a meter bound its time and memory, and name the file in this law with what bounds it", path, name)
			}
		}
	}
	for path := range maps.Keys(evaluators) {
		if !used[path] {
			t.Errorf("%s evaluates nothing any more: the law needs no line for it", path)
		}
	}
}
