package lint

import (
	"maps"
	"path"
	"strings"
)

// ignore excepts the object from the rules of its annotation.
func (r *run) ignore(annotations map[string]any, at string) {
	text, _ := annotations[Annotation].(string)
	for name := range strings.SplitSeq(text, ",") {
		rules, ok := r.known[short(name)]
		if !ok && short(name) != "" {
			r.add("unknown-rule", join(at, "annotations")+`["`+Annotation+`"]`, r.unknown(name))
		}
		for _, rule := range rules {
			r.ignored[rule] = true
		}
	}
}

// except excepts the object from the rules of an Exception.
func (r *run) except(x Exception) {
	names := x.Rules
	if len(names) == 0 {
		names = []string{"*"}
	}
	for _, name := range names {
		for _, rule := range r.known[short(name)] {
			r.ignored[rule] = true
		}
	}
}

// within has what follows be about a container: some rules may not apply to it. What is returned ends that.
func (r *run) within(container string) func() {
	before := maps.Clone(r.ignored)
	for _, x := range r.policy.Exceptions {
		if x.Container != "" && like(x.Container, container) && x.matches(r.object) {
			r.except(x)
		}
	}
	return func() { r.ignored = before }
}

// matches reports whether an object is one that the exception is for.
func (x Exception) matches(o object) bool {
	if !like(x.Kind, o.kind()) || !like(x.Namespace, o.namespace()) || !like(x.Name, o.name()) {
		return false
	}
	labels := o.labels()
	for key, value := range x.Labels {
		if text(labels, key) != value {
			return false
		}
	}
	return true
}

// like reports whether a text matches a pattern; the empty one matches all, and one that is malformed only itself.
func like(pattern, text string) bool {
	matched, err := path.Match(pattern, text)
	return pattern == "" || pattern == text || err == nil && matched
}
