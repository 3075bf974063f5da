package substitute

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/envsubst/parse"
)

const (
	// maxVariables bounds the dollar signs of a text: the parser calls itself for each.
	maxVariables = 100_000
	// maxMade bounds what the replacement makes of a text, with all that it makes on the way, in bytes.
	maxMade = 64 << 20
	// maxWork bounds the comparisons of functions that take a part of a value away.
	maxWork = 1 << 30
)

var (
	errVariables = fmt.Errorf("there are more than %d dollar signs", maxVariables)
	errMade      = fmt.Errorf("it would make more than %d MiB", maxMade>>20)
	errWork      = errors.New("a function that removes a pattern takes too long for a value that long")
)

// affordable refuses texts whose functions would make too much, or work for too long. A variable may be replaced on its own within itself, and
// a pattern is compared with each part of a value.
func (o *Options) affordable(text string) error {
	if strings.Count(text, "$") > maxVariables {
		return errVariables
	}
	tree, err := parse.Parse(text)
	if err != nil {
		// The replacement says the same.
		return nil
	}
	m := &measure{variables: o.Variables}
	m.size(tree.Root)
	return m.err
}

// measure adds up what nodes make at most.
type measure struct {
	variables  map[string]string
	made, work int
	err        error
}

// size is how long the text of a node is at most, in bytes.
func (m *measure) size(n parse.Node) int {
	size := 0
	switch node := n.(type) {
	case *parse.TextNode:
		size = len(node.Value)
	case *parse.ListNode:
		for _, child := range node.Nodes {
			size += m.size(child)
		}
		return size
	case *parse.FuncNode:
		size = m.function(node)
	}
	if m.made += size; m.made > maxMade {
		m.fail(errMade)
	}
	return min(size, maxMade)
}

func (m *measure) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// function is how long the result of a function is at most.
func (m *measure) function(n *parse.FuncNode) int {
	value, given, last := len(m.variables[n.Param]), 0, 0
	var first int
	for i, arg := range n.Args {
		size := m.size(arg)
		if given += size; i == 0 {
			first = size
		}
		last = size
	}
	switch n.Name {
	case "//":
		return (value + 1) * (last + 1)
	case "#", "##", "%", "%%":
		if len(n.Args) > 0 {
			m.compare(value, first)
		}
	}
	return value + given
}

// compare charges the comparisons of a pattern with each beginning, or each end, of a value.
func (m *measure) compare(value, pattern int) {
	const most = 1 << 15
	if m.work += min(value, most) * min(value, most) * min(pattern+1, most); value > most || pattern > most || m.work > maxWork {
		m.fail(errWork)
	}
}
