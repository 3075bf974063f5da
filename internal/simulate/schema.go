package simulate

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// shape is what the definition of a kind says of statuses. The zero shape takes everything.
type shape struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	none       bool
}

// shapeOf reads the schema that a definition has for the status of objects of a version.
func shapeOf(crd *unstructured.Unstructured, version string) (shape, error) {
	if crd == nil {
		return shape{}, nil
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(crd.Object, &definition); err != nil {
		return shape{}, fmt.Errorf("reading CustomResourceDefinition %q: %w", crd.GetName(), err)
	}
	for _, v := range definition.Spec.Versions {
		if v.Name != version || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		s, err := shapeOfSchema(v.Schema.OpenAPIV3Schema)
		if err != nil {
			return shape{}, fmt.Errorf("reading CustomResourceDefinition %q: version %q: %w", crd.GetName(), version, err)
		}
		return s, nil
	}
	return shape{}, nil
}

func shapeOfSchema(whole *apiextensionsv1.JSONSchemaProps) (shape, error) {
	status, found := whole.Properties["status"]
	if !found {
		keeps := whole.XPreserveUnknownFields != nil && *whole.XPreserveUnknownFields
		return shape{none: !keeps}, nil
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&status, &props, nil); err != nil {
		return shape{}, fmt.Errorf("the schema of status: %w", err)
	}
	structural, err := structuralschema.NewStructural(&props)
	if err != nil {
		return shape{}, fmt.Errorf("the schema of status: %w", err)
	}
	validator, _, err := validation.NewSchemaValidator(&props)
	if err != nil {
		return shape{}, fmt.Errorf("the schema of status: %w", err)
	}
	return shape{structural: structural, validator: validator}, nil
}

// fit takes out of a status what the API server would drop or refuse. A value that is refused goes, and where
// one is missing, what it is missing from.
func (s shape) fit(status map[string]any) map[string]any {
	if s.none {
		return map[string]any{}
	}
	if s.structural == nil {
		return status
	}
	pruning.Prune(status, s.structural, false)
	for {
		errs := validation.ValidateCustomResource(nil, status, s.validator)
		if len(errs) == 0 {
			return status
		}
		if !cut(status, placeOf(errs[0])) {
			return map[string]any{}
		}
	}
}

// placeOf is the path of what an error wants gone.
func placeOf(err *field.Error) []string {
	steps := strings.FieldsFunc(err.Field, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	if len(steps) > 0 && err.Type == field.ErrorTypeRequired {
		steps = steps[:len(steps)-1]
	}
	return steps
}

// cut takes the value at a path out of a tree, or the last one above it that is there. It reports whether
// anything went.
func cut(tree map[string]any, steps []string) bool {
	if len(steps) == 0 {
		return false
	}
	next, found := tree[steps[0]]
	if !found {
		return false
	}
	if kept, changed := without(next, steps[1:]); changed {
		tree[steps[0]] = kept
		return true
	}
	delete(tree, steps[0])
	return true
}

// without is a value without what is at a path below it.
func without(value any, steps []string) (any, bool) {
	if len(steps) == 0 {
		return value, false
	}
	switch v := value.(type) {
	case map[string]any:
		return v, cut(v, steps)
	case []any:
		i, err := strconv.Atoi(steps[0])
		if err != nil || i < 0 || i >= len(v) {
			return v, false
		}
		if kept, changed := without(v[i], steps[1:]); changed {
			v[i] = kept
			return v, true
		}
		return append(v[:i:i], v[i+1:]...), true
	}
	return value, false
}
