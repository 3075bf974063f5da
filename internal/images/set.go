package images

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Edit is what became of a file.
type Edit struct {
	// Data is the file as it is now; nil when nothing changed.
	Data []byte
	// Changes are the values that changed, by the objects that they are in.
	Changes ObjectChanges
	// Policies are the policies that the file names, as "namespace:name".
	Policies map[string]bool
	// Notes say which marked values were left alone, and why.
	Notes []string
}

// replacement is a piece of a file that changes.
type replacement struct {
	from, to int
	text     string
	scalar   scalar
	change   Change
}

// Set puts the images that policies selected into a file, where markers ask for them. The policies are named
// "namespace:name"; a marker that names another one is left alone. Nothing but the marked values moves. A file
// that is not YAML is left alone, with a note.
func Set(data []byte, selected map[string]Image) Edit {
	edit := Edit{Policies: map[string]bool{}}
	if !bytes.Contains(data, []byte(Token)) {
		return edit
	}
	documents, err := parse(data)
	if err != nil {
		edit.Notes = append(edit.Notes, "not valid YAML: "+oneLine(err.Error()))
		return edit
	}
	values := lastOnLine(documents)
	var planned []replacement
	for i, l := range lines(data) {
		if !strings.Contains(l.text, Token) {
			continue
		}
		r, ok := edit.look(l, values, i+1, selected)
		if ok {
			planned = append(planned, r)
		}
	}
	if len(planned) == 0 {
		return edit
	}
	changed := replace(data, planned)
	if !same(documents, changed, planned) {
		edit.Notes = append(edit.Notes, "its markers would change more than their values")
		return edit
	}
	edit.Data, edit.Changes = changed, ObjectChanges{}
	for _, r := range planned {
		id := identify(documents[r.scalar.document])
		edit.Changes[id] = append(edit.Changes[id], r.change)
	}
	return edit
}

// look decides what becomes of a line that may have a marker.
func (e *Edit) look(l line, values map[int]scalar, number int, selected map[string]Image) (replacement, bool) {
	none := replacement{}
	value, known := values[number]
	if !known {
		return none, false
	}
	from, to, err := l.extent(value.node)
	if err != nil {
		if at := strings.Index(l.text, "#"); at > 0 {
			if m, marked := readMarker(l.text[at-1:]); marked {
				e.Policies[m.policy] = true
				e.note(number, err.Error())
			}
		}
		return none, false
	}
	m, marked := readMarker(l.text[to:])
	if !marked {
		return none, false
	}
	e.Policies[m.policy] = true
	image, known := selected[m.policy]
	if !known {
		return none, false
	}
	next, why := m.value(image)
	if why != "" {
		e.note(number, why)
		return none, false
	}
	if next == value.node.Value {
		return none, false
	}
	change := Change{OldValue: value.node.Value, NewValue: next, Setter: m.setter}
	return replacement{from: l.start + from, to: l.start + to, text: written(value.node, next), scalar: value, change: change}, true
}

func (e *Edit) note(number int, why string) {
	e.Notes = append(e.Notes, fmt.Sprintf("line %d: %s", number, why))
}

// word is what may be written without quotes, if it is not read as something else than text.
var word = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$`)

// numberOld is what older readers of YAML take for a number.
var numberOld = regexp.MustCompile(`^[-+]?[0-9][0-9_]*(:[0-9]+)*(\.[0-9_]*)?([eE][-+]?[0-9]+)?$`)

// boolOld is what older readers of YAML take for a truth value, or for nothing.
var boolOld = regexp.MustCompile(`^(?i:y|yes|n|no|on|off|true|false|null)$`)

// written is how a value replaces another one: in its quotes, or in quotes if it would not
// be read as text without them.
func written(n *yaml.Node, value string) string {
	if n.Style&yaml.SingleQuotedStyle != 0 {
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	var read yaml.Node
	plain := n.Style&yaml.DoubleQuotedStyle == 0 && word.MatchString(value) && !numberOld.MatchString(value) &&
		!boolOld.MatchString(value) && !strings.HasSuffix(value, ":") && yaml.Unmarshal([]byte(value), &read) == nil &&
		len(read.Content) == 1 && read.Content[0].Tag == "!!str" && read.Content[0].Value == value
	if plain {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// replace makes a file with some pieces changed.
func replace(data []byte, planned []replacement) []byte {
	var out bytes.Buffer
	at := 0
	for _, r := range planned {
		out.Write(data[at:r.from])
		out.WriteString(r.text)
		at = r.to
	}
	out.Write(data[at:])
	return out.Bytes()
}

// same reports whether a changed file means what the former one did, but for the values that were to change.
func same(before []*yaml.Node, changed []byte, planned []replacement) bool {
	after, err := parse(changed)
	if err != nil || len(after) != len(before) {
		return false
	}
	wanted := map[*yaml.Node]string{}
	for _, r := range planned {
		wanted[r.scalar.node] = r.change.NewValue
	}
	var equal func(a, b *yaml.Node) bool
	equal = func(a, b *yaml.Node) bool {
		if value, changes := wanted[a]; changes {
			return b.Kind == yaml.ScalarNode && b.Value == value && b.ShortTag() == "!!str" && a.Anchor == b.Anchor
		}
		return a.Kind == b.Kind && a.Value == b.Value && a.Anchor == b.Anchor && a.ShortTag() == b.ShortTag() &&
			slices.EqualFunc(a.Content, b.Content, equal)
	}
	return slices.EqualFunc(before, after, equal)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
