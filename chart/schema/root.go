package schema

import (
	"strings"

	"github.com/headgate-dev/headgate/chart"
)

// root validates an object from its apiVersion and kind on.
func (w *walk) root(object map[string]any) {
	apiVersion, kindName := w.textOf(object, "apiVersion"), w.textOf(object, "kind")
	if apiVersion == "" || kindName == "" {
		return
	}
	if w.listed(object, apiVersion, kindName) {
		return
	}
	if c := w.custom[apiVersion+" "+kindName]; c != nil {
		w.identify(object, c.namespaced, apiVersion, kindName)
		w.customObject(c, object)
		return
	}
	k := w.release.kinds[apiVersion+" "+kindName]
	if k == nil {
		w.unserved(apiVersion, kindName)
		return
	}
	w.disabled(k)
	w.secret = apiVersion == "v1" && kindName == "Secret"
	w.identify(object, k.namespaced, apiVersion, kindName)
	w.value(w.definition(k.definition), object)
	w.together(apiVersion, kindName, object)
	if kindName == "CustomResourceDefinition" && len(w.findings) == w.before {
		w.decodes(object)
	}
}

// textOf is a field that every object has.
func (w *walk) textOf(object map[string]any, field string) string {
	text, ok := object[field].(string)
	switch {
	case object[field] == nil || ok && text == "":
		w.errorIn(field, RuleRequired, "is missing: a string")
	case !ok:
		w.errorIn(field, RuleType, "is %s, must be a string", w.describe(object[field]))
	}
	return text
}

// listed validates the objects in a list of them: that of kind List, or that of a kind.
func (w *walk) listed(object map[string]any, apiVersion, kindName string) bool {
	one, isList := strings.CutSuffix(kindName, "List")
	key := apiVersion + " " + one
	if !isList || w.release.kinds[apiVersion+" "+kindName] != nil || w.custom[apiVersion+" "+kindName] != nil {
		return false
	}
	if key != "v1 " && w.release.kinds[key] == nil && w.custom[key] == nil {
		return false
	}
	items, _ := object["items"].([]any)
	for i, item := range items {
		w.into("items")
		w.intoItem(i)
		w.nested(item)
		w.out()
		w.out()
	}
	return true
}

// nested validates an object within another as one of its own, with the fields from the outer one on.
func (w *walk) nested(v any) {
	fields, ok := v.(map[string]any)
	if !ok {
		w.errorf(RuleType, "is %s, must be an object", w.describe(v))
		return
	}
	inner := &walk{all: w.all, release: w.release, check: w.check, custom: w.custom, manifest: w.manifest}
	inner.root(fields)
	prefix := w.field()
	for _, f := range inner.findings {
		f.Field = strings.TrimSuffix(prefix+"."+f.Field, ".")
		w.findings = append(w.findings, f)
	}
}

// disabled warns of a kind that an API server has, and serves only if it is configured to.
func (w *walk) disabled(k *kind) {
	_, version := splitVersion(k.apiVersion)
	if !strings.Contains(version, "alpha") && !strings.Contains(version, "beta") {
		return
	}
	message := k.apiVersion + " is not served by default; it needs --runtime-config=" + k.apiVersion + "=true of the API server"
	if stable := w.servedIn(w.release, k.name, func(version string) bool {
		return !strings.Contains(version, "alpha") && !strings.Contains(version, "beta") && sameGroup(version, k.apiVersion)
	}); stable != "" {
		message = k.apiVersion + " is not served by default; use " + stable
	}
	w.into("apiVersion")
	w.add(chart.SeverityWarning, RuleDisabled, message)
	w.out()
}

// splitVersion is the group and the version in an apiVersion.
func splitVersion(apiVersion string) (group, version string) {
	group, version, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		return "", group
	}
	return group, version
}

func sameGroup(a, b string) bool {
	x, _ := splitVersion(a)
	y, _ := splitVersion(b)
	return x == y
}
