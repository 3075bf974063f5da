package crdtypes

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Definition is a CustomResourceDefinition.
type Definition struct {
	// Source says where it was read: the file, and the document in it.
	Source string
	// Group, Kind and Plural are its names.
	Group, Kind, Plural string
	// Namespaced says that its objects are in namespaces.
	Namespaced bool
	// Versions of it.
	Versions []Version
}

// Version is a version of a Definition.
type Version struct {
	// Name of it: "v1".
	Name string
	// Served says that a cluster serves it.
	Served bool
	// Schema of its objects; nil if it has none.
	Schema *Schema

	raw  map[string]any
	text string
}

// maxDocument bounds a document; etcd stores none that is larger than a few MiB.
const maxDocument = 64 << 20

// Read finds the definitions in YAML or JSON: documents, and lists of them. Other objects are passed over. source names what is read, for
// errors.
func Read(source string, data []byte) ([]Definition, error) {
	var all []Definition
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: document %d: %w", source, n, err)
		}
		at := source
		if n > 1 {
			at = fmt.Sprintf("%s: document %d", source, n)
		}
		found, err := readDocument(at, document)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
}

var mayDefine = regexp.MustCompile(`CustomResourceDefinition`)

func readDocument(at string, document []byte) ([]Definition, error) {
	// Charts have templates among their files, which are no YAML; what defines nothing need not be read.
	if !mayDefine.Match(document) {
		return nil, nil
	}
	if len(document) > maxDocument {
		return nil, fmt.Errorf("%s: %d bytes are too many for a definition", at, len(document))
	}
	var object map[string]any
	if err := yaml.Unmarshal(document, &object); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return FromObject(at, object)
}

// FromObject are the definitions in an object: itself, or the items of a list.
func FromObject(at string, object map[string]any) ([]Definition, error) {
	switch object["kind"] {
	case "CustomResourceDefinition":
		d, err := define(at, object)
		return []Definition{d}, err
	case "List", "CustomResourceDefinitionList":
		var all []Definition
		items, _ := object["items"].([]any)
		for i, item := range items {
			fields, _ := item.(map[string]any)
			if object["kind"] != "List" && fields != nil && fields["kind"] == nil {
				fields["kind"], fields["apiVersion"] = "CustomResourceDefinition", object["apiVersion"]
			}
			found, err := FromObject(fmt.Sprintf("%s: items[%d]", at, i), fields)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	}
	return nil, nil
}

// crd is what both versions of CustomResourceDefinitions have.
type crd struct {
	APIVersion string `json:"apiVersion"`
	Spec       struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind   string `json:"kind"`
			Plural string `json:"plural"`
		} `json:"names"`
		// Version, Validation and Preserve are those of v1beta1.
		Version    string      `json:"version"`
		Validation *validation `json:"validation"`
		Versions   []struct {
			Name   string      `json:"name"`
			Served bool        `json:"served"`
			Schema *validation `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

type validation struct {
	OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
}

var (
	kindName    = regexp.MustCompile(`^[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$`)
	groupName   = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)
	versionName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

func define(at string, object map[string]any) (Definition, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return Definition{}, fmt.Errorf("%s: %w", at, err)
	}
	var c crd
	if err := json.Unmarshal(data, &c); err != nil {
		return Definition{}, fmt.Errorf("%s: %w", at, err)
	}
	d := Definition{Source: at, Group: c.Spec.Group, Kind: c.Spec.Names.Kind, Plural: c.Spec.Names.Plural, Namespaced: c.Spec.Scope != "Cluster"}
	switch {
	case !groupName.MatchString(d.Group):
		return d, fmt.Errorf("%s: spec.group: %q is not an API group", at, d.Group)
	case !kindName.MatchString(d.Kind):
		return d, fmt.Errorf("%s: spec.names.kind: %q is not a kind; one has letters, digits and '-', begins with a letter and ends with a letter or a digit", at, d.Kind)
	}
	if len(c.Spec.Versions) == 0 && c.Spec.Version != "" {
		return d, d.addVersion(c.Spec.Version, true, c.Spec.Validation, "spec.validation")
	}
	for i, v := range c.Spec.Versions {
		field := fmt.Sprintf("spec.versions[%d].schema", i)
		schema := v.Schema
		if schema == nil {
			schema, field = c.Spec.Validation, "spec.validation"
		}
		if err := d.addVersion(v.Name, v.Served, schema, field); err != nil {
			return d, err
		}
	}
	if len(d.Versions) == 0 {
		return d, fmt.Errorf("%s: spec.versions: %s has none", at, d.Kind)
	}
	return d, nil
}

func (d *Definition) addVersion(name string, served bool, v *validation, field string) error {
	if !versionName.MatchString(name) {
		return fmt.Errorf("%s: spec.versions: %q is not a version", d.Source, name)
	}
	version := Version{Name: name, Served: served}
	if v != nil && len(v.OpenAPIV3Schema) > 0 {
		var err error
		if version.Schema, err = parseSchema(v.OpenAPIV3Schema, field+".openAPIV3Schema", 0); err != nil {
			return fmt.Errorf("%s: %w", d.Source, err)
		}
		version.raw = v.OpenAPIV3Schema
		text, err := json.Marshal(withoutDescriptions(v.OpenAPIV3Schema))
		if err != nil {
			return fmt.Errorf("%s: %s: %w", d.Source, field, err)
		}
		version.text = string(text)
	}
	d.Versions = append(d.Versions, version)
	return nil
}
