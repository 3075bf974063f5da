package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/chart"
)

// walk goes through objects with their schemas, and collects findings.
type walk struct {
	all     *releases
	release *release
	check   Check
	custom  customKinds

	manifest int
	findings []chart.Finding
	// before counts the findings of other objects.
	before int
	// steps lead to the value that is being validated.
	steps []step
	// own reports whether the schemas are those of a definition: their null is a value, and their metadata is not described.
	own bool
	// secret keeps values out of messages.
	secret bool
	// status reports whether the value is below the status, which no one declares: only its types and fields count.
	status bool
	// partial reports whether the schema is a condition on a value whose fields another schema describes.
	partial bool
}

// step is one name or index on the way to a value.
type step struct {
	key   string
	index int
}

func (w *walk) begin(manifest int) {
	w.manifest, w.steps, w.before = manifest, w.steps[:0], len(w.findings)
	w.own, w.secret, w.status, w.partial = false, false, false, false
}

func (w *walk) into(key string) { w.steps = append(w.steps, step{key: key, index: -1}) }
func (w *walk) intoItem(i int)  { w.steps = append(w.steps, step{index: i}) }
func (w *walk) out()            { w.steps = w.steps[:len(w.steps)-1] }

// field is the path of the value: spec.containers[0].image.
func (w *walk) field() string {
	var out strings.Builder
	for i, s := range w.steps {
		switch {
		case s.index >= 0:
			out.WriteString("[" + strconv.Itoa(s.index) + "]")
		case !plain(s.key):
			out.WriteString("[" + strconv.Quote(s.key) + "]")
		default:
			if i > 0 {
				out.WriteByte('.')
			}
			out.WriteString(s.key)
		}
	}
	return out.String()
}

// plain reports whether a key needs no quotes in a path.
func plain(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && r != '_' && r != '$' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// errorf adds a finding about the value.
func (w *walk) errorf(rule, format string, args ...any) {
	w.add(chart.SeverityError, rule, fmt.Sprintf(format, args...))
}

// errorIn adds a finding about a member of the value.
func (w *walk) errorIn(member, rule, format string, args ...any) {
	w.into(member)
	w.errorf(rule, format, args...)
	w.out()
}

func (w *walk) add(severity chart.Severity, rule, message string) {
	w.findings = append(w.findings, chart.Finding{Manifest: w.manifest, Rule: rule, Field: w.field(), Message: message, Severity: severity})
}

// resolve follows references to the definition that has the fields; nil is a schema that allows everything.
func (w *walk) resolve(n *node) *node {
	for n != nil && n.Ref != "" {
		next := w.definition(n.Ref)
		if next == nil || next == n {
			return nil
		}
		n = next
	}
	return n
}

// unrendered reports whether a text is one that a renderer replaces.
func (w *walk) unrendered(text string) bool {
	return w.check.Sources && (strings.Contains(text, "${") || strings.HasPrefix(text, "ENC["))
}

// definition is one of Kubernetes' own.
func (w *walk) definition(name string) *node {
	d := w.release.definitions[name]
	if d == nil {
		return nil
	}
	n, err := d.get()
	if err != nil {
		return nil
	}
	return n
}

// value validates a value against a schema.
func (w *walk) value(n *node, v any) {
	n = w.resolve(n)
	if n == nil {
		return
	}
	if v == nil {
		w.null(n)
		return
	}
	if text, ok := v.(string); ok && w.unrendered(text) {
		return
	}
	if !w.typed(n, v) {
		return
	}
	switch value := v.(type) {
	case map[string]any:
		w.object(n, value)
	case []any:
		w.list(n, value)
	default:
		w.scalar(n, v)
	}
	if len(n.Enum) > 0 && !w.status {
		w.enum(n, v)
	}
	w.conditions(n, v)
	w.expressions(n, v)
}

// null is a field that is not set, but in lists: there the API server refuses it in custom resources, and takes it for an empty
// value elsewhere.
func (w *walk) null(n *node) {
	if len(w.steps) == 0 || w.steps[len(w.steps)-1].index < 0 || n.Nullable || n.Type == "" || w.status {
		return
	}
	severity := chart.SeverityWarning
	if w.own {
		severity = chart.SeverityError
	}
	w.add(severity, RuleType, "is null, must be "+typeName(n)+": leave it out or give it a value")
	w.required(n, nil)
}
