package text

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

const (
	// maxSteps bounds how often the bodies of loops in one expression are evaluated.
	maxSteps = 1_000_000
	// stepFunction is called by each of them; no name of a user begins like this.
	stepFunction = "headgate__step"
)

// expression is one that was parsed.
type expression struct {
	text string
	root ast.Node
}

func parse(text string) (expression, error) {
	tree, err := parser.Parse(text)
	if err != nil {
		return expression{}, fmt.Errorf("unable to compile expression %q: %s", text, firstLine(err))
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
	env := scope.nested()
	for name, function := range functions {
		if strings.Contains(e.text, name) {
			env[name] = function(scope.now)
		}
	}
	for name, value := range more {
		env[name] = value
	}
	budget := &meter{left: maxSteps}
	program, err := expr.Compile(e.text, expr.Env(env), expr.Patch(budget), expr.Function(stepFunction, budget.step, new(func() bool)),
		expr.Function("repeat", repeated, new(func(string, int) string)))
	if err != nil {
		return nil, fmt.Errorf("failed to evaluate expression %q: %s", e.text, firstLine(err))
	}
	result, err = expr.Run(program, env)
	if err != nil {
		return nil, fmt.Errorf("failed to evaluate expression %q: %s", e.text, firstLine(err))
	}
	return result, nil
}

// repeated stands for the function repeat of the language, which bounds the number and not the length: one inside of another takes all memory.
func repeated(arguments ...any) (any, error) {
	text, isText := arguments[0].(string)
	count, isNumber := arguments[1].(int)
	switch {
	case !isText || !isNumber || count < 0:
		return nil, fmt.Errorf("repeat: it takes a text and how often, which is not negative")
	case count > 0 && len(text) > maxReplaced/count:
		return nil, fmt.Errorf("repeat: the result is more than %d bytes", maxReplaced)
	}
	return strings.Repeat(text, count), nil
}

// firstLine leaves out the drawing of the place, since errors become messages of nodes.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// meter bounds the time of an expression: each body of a loop first calls a function that counts.
type meter struct{ left int }

// Visit puts the call before the body of a loop.
func (m *meter) Visit(node *ast.Node) {
	if body, is := (*node).(*ast.PredicateNode); is {
		call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: stepFunction}}
		body.Node = &ast.SequenceNode{Nodes: []ast.Node{call, body.Node}}
	}
}

func (m *meter) step(...any) (any, error) {
	if m.left--; m.left < 0 {
		return nil, fmt.Errorf("the loops take more than %d steps", maxSteps)
	}
	return true, nil
}

// mentions tells whether an expression names something late that the scope does not have.
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
