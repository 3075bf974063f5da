package schema

import "slices"

// conditions validates what a schema demands beyond its fields.
func (w *walk) conditions(n *node, v any) {
	for _, one := range n.AllOf {
		w.partially(one, v)
	}
	if len(n.AnyOf) > 0 {
		if held, why := w.held(n.AnyOf, v); held == 0 {
			w.errorf(RuleBounds, "satisfies none of %s that its definition allows%s", count(len(n.AnyOf), "form", "forms"), why)
		}
	}
	if len(n.OneOf) > 0 {
		switch held, why := w.held(n.OneOf, v); {
		case held == 0:
			w.errorf(RuleBounds, "satisfies none of %s that its definition allows%s", count(len(n.OneOf), "form", "forms"), why)
		case held > 1:
			w.errorf(RuleBounds, "satisfies %d of %d forms that exclude one another in its definition", held, len(n.OneOf))
		}
	}
	if n.Not != nil {
		if held, _ := w.held([]*node{n.Not}, v); held > 0 {
			w.errorf(RuleBounds, "has a form that its definition excludes")
		}
	}
}

// partially validates a value against a condition: a schema that does not describe all of its fields.
func (w *walk) partially(n *node, v any) {
	partial := w.partial
	w.partial = true
	w.value(n, v)
	w.partial = partial
}

// held counts the conditions that a value satisfies, and says what is wrong with the last if it satisfies none.
func (w *walk) held(all []*node, v any) (held int, why string) {
	kept := w.findings
	for _, one := range all {
		w.findings = nil
		w.partially(one, v)
		if len(w.findings) == 0 {
			held++
			continue
		}
		first := slices.MinFunc(w.findings, inOrder)
		why = ": " + first.Field + " " + first.Message
	}
	w.findings = kept
	return held, why
}
