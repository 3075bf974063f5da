package text

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// expression is one that was parsed.
type expression struct {
	text string
	root ast.Node
}

const (
	// maxExpression and maxBrackets bound an expression, in bytes: its parsers call themselves for what is in brackets or behind a sign, and a stack
	// that overflows ends the process.
	maxExpression = 256 << 10
	maxBrackets   = 20_000
)

// readable reports whether an expression or condition may be parsed.
func readable(text string) error {
	if len(text) > maxExpression {
		return fmt.Errorf("the expression %.40q... is longer than %d bytes: pass large values as parameters that it names", text, maxExpression)
	}
	if strings.Count(text, "(")+strings.Count(text, "[")+strings.Count(text, "{") > maxBrackets {
		return fmt.Errorf("the expression %.40q... has more than %d brackets", text, maxBrackets)
	}
	return nil
}

func parse(text string) (expression, error) {
	if err := readable(text); err != nil {
		return expression{}, err
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return expression{}, fmt.Errorf("unable to compile expression %q: %s", text, firstLine(err))
	}
	constants := &constantPatterns{}
	if ast.Walk(&tree.Node, constants); constants.err != nil {
		return expression{}, fmt.Errorf("unable to compile expression %q: %w", text, constants.err)
	}
	return expression{text: text, root: tree.Node}, nil
}

// Bool evaluates an expression that gives true or false. More names than those of the scope may be given.
func Bool(text string, scope *Scope, more map[string]any) (bool, error) {
	parsed, err := parse(text)
	if err != nil {
		return false, err
	}
	result, err := parsed.run(scope, more)
	if err != nil {
		return false, err
	}
	truth, isBool := result.(bool)
	if !isBool {
		return false, fmt.Errorf("unable to cast expression result '%v' to bool: the expression is %q", result, text)
	}
	return truth, nil
}

// Evaluate evaluates an expression.
func Evaluate(text string, scope *Scope, more map[string]any) (any, error) {
	parsed, err := parse(text)
	if err != nil {
		return nil, err
	}
	return parsed.run(scope, more)
}

// run evaluates the expression. What a library panics about is an error of the expression.
func (e expression) run(scope *Scope, more map[string]any) (result any, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			result, err = nil, fmt.Errorf("failed to evaluate expression %q: %v", e.text, problem)
		}
	}()
	env, budget := scope.nested(), newMeter()
	for name, function := range functions {
		if strings.Contains(e.text, name) {
			env[name] = function(scope.now, budget)
		}
	}
	for name, value := range more {
		env[name] = value
	}
	program, err := expr.Compile(e.text, append(budget.amplifying(), expr.Env(env), expr.Patch(budget),
		expr.Function(stepFunction, budget.step, new(func() bool)), expr.Function(heldFunction, budget.held, new(func(any) any)), expr.Function(matchFunction, budget.matches, new(func(any, any) bool)))...)
	if err != nil {
		return nil, fmt.Errorf("failed to evaluate expression %q: %s", e.text, firstLine(err))
	}
	result, err = expr.Run(program, env)
	if err == nil {
		err = budget.weigh(result)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to evaluate expression %q: %s", e.text, firstLine(err))
	}
	return result, nil
}

// firstLine leaves out the drawing of the place, since errors become messages of nodes.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// mentions reports whether an expression names something late that the scope does not have.
func (e expression) mentions(late func(string) bool, scope *Scope) bool {
	for _, name := range e.names() {
		if known := scope.knows(name); !known && late(name) {
			return true
		}
	}
	return false
}

// names are the names in an expression, as far as they are written out: a.b.c for a.b.c, a['b'].c and a?.b.c.
func (e expression) names() []string {
	c := &collector{inner: map[ast.Node]bool{}}
	ast.Walk(&e.root, c)
	var names []string
	for i, node := range c.nodes {
		if !c.inner[node] {
			names = append(names, c.paths[i])
		}
	}
	return names
}

type collector struct {
	nodes []ast.Node
	paths []string
	// inner are nodes that are the beginning of a longer path.
	inner map[ast.Node]bool
}

// Visit collects a node that is a path; those inside of it were visited before.
func (c *collector) Visit(node *ast.Node) {
	path := pathOf(*node)
	if path == nil {
		return
	}
	if member, is := (*node).(*ast.MemberNode); is {
		c.inner[member.Node] = true
	}
	c.nodes = append(c.nodes, *node)
	c.paths = append(c.paths, strings.Join(path, "."))
}

func pathOf(node ast.Node) []string {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return []string{n.Value}
	case *ast.ChainNode:
		return pathOf(n.Node)
	case *ast.MemberNode:
		property, isText := n.Property.(*ast.StringNode)
		if before := pathOf(n.Node); before != nil && isText {
			return append(before, property.Value)
		}
	}
	return nil
}

// ArtifactOf evaluates an expression that selects an artifact by its name.
func (s *Scope) ArtifactOf(text string) (v1alpha1.Artifact, Presence, error) {
	env := s.nested()
	for at := s; at != nil; at = at.outer {
		for name := range at.artifacts {
			place(env, strings.Split(name, "."), name)
		}
	}
	result, err := Evaluate(text, s, env)
	if err != nil {
		return v1alpha1.Artifact{}, Unknown, err
	}
	if result == nil {
		return v1alpha1.Artifact{}, Absent, nil
	}
	name, isText := result.(string)
	if !isText {
		return v1alpha1.Artifact{}, Unknown, fmt.Errorf("expression %q gives a %T, not an artifact", text, result)
	}
	artifact, presence := s.Artifact(name)
	return artifact, presence, nil
}

// Names are the names in an expression, as far as they are written out.
func Names(expression string) ([]string, error) {
	parsed, err := parse(strings.TrimSpace(expression))
	if err != nil {
		return nil, err
	}
	return parsed.names(), nil
}
