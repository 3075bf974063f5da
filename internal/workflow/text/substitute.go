package text

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Mode says what happens to names that have no value.
type Mode struct {
	// Late are names that a later pass knows, such as item or lastRetry.exitCode, or the first parts of such. What mentions them
	// stays as it is.
	Late []string
	// Must are first parts of names that have to have a value, unless they are late.
	Must []string
}

const (
	opening = "{{"
	closing = "}}"
	// maxNested bounds tags inside of tags: a value that has a tag may become one, and so on without an end.
	maxNested = 1000
	// maxReplaced bounds what a document becomes, in bytes. No object that is this long can be stored.
	maxReplaced = 8 << 20
)

// Substitute replaces the tags of a JSON document by values. Other text in double braces, which programs of the user may
// have a meaning for, stays as it is.
func Substitute(document string, scope *Scope, mode Mode) (string, error) {
	var out strings.Builder
	rest, nested := document, 0
	for {
		if out.Len()+len(rest) > maxReplaced+len(document) {
			return "", fmt.Errorf("what tags are replaced in becomes longer than %d bytes: pass large values as artifacts", maxReplaced)
		}
		before, after, found := strings.Cut(rest, opening)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		tag, next, closed := strings.Cut(after, closing)
		if !closed {
			return "", fmt.Errorf("unable to parse argo variable: cannot find end tag=%q", closing)
		}
		// A tag inside a tag gives the outer one its name.
		if at := strings.LastIndex(tag, opening); at >= 0 && !strings.HasPrefix(strings.TrimSpace(tag), "=") {
			inner, err := substituteTag(tag[at+len(opening):], scope, mode)
			if err != nil {
				return "", err
			}
			if !strings.HasPrefix(inner, opening) {
				if nested++; nested > maxNested {
					return "", fmt.Errorf("more than %d tags are inside of other tags, or a value has a tag that gives itself", maxNested)
				}
				rest = opening + tag[:at] + inner + next
				continue
			}
		}
		replaced, err := substituteTag(tag, scope, mode)
		if err != nil {
			return "", err
		}
		out.WriteString(replaced)
		rest = next
	}
}

// substituteTag gives the text for one tag, escaped for a string of JSON, or the tag itself.
func substituteTag(tag string, scope *Scope, mode Mode) (string, error) {
	if expression, is := strings.CutPrefix(strings.TrimSpace(tag), "="); is {
		return substituteExpression(tag, expression, scope, mode)
	}
	name := strings.TrimSpace(tag)
	value, presence := scope.Lookup(name)
	switch {
	case presence == Present:
		return escape(value), nil
	case presence == Absent && !isArtifact(name):
		return "", &AbsentError{Name: name}
	case mode.late(name) || !mode.must(name) || isArtifact(name):
		return opening + tag + closing, nil
	default:
		return "", fmt.Errorf("failed to resolve {{%s}}", name)
	}
}

// isArtifact reports whether a name is that of an artifact, which is resolved as a whole, since it may be optional.
func isArtifact(name string) bool { return strings.Contains(name, ".artifacts.") }

func substituteExpression(tag, expression string, scope *Scope, mode Mode) (string, error) {
	var plain string
	if err := json.Unmarshal([]byte(`"`+expression+`"`), &plain); err != nil {
		return "", fmt.Errorf("failed to unmarshal JSON expression: %w", err)
	}
	parsed, err := parse(strings.TrimSpace(plain))
	if err != nil {
		return "", err
	}
	if parsed.mentions(mode.late, scope) {
		return opening + tag + closing, nil
	}
	result, err := parsed.run(scope, nil)
	if err != nil {
		return "", err
	}
	if result == nil {
		return "", &AbsentError{Name: "=" + strings.TrimSpace(plain)}
	}
	if text, isText := result.(string); isText {
		return escape(text), nil
	}
	data, err := json.Marshal(result)
	if err != nil {
		return "", fmt.Errorf("failed to marshal evaluated expression %q: %w", plain, err)
	}
	return escape(string(data)), nil
}

// AbsentError is the error for a tag whose value is absent for good.
type AbsentError struct {
	// Name is the tag without its braces.
	Name string
}

func (e *AbsentError) Error() string {
	if expression, is := strings.CutPrefix(e.Name, "="); is {
		return fmt.Sprintf("failed to evaluate expression %q: it gives no value; add a default with ??", expression)
	}
	return fmt.Sprintf("failed to resolve {{%s}}: the output is absent; give it a default where it is produced, or the input that takes it", e.Name)
}

// Whole is the tag that a value consists of, without its braces; false if there is more or less in it.
func Whole(value string) (string, bool) {
	trimmed := strings.TrimSpace(value)
	tag, rest, closed := strings.Cut(strings.TrimPrefix(trimmed, opening), closing)
	if !strings.HasPrefix(trimmed, opening) || !closed || rest != "" || strings.Contains(tag, opening) {
		return "", false
	}
	return strings.TrimSpace(tag), true
}

// Tags are the simple tags of a text, without their braces, and the expressions of the others.
func Tags(text string) (names, expressions []string) {
	for {
		_, after, found := strings.Cut(text, opening)
		if !found {
			return names, expressions
		}
		tag, next, closed := strings.Cut(after, closing)
		if !closed {
			return names, expressions
		}
		if at := strings.LastIndex(tag, opening); at >= 0 {
			tag = tag[at+len(opening):]
		}
		if expression, is := strings.CutPrefix(strings.TrimSpace(tag), "="); is {
			expressions = append(expressions, strings.TrimSpace(expression))
		} else {
			names = append(names, strings.TrimSpace(tag))
		}
		text = next
	}
}

func (m Mode) late(name string) bool { return startsWith(m.Late, name) }

func (m Mode) must(name string) bool { return startsWith(m.Must, name) }

// startsWith reports whether a name is one of several, or below one.
func startsWith(parts []string, name string) bool {
	for _, part := range parts {
		if name == part || strings.HasPrefix(name, part+".") {
			return true
		}
	}
	return false
}

// escape prepares a value for a place between the quotes of a string of JSON.
func escape(value string) string {
	var quoted strings.Builder
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "" // a string can always be written
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(quoted.String(), "\n"), `"`), `"`)
}
