package images

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// parse reads the documents of a file.
func parse(data []byte) ([]*yaml.Node, error) {
	// What the decoder says when there is no document left.
	end := yaml.NewDecoder(strings.NewReader("")).Decode(new(yaml.Node))
	d := yaml.NewDecoder(bytes.NewReader(data))
	var documents []*yaml.Node
	for {
		document := new(yaml.Node)
		err := d.Decode(document)
		if errors.Is(err, end) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
}

// scalar is a value in a file.
type scalar struct {
	node     *yaml.Node
	document int
}

// lastOnLine finds, for each line, the value that begins last on it.
func lastOnLine(documents []*yaml.Node) map[int]scalar {
	found := map[int]scalar{}
	var visit func(n *yaml.Node, document int)
	visit = func(n *yaml.Node, document int) {
		if n.Kind == yaml.ScalarNode || n.Kind == yaml.AliasNode {
			if before, known := found[n.Line]; !known || n.Column >= before.node.Column {
				found[n.Line] = scalar{n, document}
			}
		}
		for _, child := range n.Content {
			visit(child, document)
		}
	}
	for i, document := range documents {
		visit(document, i)
	}
	return found
}

// line is a line of a file without its end, and where it begins.
type line struct {
	text  string
	start int
}

// lines splits a file where YAML does.
func lines(data []byte) []line {
	text := string(data)
	var all []line
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch r {
		case '\r', '\n', '\u0085', '\u2028', '\u2029':
			all = append(all, line{text[start:i], start})
			if r == '\r' && strings.HasPrefix(text[i+1:], "\n") {
				size++
			}
			start = i + size
		}
		i += size
	}
	return append(all, line{text[start:], start})
}

// byteOrderMark may begin a file; it is no column.
const byteOrderMark = "\ufeff"

// offset is where a column is in a line. Columns count characters from 1.
func (l line) offset(column int) (int, bool) {
	at := 0
	if l.start == 0 && strings.HasPrefix(l.text, byteOrderMark) {
		at = len(byteOrderMark)
	}
	for range column - 1 {
		if at >= len(l.text) {
			return 0, false
		}
		_, size := utf8.DecodeRuneInString(l.text[at:])
		at += size
	}
	return at, true
}

// errSpread is a value that cannot be changed in place.
var errSpread = errors.New("its value is not a single word or quoted string on the line")

// extent finds the text of a value in its line, with its quotes.
func (l line) extent(n *yaml.Node) (from, to int, err error) {
	if n.Kind == yaml.AliasNode {
		return 0, 0, fmt.Errorf("its value is the alias *%s; mark the anchor", n.Value)
	}
	from, ok := l.offset(n.Column)
	if !ok {
		return 0, 0, errSpread
	}
	// An anchor or a tag goes before the value.
	for from < len(l.text) && (l.text[from] == '&' || l.text[from] == '!') {
		word := strings.IndexAny(l.text[from:], " \t")
		if word < 0 {
			return 0, 0, errSpread
		}
		from += word
		from += len(l.text[from:]) - len(strings.TrimLeft(l.text[from:], " \t"))
	}
	rest := l.text[from:]
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return from, from + quoted(rest, '"'), quotedError(rest, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return from, from + quoted(rest, '\''), quotedError(rest, '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && n.Value != "" && strings.HasPrefix(rest, n.Value):
		return from, from + len(n.Value), nil
	default:
		return 0, 0, errSpread
	}
}

func quotedError(text string, quote byte) error {
	if quoted(text, quote) == 0 {
		return errSpread
	}
	return nil
}

// quoted is how long a quoted text is with its quotes; nothing when it does not end on the line.
func quoted(text string, quote byte) int {
	if text == "" || text[0] != quote {
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch {
		case quote == '"' && text[i] == '\\':
			i++
		case text[i] != quote:
		case quote == '\'' && strings.HasPrefix(text[i+1:], "'"):
			i++
		default:
			return i + 1
		}
	}
	return 0
}
