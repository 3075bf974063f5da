package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/chart/similar"
)

// customKind is a served version of a CustomResourceDefinition.
type customKind struct {
	apiVersion, name string
	namespaced       bool
	definition       *definition
}

// customKinds are the custom resources that are defined, by "apiVersion kind".
type customKinds map[string]*customKind

// resource is what is read of a CustomResourceDefinition.
type resource struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
			Schema struct {
				OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

// define takes the served versions out of an object if it is a CustomResourceDefinition. The first definition of a kind counts,
// so that those among the objects precede others.
func (w *walk) define(object map[string]any, report bool) {
	if object["kind"] == "List" && object["apiVersion"] == "v1" {
		items, _ := object["items"].([]any)
		for _, item := range items {
			if fields, ok := item.(map[string]any); ok {
				w.define(fields, report)
			}
		}
		return
	}
	if object["kind"] != "CustomResourceDefinition" || object["apiVersion"] != "apiextensions.k8s.io/v1" {
		return
	}
	var crd resource
	data, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(data, &crd)
	}
	if err != nil {
		if report {
			w.steps = w.steps[:0]
			w.errorIn("spec", RuleDefinition, "the definition has no usable schema: %v", err)
		}
		return
	}
	for _, version := range crd.Spec.Versions {
		c := &customKind{apiVersion: crd.Spec.Group + "/" + version.Name, name: crd.Spec.Names.Kind, namespaced: crd.Spec.Scope != "Cluster"}
		c.definition = &definition{raw: version.Schema.OpenAPIV3Schema}
		if key := c.apiVersion + " " + c.name; version.Served && w.custom[key] == nil {
			w.custom[key] = c
		}
	}
}

// decodes reports schemas of a definition that are none: what Kubernetes publishes leaves parts of them open.
func (w *walk) decodes(object map[string]any) {
	for i, one := range listAt(mapAt(object, "spec"), "versions") {
		version, _ := one.(map[string]any)
		data, err := json.Marshal(mapAt(version, "schema", "openAPIV3Schema"))
		if err == nil {
			err = json.Unmarshal(data, &node{})
		}
		if err != nil {
			w.errorAt([]any{"spec", "versions", i, "schema", "openAPIV3Schema"}, RuleDefinition, "is not a schema: %v", err)
		}
	}
}

// customObject validates a custom resource.
func (w *walk) customObject(c *customKind, object map[string]any) {
	if len(c.definition.raw) == 0 {
		w.withoutSchema(c.apiVersion, c.name)
		return
	}
	n, err := c.definition.get()
	if err != nil {
		w.errorIn("kind", RuleDefinition, "the schema in the definition of %s is not valid: %v", c.name, err)
		return
	}
	w.own = true
	w.value(n, object)
	w.own = false
}

// customGroup reports whether a group is one whose kinds are defined.
func (w *walk) customGroup(group string) bool {
	for _, c := range w.custom {
		if own, _ := splitVersion(c.apiVersion); own == group {
			return true
		}
	}
	return false
}

// unknownCustom reports a kind or version that the definitions of its group do not have. A kind that is like none of them may
// have a definition elsewhere.
func (w *walk) unknownCustom(apiVersion, kindName string) {
	group, _ := splitVersion(apiVersion)
	var versions, kinds []string
	for _, key := range slices.Sorted(maps.Keys(w.custom)) {
		c := w.custom[key]
		if own, _ := splitVersion(c.apiVersion); own != group {
			continue
		}
		kinds = append(kinds, c.name)
		if c.name == kindName {
			versions = append(versions, c.apiVersion)
		}
	}
	if len(versions) > 0 {
		slices.SortFunc(versions, byStability)
		w.errorIn("apiVersion", RuleUnknownKind, "the definition of %s serves %s, not %s", kindName, strings.Join(versions, " and "), apiVersion)
		return
	}
	if near := similar.Closest(kindName, kinds); near != "" && similar.Edits(kindName, near, 1) == 1 {
		w.errorIn("kind", RuleUnknownKind, "no definition has the kind %s in %s; did you mean %s?", kindName, group, near)
		return
	}
	w.withoutSchema(apiVersion, kindName)
}
