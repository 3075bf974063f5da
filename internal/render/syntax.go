package render

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/headgate-dev/headgate/chart/similar"
	"github.com/headgate-dev/headgate/internal/engine"
)

// yamlPrefix is what the YAML library puts in front of what is wrong. Its line counts from the start of a document, and is one too low for
// some errors and missing for those of the first line.
var yamlPrefix = regexp.MustCompile(`^(error converting YAML to JSON: )?yaml: (line \d+: )?`)

// Syntax is what is wrong with a file that is no YAML, and the line of the file; nil if nothing is. It shows no value.
func Syntax(data []byte) (line int, err error) {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	before := 0
	for _, at := range append(separator.FindAllIndex(data, -1), []int{len(data), len(data)}) {
		part := data[before:at[0]]
		if what := wrong(part); what != "" {
			lines := bytes.SplitAfter(part, []byte("\n"))
			n := firstWrong(lines, what)
			if strings.HasPrefix(strings.TrimLeft(string(lines[n-1]), " "), "\t") {
				what = "a tab; YAML is indented with spaces"
			}
			return bytes.Count(data[:before], []byte("\n")) + n, errors.New("it is not YAML: " + what)
		}
		before = at[1]
	}
	return 0, nil
}

// wrong is what the library says about a text without the line, or nothing.
func wrong(text []byte) string {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		switch err := decoder.Decode(&node); {
		case errors.Is(err, io.EOF):
			return ""
		case err != nil:
			return yamlPrefix.ReplaceAllString(err.Error(), "")
		}
	}
}

// repeated is the line of a file at which an object has a key for the second time, by what is said of that; 0 if it has not. The name of
// the object may have got a prefix or a suffix since.
func repeated(data []byte, res *resource.Resource, reason string) int {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		if decoder.Decode(&node) != nil {
			return 0
		}
		var object struct {
			Kind     string
			Metadata struct{ Name string }
		}
		// What else is wrong with it is no matter here.
		_ = node.Decode(&object)
		if object.Kind != res.GetKind() || !strings.Contains(res.GetName(), object.Metadata.Name) {
			continue
		}
		var all map[string]any
		types := (*yaml.TypeError)(nil)
		if !errors.As(node.Decode(&all), &types) {
			continue
		}
		for _, text := range types.Errors {
			if m := linePrefix.FindStringSubmatch(text); m != nil && strings.Contains(text, reason) {
				line, _ := strconv.Atoi(m[1])
				return line
			}
		}
	}
}

// Unquoted is the line of a file in which an object has a label or an annotation that is not a string; 0 if it has none. The name of
// the object may have got a prefix or a suffix since; without a kind, any object will do.
func Unquoted(data []byte, kind, name string, wrong *engine.NotStringError) int {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var node yaml.Node
		if decoder.Decode(&node) != nil {
			return 0
		}
		if line := unquoted(&node, kind, name, wrong); line > 0 {
			return line
		}
	}
}

func unquoted(node *yaml.Node, kind, name string, wrong *engine.NotStringError) int {
	var object struct {
		Kind     string
		Metadata struct {
			Name                string
			Labels, Annotations map[string]yaml.Node
		}
		Items []yaml.Node
	}
	// What else is wrong with it is no matter here.
	_ = node.Decode(&object)
	values := map[string]map[string]yaml.Node{"labels": object.Metadata.Labels, "annotations": object.Metadata.Annotations}[wrong.Field]
	value, has := values[wrong.Key]
	if has && value.ShortTag() != "!!str" && (kind == "" || object.Kind == kind && strings.Contains(name, object.Metadata.Name)) {
		return value.Line
	}
	for i := range object.Items {
		if line := unquoted(&object.Items[i], kind, name, wrong); line > 0 {
			return line
		}
	}
	return 0
}

// The lines at the end of a text are left out one by one while that is as much as to read so many bytes, and at least a few of them.
const (
	mostRead  = 1 << 20
	fewestOut = 4
)

// firstWrong is the number of the line behind which a text is wrong in a way: with it the beginning of the text is wrong so, and without
// it it is not. What is open at the end of a beginning may be wrong in the same way, so that lines are left out from the end on.
func firstWrong(lines [][]byte, what string) int {
	n, size := len(lines), 0
	for _, line := range lines {
		size += len(line)
	}
	tries := max(mostRead/max(size, 1), fewestOut)
	for ; n > 1 && tries > 0 && wrong(bytes.Join(lines[:n-1], nil)) == what; tries-- {
		n--
	}
	// Of a long text, half of what is left is tried each time.
	least := 0
	for tries == 0 && least+1 < n {
		if half := (least + n) / 2; wrong(bytes.Join(lines[:half], nil)) == what {
			n = half
		} else {
			least = half
		}
	}
	return n
}

var unknownField = regexp.MustCompile(`json: unknown field "([^"]+)"`)

// refused is why the library refuses a kustomization, with the line of it.
func refused(rel string, data []byte, err error) *Error {
	if line, wrong := Syntax(data); wrong != nil {
		return &Error{File: rel, Line: line, Err: wrong}
	}
	m := unknownField.FindStringSubmatch(err.Error())
	if m == nil {
		return &Error{File: rel, Err: err}
	}
	return unknown(rel, data, m[1])
}

// unknown is the error about a field of a kustomization that kustomize does not know, at least not where it is.
func unknown(rel string, data []byte, field string) *Error {
	text := "unknown field"
	switch near := similar.Closest(field, fieldsOf(reflect.TypeFor[types.Kustomization](), 0)); near {
	case "":
	case field:
		text += " at this level"
	default:
		text += `; did you mean "` + near + `"?`
	}
	out := &Error{File: rel, Field: field, Err: errors.New(text), unknown: true}
	var document yaml.Node
	if yaml.Unmarshal(data, &document) == nil {
		out.Line = keyLine(&document, field)
	}
	return out
}

// strays are the fields of a kustomization that kustomize does not know: for each field at its top that one, or the first below it.
func strays(rel string, data []byte) []*Error {
	var all map[string]any
	if yaml.Unmarshal(data, &all) != nil {
		return nil
	}
	var out []*Error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one, err := yaml.Marshal(map[string]any{name: all[name]})
		if err != nil {
			continue
		}
		if m := unknownField.FindStringSubmatch(text((&types.Kustomization{}).Unmarshal(one))); m != nil {
			out = append(out, unknown(rel, data, m[1]))
		}
	}
	return out
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// keyLine is the first line of a key, the outer ones first.
func keyLine(n *yaml.Node, key string) int {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i].Line
		}
	}
	for _, part := range n.Content {
		if line := keyLine(part, key); line > 0 {
			return line
		}
	}
	return 0
}

// deepest bounds the fields that are known: those of types may hold themselves.
const deepest = 4

// fieldsOf are the names of all fields below a type.
func fieldsOf(t reflect.Type, depth int) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || depth > deepest {
		return nil
	}
	var names []string
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
		names = append(names, fieldsOf(field.Type, depth+1)...)
	}
	return names
}
