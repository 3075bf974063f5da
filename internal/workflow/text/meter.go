package text

import (
	"fmt"
	"reflect"
	"regexp"

	"github.com/expr-lang/expr/ast"

	"github.com/headgate-dev/headgate/internal/patterns"
)

const (
	// maxSteps bounds how often the bodies of loops in one expression are evaluated.
	maxSteps = 1_000_000
	// maxHandled bounds what the operators and functions of one expression are given and give, in bytes: its memory, and the time of one step.
	maxHandled = 64 << 20
	// maxDepth bounds how deep values are nested, some of which may contain themselves.
	maxDepth = 500
	// stepFunction is called by each body of a loop, and heldFunction with whatever may be long; no name of a user begins like this.
	stepFunction = "headgate__step"
	heldFunction = "headgate__held"
)

// meter bounds the time and the memory of an expression. The machine of the language counts elements of lists, but no texts, and nothing
// that functions do. So each body of a loop first calls a function that counts, and each operator and function takes what was weighed.
type meter struct{ steps, bytes int }

func newMeter() *meter { return &meter{steps: maxSteps, bytes: maxHandled} }

// light are functions of the language that do the same work however long a value is.
var light = map[string]bool{"len": true, "type": true, "get": true, "first": true, "last": true, "now": true}

// Visit has values weighed on their way into a node.
func (m *meter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: stepFunction}}
		n.Node = &ast.SequenceNode{Nodes: []ast.Node{call, n.Node}}
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&", "or", "||", "??", "..":
		case "matches":
			weigh(&n.Left)
			weigh(&n.Right)
			matching(node, n)
		default:
			weigh(&n.Left)
			weigh(&n.Right)
		}
	case *ast.MemberNode:
		weigh(&n.Property)
	case *ast.BuiltinNode:
		if !light[n.Name] {
			weighAll(n.Arguments)
		}
	case *ast.CallNode:
		weighAll(n.Arguments)
		weigh(node)
	}
}

func weighAll(nodes []ast.Node) {
	for i := range nodes {
		weigh(&nodes[i])
	}
}

// weigh has the value of a node weighed, if it may be long. Its type stays.
func weigh(node *ast.Node) {
	if short(*node) {
		return
	}
	kind := (*node).Type()
	call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: heldFunction}, Arguments: []ast.Node{*node}}
	if kind.Kind() != reflect.Interface {
		call.SetType(kind)
	}
	ast.Patch(node, call)
}

// short reports whether a node has no long value, or is a constant that the language prepares once.
func short(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.PredicateNode, *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return true
	case *ast.StringNode:
		return len(n.Value) < 1000
	case *ast.BinaryNode:
		if n.Operator == ".." {
			return true
		}
	case *ast.ArrayNode:
		for _, element := range n.Nodes {
			if !short(element) {
				return false
			}
		}
		return true
	case *ast.CallNode:
		if callee, is := n.Callee.(*ast.IdentifierNode); is && callee.Value == heldFunction {
			return true
		}
	}
	kind := node.Type().Kind()
	return kind >= reflect.Bool && kind <= reflect.Float64
}

func (m *meter) step(...any) (any, error) {
	if m.steps--; m.steps < 0 {
		return nil, fmt.Errorf("the loops take more than %d steps", maxSteps)
	}
	return true, nil
}

// held weighs a value, and gives it.
func (m *meter) held(arguments ...any) (any, error) {
	if len(arguments) != 1 {
		return nil, fmt.Errorf("%s takes one value", heldFunction)
	}
	return arguments[0], m.weigh(arguments[0])
}

// weigh charges a value. A part that is in it several times counts as often, since this is how it is written out.
func (m *meter) weigh(value any) error {
	switch v := value.(type) {
	case nil, bool, int, float64:
		return m.charge(1, 1)
	case string:
		return m.charge(len(v), 1)
	}
	return m.weighValue(reflect.ValueOf(value), 0)
}

func (m *meter) weighValue(v reflect.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("a value is nested more than %d deep", maxDepth)
	}
	switch v.Kind() {
	case reflect.String:
		return m.charge(16+v.Len(), 1)
	case reflect.Interface, reflect.Pointer:
		return m.weighValue(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := m.weighValue(v.Index(i), depth+1); err != nil {
				return err
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if err := m.weighValue(entries.Key(), depth+1); err != nil {
				return err
			}
			if err := m.weighValue(entries.Value(), depth+1); err != nil {
				return err
			}
		}
	}
	return m.charge(16, 1)
}

// pattern is a regular expression, for a match with so many bytes.
func (m *meter) pattern(text string, bytes int) (*regexp.Regexp, error) {
	steps, err := patterns.Steps(text)
	if err == nil {
		err = m.charge(1+steps/perByte, 1+bytes)
	}
	if err != nil {
		return nil, err
	}
	return patterns.Regexp(text)
}

// charge counts something of a size as often as it is there.
func (m *meter) charge(size, times int) error {
	if size > 0 && times > m.bytes/size {
		m.bytes = 0
		return fmt.Errorf("its values take more than %d bytes: pass large values as artifacts", maxHandled)
	}
	m.bytes -= size * times
	return nil
}
