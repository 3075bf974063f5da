package render

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

const (
	// maxExpanded bounds what the aliases of a file expand to: nodes, and pieces of text of so many bytes.
	maxExpanded = 1 << 20
	piece       = 64
	// maxEmbedded bounds YAML in texts in YAML, such as patches.
	maxEmbedded = 3
)

// alias and anchor find what may be one; most files have none.
const (
	alias  = `(?m)(^|[\s,:\[{-])\*[^\s,\[\]{}*]`
	anchor = `(?m)(^|[\s,:\[{-])&[^\s,\[\]{}&]`
)

// expandable refuses YAML whose aliases stand for too much, or for what they are part of. Kustomize replaces each alias by a copy,
// without any bound: a few lines become all the memory there is. What is no YAML is left to others.
func expandable(data []byte) error { return expandableWithin(data, maxEmbedded) }

func expandableWithin(data []byte, embedded int) error {
	if !bytes.ContainsRune(data, '&') || !bytes.ContainsRune(data, '*') || !regexp.MustCompile(anchor).Match(data) {
		return nil
	}
	if !regexp.MustCompile(alias).Match(data) {
		return nil
	}
	decoder := kyaml.NewDecoder(bytes.NewReader(data))
	for {
		var document kyaml.Node
		if decoder.Decode(&document) != nil {
			return nil // It ends, or it is no YAML.
		}
		s := scale{known: map[*kyaml.Node]int{}, open: map[*kyaml.Node]bool{}, embedded: embedded}
		if _, err := s.weigh(&document); err != nil {
			return err
		}
	}
}

// scale weighs nodes with what their aliases stand for.
type scale struct {
	known    map[*kyaml.Node]int
	open     map[*kyaml.Node]bool
	embedded int
}

func (s scale) weigh(n *kyaml.Node) (int, error) {
	if n.Kind == kyaml.AliasNode {
		n = n.Alias
	}
	if s.open[n] {
		return 0, fmt.Errorf("line %d: anchor %q contains itself", n.Line, n.Anchor)
	}
	if weight, is := s.known[n]; is {
		return weight, nil
	}
	s.open[n] = true
	defer delete(s.open, n)
	if n.Kind == kyaml.ScalarNode && s.embedded > 0 {
		if err := expandableWithin([]byte(n.Value), s.embedded-1); err != nil {
			return 0, fmt.Errorf("line %d: %w", n.Line, err)
		}
	}
	weight := 1 + len(n.Value)/piece
	for _, part := range n.Content {
		more, err := s.weigh(part)
		if err != nil {
			return 0, err
		}
		if weight += more; weight > maxExpanded {
			return 0, errors.New("its YAML aliases expand to too much")
		}
	}
	s.known[n] = weight
	return weight, nil
}
