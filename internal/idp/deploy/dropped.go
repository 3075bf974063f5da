package deploy

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	definitions "github.com/headgate-dev/headgate/deploy"
)

// schemas are those of what packages declare, by kind.
type schemas map[string]*structuralschema.Structural

// readSchemas reads them from the definitions of Argo CD's kinds.
func readSchemas() (schemas, error) {
	all, err := definitions.ArgoCRDs()
	if err != nil {
		return nil, fmt.Errorf("reading the definitions of Applications: %w", err)
	}
	found := schemas{}
	for _, u := range all {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &crd); err != nil {
			return nil, fmt.Errorf("reading the definition %s: %w", u.GetName(), err)
		}
		for i := range crd.Spec.Versions {
			if v := &crd.Spec.Versions[i]; v.Name == argo.Version && v.Schema != nil {
				if found[crd.Spec.Names.Kind], err = structural(v.Schema.OpenAPIV3Schema); err != nil {
					return nil, fmt.Errorf("reading the schema of %s: %w", crd.Spec.Names.Kind, err)
				}
			}
		}
	}
	return found, nil
}

func structural(schema *apiextensionsv1.JSONSchemaProps) (*structuralschema.Structural, error) {
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &internal, nil); err != nil {
		return nil, err
	}
	return structuralschema.NewStructural(&internal)
}

// drop takes the fields out of an object that its kind does not have, as idpbuilder does when it reads a file, and returns their paths: an API
// server would refuse the whole object.
func (s schemas) drop(o *unstructured.Unstructured) []string {
	dropped := dropMeta(o)
	if schema := s[o.GetKind()]; schema != nil {
		dropped = append(dropped, pruning.PruneWithOptions(o.Object, schema, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	}
	return dropped
}

// dropMeta takes the fields out of the metadata of an object that no object has.
func dropMeta(o *unstructured.Unstructured) []string {
	meta, _ := o.Object["metadata"].(map[string]any)
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(meta, &metav1.ObjectMeta{}, true)
	strict, is := runtime.AsStrictDecodingError(err)
	if !is {
		return nil
	}
	var dropped []string
	for _, one := range strict.Errors() {
		field := strings.TrimSuffix(strings.TrimPrefix(one.Error(), `unknown field "`), `"`)
		if _, there := meta[field]; there {
			delete(meta, field)
			dropped = append(dropped, "metadata."+field)
		}
	}
	slices.Sort(dropped)
	return dropped
}
