package text

import (
	"fmt"
	"reflect"

	"github.com/expr-lang/expr/ast"

	"github.com/headgate-dev/headgate/internal/patterns"
)

const (
	// matchFunction stands for the operator "matches".
	matchFunction = "headgate__matches"
	// perByte is how many instructions of a regular expression take as long as handling a byte does.
	perByte = 1
)

// constantPatterns finds a regular expression that is written out in an expression, and that must not be compiled: the language does that
// before anything is counted.
type constantPatterns struct{ err error }

// Visit checks the right side of the operator.
func (c *constantPatterns) Visit(node *ast.Node) {
	n, is := (*node).(*ast.BinaryNode)
	if !is || n.Operator != "matches" || c.err != nil {
		return
	}
	if text, is := n.Right.(*ast.StringNode); is {
		if _, err := patterns.Regexp(text.Value); err != nil {
			c.err = fmt.Errorf("matches: %w", err)
		}
	}
}

// matching has the operator call a function that counts.
func matching(node *ast.Node, n *ast.BinaryNode) {
	call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: matchFunction}, Arguments: []ast.Node{n.Left, n.Right}}
	call.SetType(reflect.TypeFor[bool]())
	ast.Patch(node, call)
}

// matches is the operator. Nothing matches what is not there.
func (m *meter) matches(arguments ...any) (any, error) {
	if arguments[0] == nil || arguments[1] == nil {
		return false, nil
	}
	text, isText := arguments[0].(string)
	pattern, isPattern := arguments[1].(string)
	if !isText || !isPattern {
		return nil, fmt.Errorf("matches: it takes two texts, not a %T and a %T", arguments[0], arguments[1])
	}
	compiled, err := m.pattern(pattern, len(text))
	if err != nil {
		return nil, fmt.Errorf("matches: %w", err)
	}
	return compiled.MatchString(text), nil
}
