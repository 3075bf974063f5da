package appset

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// list gives what is written in the generator.
func (g *generation) list(body map[string]any) ([]parameters, error) {
	var said v1alpha1.ListGenerator
	if err := decode(body, &said); err != nil {
		return nil, err
	}
	var sets []parameters
	for i, element := range said.Elements {
		field := fmt.Sprintf(".elements[%d]", i)
		var values map[string]any
		if err := json.Unmarshal(element.Raw, &values); err != nil {
			return nil, within(field, errors.New("not an object"))
		}
		if !g.set.Spec.GoTemplate {
			var err error
			if values, err = plainElement(values); err != nil {
				return nil, within(field, err)
			}
		}
		sets = append(sets, parameters{values, fmt.Sprintf("element %d of a list", i+1)})
	}
	if said.ElementsYaml == "" {
		return sets, nil
	}
	var elements []map[string]any
	if err := yaml.Unmarshal([]byte(said.ElementsYaml), &elements); err != nil {
		return nil, within(".elementsYaml", fmt.Errorf("not a YAML list of objects: %w", err))
	}
	for i, values := range elements {
		sets = append(sets, parameters{values, fmt.Sprintf("element %d of elementsYaml", i+1)})
	}
	return sets, nil
}

// plainElement is an element for the older templates, which know text only.
func plainElement(element map[string]any) (map[string]any, error) {
	made := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(element)) {
		values, nested := element[key].(map[string]any)
		if key != "values" || !nested {
			text, ok := element[key].(string)
			if !ok {
				return nil, within("."+key, errors.New("not a string: quote it, or set spec.goTemplate: true"))
			}
			made[key] = text
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			text, ok := values[name].(string)
			if !ok {
				return nil, within(".values."+name, errors.New("not a string: quote it, or set spec.goTemplate: true"))
			}
			made["values."+name] = text
		}
	}
	return made, nil
}
