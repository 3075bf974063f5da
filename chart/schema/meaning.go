package schema

import "strings"

const labelSelector = "apimachinery.pkg.apis.meta.v1.LabelSelector"

// annotationsLimit is what the annotations of one object may have in all.
const annotationsLimit = 256 << 10

// meaning validates what the definition of a map says of it beyond its fields.
func (w *walk) meaning(n *node, fields map[string]any) {
	switch n.name {
	case objectMeta:
		w.labels(fields, "labels")
		w.annotations(fields)
		w.finalizers(fields)
	case labelSelector:
		w.labels(fields, "matchLabels")
	}
}

// labels validates the keys and values of a field.
func (w *walk) labels(fields map[string]any, field string) {
	all, _ := fields[field].(map[string]any)
	w.into(field)
	defer w.out()
	for key, v := range all {
		if want := qualified(key); want != "" && !w.unrendered(key) {
			w.errorIn(key, RuleLabel, "the name of a label must be %s", want)
		}
		if text, ok := v.(string); ok && !isLabelText(text) && text != "" && !w.unrendered(text) {
			w.errorIn(key, RuleLabel, "is not valid for a label%s: %s", w.quoted(text), wantLabelText)
		}
	}
}

func (w *walk) annotations(fields map[string]any) {
	all, _ := fields["annotations"].(map[string]any)
	w.into("annotations")
	defer w.out()
	size := 0
	for key, v := range all {
		text, _ := v.(string)
		size += len(key) + len(text)
		if want := qualified(strings.ToLower(key)); want != "" && !w.unrendered(key) {
			w.errorIn(key, RuleLabel, "the name of an annotation must be %s", want)
		}
	}
	if size > annotationsLimit {
		w.errorf(RuleBounds, "have %d bytes, must have at most %d", size, annotationsLimit)
	}
}

func (w *walk) finalizers(fields map[string]any) {
	all, _ := fields["finalizers"].([]any)
	w.into("finalizers")
	defer w.out()
	for i, v := range all {
		if text, ok := v.(string); ok && qualified(text) != "" {
			w.intoItem(i)
			w.errorf(RuleName, "must be %s", qualified(text))
			w.out()
		}
	}
}

// qualified is what a name with an optional prefix has to be, or "" for one that is.
func qualified(name string) string {
	prefix, last, prefixed := strings.Cut(name, "/")
	if !prefixed {
		prefix, last = "", name
	}
	if prefixed && !isSubdomain(prefix) || !isLabelText(last) {
		return "a name of " + wantLabelText + ", after an optional domain and slash"
	}
	return ""
}

// isLabelText reports whether a text is the value of a label that is not empty.
func isLabelText(text string) bool {
	return len(text) > 0 && len(text) <= 63 && lettersAndDigits(text[0], true) && lettersAndDigits(text[len(text)-1], true) &&
		!strings.ContainsFunc(text, func(r rune) bool {
			return r != '-' && r != '_' && r != '.' && (r > 'z' || !lettersAndDigits(byte(r), true))
		})
}
