package laws

import (
	"maps"
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
}

// evaluators are the files that may call them, and what bounds them there.
var evaluators = map[string]string{
	"internal/argo/appset/functions.go":        "steps, bytes and items of each call are counted; a pass has a minute",
	"internal/argo/appset/gotemplate.go":       "steps, bytes and items of each call are counted; a pass has a minute",
	"internal/argo/manifests/evaluation.go":    "a job of the sandbox",
	"internal/argo/manifests/valuefiles.go":    "only the base of a pattern is split; internal/patterns matches",
	"internal/argo/policy/window.go":           "openings that are evaluated are bounded",
	"internal/builds/plan/schedule.go":         "times that were missed are bounded",
	"internal/helm/schema.go":                  "a job of the sandbox",
	"internal/images/message.go":               "a job of the sandbox",
	"internal/jq/jq.go":                        "small expressions are evaluated here, all others in the sandbox",
	"internal/jq/small.go":                     "small expressions are evaluated here, all others in the sandbox",
	"internal/patterns/glob.go":                "lengths, instructions and alternatives are bounded",
	"internal/patterns/path.go":                "lengths, instructions and alternatives are bounded",
	"internal/promote/analysis/judge.go":       "a job of the sandbox",
	"internal/promote/steps/json.go":           "names are set here, with a bound for items; all else in the sandbox",
	"internal/render/substitute/substitute.go": "what functions make, and their work, is added up before",
	"internal/resourceset/functions.go":        "a job of the sandbox",
	"internal/resourceset/template.go":         "a job of the sandbox",
	"internal/secrets/store/values.go":         "names are selected here, all else in the sandbox",
	"internal/secrets/store/webhook/path.go":   "a job of the sandbox",
	"internal/secrets/templates/functions.go":  "a job of the sandbox",
	"internal/secrets/templates/template.go":   "a job of the sandbox",
	"internal/source/compose/request.go":       "only the base of a pattern is split; internal/patterns matches",
	"internal/workflow/cron/schedule.go":       "schedules and times that were missed are bounded",
	"internal/workflow/object/condition.go":    "paths are names of labels",
	"internal/workflow/object/output.go":       "small paths are evaluated here, all others in the sandbox",
	"internal/workflow/object/query.go":        "small paths are evaluated here, all others in the sandbox",
	"internal/workflow/text/amplify.go":        "a meter of steps and bytes; conditions have a length",
	"internal/workflow/text/expression.go":     "a meter of steps and bytes; conditions have a length",
	"internal/workflow/text/function.go":       "a meter of steps and bytes; conditions have a length",
	"internal/workflow/text/guard.go":          "a meter of steps and bytes; conditions have a length",
	"internal/workflow/text/regular.go":        "a meter of steps and bytes; conditions have a length",
	"internal/workflow/text/when.go":           "a meter of steps and bytes; conditions have a length",
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
