package simulate

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/parser"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/expression"
)

// derived changes a status so that what the checks compare holds. It knows comparisons of fields with values,
// and conditions of lists; what it does not know stays as it is, so that the outcome has to be judged.
func derived(o *unstructured.Unstructured, status map[string]any, checks []Check) map[string]any {
	s := newSolver(o, status)
	if s == nil {
		return status
	}
	for _, c := range checks {
		s.text(c.Failed, false)
		s.text(c.InProgress, false)
	}
	for _, c := range checks {
		s.text(c.Current, true)
	}
	made, _ := s.vars[root].(map[string]any)
	return made
}

// root is the field of an object that a solver may change.
const root = "status"

// solver makes expressions true or false by changes to a status.
type solver struct {
	// parse keeps the macros of lists as calls; run expands and evaluates them.
	parse, run *cel.Env
	info       *ast.SourceInfo
	// vars are the fields of the object, and the variables of the lists that are looked into.
	vars map[string]any
	// locals are the names among vars that may be changed.
	locals map[string]bool
	// supposing is set where values that are simulated may be changed as well, wherever they are.
	supposing bool
}

// newSolver makes a solver over an object, or none where there is no CEL.
func newSolver(o *unstructured.Unstructured, status map[string]any) *solver {
	options := []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Encoders(),
	}
	run, err := expression.Environment()
	if err != nil {
		return nil
	}
	parse, err := cel.NewEnv(append(options, cel.ClearMacros())...)
	if err != nil {
		return nil
	}
	vars := o.DeepCopy().Object
	vars[root] = status
	return &solver{parse: parse, run: run, vars: vars, locals: map[string]bool{root: true}}
}

// text makes an expression true or false, as far as it can.
func (s *solver) text(check string, want bool) {
	if check == "" {
		return
	}
	parsed, issues := s.parse.Parse(check)
	if issues.Err() != nil {
		return
	}
	s.info = parsed.NativeRep().SourceInfo()
	s.solve(parsed.NativeRep().Expr(), want)
}

// eval is the value of an expression as things stand.
func (s *solver) eval(e ast.Expr) (any, error) {
	text, err := parser.Unparse(e, s.info)
	if err != nil {
		return nil, fmt.Errorf("writing the expression: %w", err)
	}
	parsed, issues := s.run.Parse(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("parsing %q: %w", text, issues.Err())
	}
	program, err := expression.New(s.run, parsed)
	if err != nil {
		return nil, fmt.Errorf("preparing %q: %w", text, err)
	}
	out, err := program.Eval(s.vars)
	if err != nil {
		return nil, fmt.Errorf("evaluating %q: %w", text, err)
	}
	return out.Value(), nil
}

// is reports whether an expression has the truth that is wanted as things stand.
func (s *solver) is(e ast.Expr, want bool) bool {
	value, err := s.eval(e)
	return err == nil && value == want
}

// value is a value that can be written into a status: that of a literal, a field or a calculation.
func (s *solver) value(e ast.Expr) (any, bool) {
	if e.Kind() == ast.ListKind {
		list := []any{}
		for _, element := range e.AsList().Elements() {
			value, ok := s.value(element)
			if !ok {
				return nil, false
			}
			list = append(list, value)
		}
		return list, true
	}
	value, err := s.eval(e)
	if err != nil {
		return nil, false
	}
	switch v := value.(type) {
	case bool, string, int64, float64, []any, map[string]any:
		return v, true
	case uint64:
		return int64(v), true
	}
	return nil, false
}

// with gives a variable of a list a value while something is done, and returns what became of the value.
func (s *solver) with(name string, value any, do func()) any {
	before, had := s.vars[name]
	local := s.locals[name]
	s.vars[name], s.locals[name] = value, true
	do()
	after := s.vars[name]
	if s.locals[name] = local; had {
		s.vars[name] = before
		return after
	}
	delete(s.vars, name)
	return after
}
