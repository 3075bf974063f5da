package settings

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Customization changes how objects of a kind are treated.
type Customization struct {
	// Health is a script in Lua that tells the health of an object; OpenLibs gives it all libraries of Lua.
	Health   string
	OpenLibs bool
	// Actions is the text of actions that people may take. It is not acted on.
	Actions string
	// IgnoreDifferences are fields that may differ, IgnoreUpdates those whose change wakes nothing.
	IgnoreDifferences Ignore
	IgnoreUpdates     Ignore
	// KnownTypeFields are fields of types of Kubernetes, which are compared as such.
	KnownTypeFields []KnownTypeField
}

// Ignore are fields.
type Ignore struct {
	JSONPointers          []string `json:"jsonPointers,omitempty"`
	JQPathExpressions     []string `json:"jqPathExpressions,omitempty"`
	ManagedFieldsManagers []string `json:"managedFieldsManagers,omitempty"`
}

// KnownTypeField is a field of a type of Kubernetes, such as core/v1/PodSpec.
type KnownTypeField struct {
	Field string `json:"field,omitempty"`
	Type  string `json:"type,omitempty"`
}

// everything is the key of customizations that hold for all kinds.
const everything = "*/*"

// customizations reads those of all kinds: a key for each, and before them the one document of older installations.
func (r *reader) customizations() {
	const prefix = "resource.customizations"
	r.oldCustomizations(prefix)
	for _, key := range r.sorted() {
		rest, ok := strings.CutPrefix(key, prefix+".")
		if !ok {
			continue
		}
		what, of, ok := strings.Cut(rest, ".")
		kind, named := overrideKey(of)
		if !ok || !named {
			delete(r.left, key)
			r.bad(key, "has a key that is not resource.customizations.TYPE.GROUP_KIND")
			continue
		}
		c := r.settings.Customizations[kind]
		if !r.customization(key, what, &c) {
			r.bad(key, "customizes "+what+", which is unknown")
			continue
		}
		r.settings.Customizations[kind] = c
	}
}

// customization reads one key, and is false if its type is unknown.
func (r *reader) customization(key, what string, c *Customization) bool {
	switch what {
	case "health":
		r.text(key, &c.Health)
	case "useOpenLibs":
		r.flag(key, &c.OpenLibs)
	case "actions":
		r.text(key, &c.Actions)
		r.name(key, ConcernServer)
	case "ignoreDifferences":
		c.IgnoreDifferences = Ignore{}
		r.document(key, &c.IgnoreDifferences)
	case "ignoreResourceUpdates":
		c.IgnoreUpdates = Ignore{}
		r.document(key, &c.IgnoreUpdates)
	case "knownTypeFields":
		c.KnownTypeFields = nil
		r.document(key, &c.KnownTypeFields)
	default:
		delete(r.left, key)
		return false
	}
	return true
}

// overrideKey makes "group/Kind" of "group_Kind".
func overrideKey(text string) (string, bool) {
	if text == "all" {
		return everything, true
	}
	parts := strings.Split(text, "_")
	return strings.Join(parts, "/"), text != "" && len(parts) <= 2
}

// oldCustomizations reads the document with all kinds, in which fields are texts again.
func (r *reader) oldCustomizations(key string) {
	all := map[string]struct {
		Health          string           `json:"health.lua"`
		OpenLibs        bool             `json:"health.lua.useOpenLibs"`
		Actions         string           `json:"actions"`
		Differences     string           `json:"ignoreDifferences"`
		Updates         string           `json:"ignoreResourceUpdates"`
		KnownTypeFields []KnownTypeField `json:"knownTypeFields"`
	}{}
	if !r.document(key, &all) {
		return
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		old := all[kind]
		c := Customization{Health: old.Health, OpenLibs: old.OpenLibs, Actions: old.Actions, KnownTypeFields: old.KnownTypeFields}
		for text, into := range map[*string]*Ignore{&old.Differences: &c.IgnoreDifferences, &old.Updates: &c.IgnoreUpdates} {
			if err := yaml.UnmarshalStrict([]byte(*text), into); err != nil {
				r.problems.add(r.object, key, *text, "of "+strconv.Quote(kind)+" is invalid: "+err.Error())
			}
		}
		if old.Actions != "" {
			r.name(key, ConcernServer)
		}
		r.settings.Customizations[kind] = c
	}
}
