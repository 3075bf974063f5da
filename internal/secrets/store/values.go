package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// maxPattern bounds regular expressions of names, in bytes.
const maxPattern = 4096

// Fields returns the fields of a JSON object: strings as they are, everything else as JSON.
func Fields(of string, value []byte) (map[string][]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil || fields == nil {
		// The error of the decoder may quote the value.
		return nil, fmt.Errorf("%s is not a JSON object", of)
	}
	values := make(map[string][]byte, len(fields))
	for name, raw := range fields {
		values[name] = Text(raw)
	}
	return values, nil
}

// Text is a JSON value as the value of a secret: a string as it is, null as nothing, everything else as compact JSON.
func Text(raw json.RawMessage) []byte {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return []byte(text)
	}
	if string(raw) == "null" {
		return nil
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return raw
	}
	return compact.Bytes()
}

// Property returns a part of a JSON object: the field of that name, dots included, or what the path of GJSON selects. It fails
// with ErrNoProperty.
//
// A path is a program: some of a few hundred bytes double their value with each step. What is more than names is evaluated by the
// Selector of the context, and refused without one.
func Property(ctx context.Context, of string, value []byte, property string) ([]byte, error) {
	if property == "" {
		return value, nil
	}
	if len(property) > maxPattern {
		return nil, fmt.Errorf("%s: the property has %d bytes; at most %d are permitted", of, len(property), maxPattern)
	}
	fields, err := Fields(of, value)
	if err != nil {
		return nil, err
	}
	if field, has := fields[property]; has {
		return field, nil
	}
	var found Selected
	selects := selector(ctx)
	switch {
	case names.MatchString(property):
		found = Select(value, property)
	case selects == nil:
		return nil, fmt.Errorf("%s: the property %q is more than names with dots between them, which is not supported here", of, property)
	default:
		if found, err = selects(ctx, value, property); err != nil {
			return nil, fmt.Errorf("%s: evaluating the property %q: %w", of, property, err)
		}
	}
	if !found.Exists {
		return nil, fmt.Errorf("%s: %w %q", of, ErrNoProperty, property)
	}
	return found.Value, nil
}

// names are a path of GJSON that takes as long as one reading of the object, whatever that is: names and numbers with dots between them,
// and dots in names behind a backslash.
var names = regexp.MustCompile(`^(?:[\w/-]|\\\.)+(?:\.(?:[\w/-]|\\\.)+)*$`)

// Select evaluates a path of GJSON in this process. The path has to be plain, or the process a child that may end.
func Select(object []byte, path string) Selected {
	found := gjson.GetBytes(object, path)
	return Selected{Value: []byte(found.String()), Exists: found.Exists()}
}

// WithProperty returns a JSON object with a field set to a string. An empty value stands for an empty object.
func WithProperty(of string, object []byte, property string, value []byte) ([]byte, error) {
	fields := map[string]json.RawMessage{}
	if len(object) > 0 && json.Unmarshal(object, &fields) != nil {
		return nil, fmt.Errorf("%s is not a JSON object, so that no property can be set in it", of)
	}
	text, err := json.Marshal(string(value))
	if err != nil {
		return nil, fmt.Errorf("%s: the value cannot be written as JSON", of)
	}
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	fields[property] = text
	return json.Marshal(fields)
}

// WithoutProperty returns a JSON object without a field, and how many are left.
func WithoutProperty(of string, object []byte, property string) (rest []byte, left int, err error) {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(object, &fields) != nil {
		return nil, 0, fmt.Errorf("%s is not a JSON object, so that no property can be removed from it", of)
	}
	delete(fields, property)
	rest, err = json.Marshal(fields)
	return rest, len(fields), err
}

// Pattern compiles the expression of a Find; without one everything matches.
func (f Find) Pattern() (*regexp.Regexp, error) {
	if len(f.Name) > maxPattern {
		return nil, fmt.Errorf("find.name.regexp has %d bytes; at most %d are permitted", len(f.Name), maxPattern)
	}
	pattern, err := patterns.Regexp(f.Name)
	if err != nil {
		return nil, fmt.Errorf("find.name.regexp is not a valid regular expression: %w", err)
	}
	return pattern, nil
}

// Tagged reports whether tags include all that a Find has.
func (f Find) Tagged(tags map[string]string) bool {
	for name, value := range f.Tags {
		if has, ok := tags[name]; !ok || has != value {
			return false
		}
	}
	return true
}

// Below reports whether a name is at a path or below it. No path means everywhere.
func (f Find) Below(name string) bool {
	return f.Path == "" || strings.HasPrefix(name, f.Path)
}

// TooMany is the failure of a Find with more results than MaxFound.
func TooMany(of string) error {
	return fmt.Errorf("%s: %w: there are more than %d results; select fewer by path, name or tags", of, ErrTooLarge, MaxFound)
}

// Credential looks up a value without the white space around it, as tokens are pasted.
func Credential(value []byte, err error) (string, error) {
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(value))
	if text == "" {
		return "", fmt.Errorf("the credential is empty")
	}
	return text, nil
}
