package acceptance

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// definition is a CustomResourceDefinition. Its schemas are made when they are needed.
type definition struct {
	crd       *apiextensionsv1.CustomResourceDefinition
	models    *group
	converter managedfields.TypeConverter
}

// custom is a kind that is defined, in one version.
type custom struct {
	*definition

	kind       schema.GroupVersionKind
	structural *structuralschema.Structural
	strategy   rest.RESTCreateStrategy
}

// Define has the server serve what a CustomResourceDefinition defines. One that the server would refuse defines
// nothing: Check says why. A later definition takes the place of an earlier one of the same name.
func (s *Server) Define(ctx context.Context, o *unstructured.Unstructured) error {
	if err := s.Check(ctx, o, Options{DropUnknown: true}); err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, crd); err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	apiserver.Scheme.Default(crd)
	d := &definition{crd: crd, models: s.models}
	for _, v := range crd.Spec.Versions {
		if v.Served {
			gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}
			s.kinds[gvk] = &custom{definition: d, kind: gvk}
		}
	}
	return nil
}

func (d *definition) namespaced() bool { return d.crd.Spec.Scope == apiextensionsv1.NamespaceScoped }

// typeConverter reads objects by the schemas of all versions, as server-side apply does.
func (d *definition) typeConverter() (managedfields.TypeConverter, error) {
	if d.converter != nil {
		return d.converter, nil
	}
	common, _, err := d.models.models()
	if err != nil {
		return nil, err
	}
	all := []*spec3.OpenAPI{{
		Version: "3.0.0", Info: &spec.Info{InfoProps: spec.InfoProps{Title: d.crd.Name, Version: "1"}}, Components: &spec3.Components{Schemas: common},
	}}
	for _, v := range d.crd.Spec.Versions {
		one, err := builder.BuildOpenAPIV3(d.crd, v.Name, builder.Options{})
		if err != nil {
			return nil, fmt.Errorf("building the schema of %s: %w", d.crd.Name, err)
		}
		all = append(all, one)
	}
	merged, err := builder.MergeSpecsV3(all...)
	if err != nil {
		return nil, fmt.Errorf("building the schema of %s: %w", d.crd.Name, err)
	}
	d.converter, err = managedfields.NewTypeConverter(merged.Components.Schemas, d.crd.Spec.PreserveUnknownFields)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", d.crd.Name, err)
	}
	return d.converter, nil
}

func (k *custom) fields(o *unstructured.Unstructured) error {
	converter, err := k.typeConverter()
	if err != nil {
		return err
	}
	_, err = converter.ObjectToTyped(o)
	return err
}

func (k *custom) create(ctx context.Context, o *unstructured.Unstructured) error {
	if err := k.prepare(); err != nil {
		return err
	}
	if !k.crd.Spec.PreserveUnknownFields {
		pruning.Prune(o.Object, k.structural, true)
		defaulting.PruneNonNullableNullsWithoutDefaults(o.Object, k.structural)
	}
	defaulting.Default(o.Object, k.structural)
	rest.FillObjectMetaSystemFields(o)
	resource := schema.GroupVersionResource{Group: k.kind.Group, Version: k.kind.Version, Resource: k.crd.Spec.Names.Plural}
	return rest.BeforeCreate(k.strategy, requestFor(ctx, resource, o), o)
}

// prepare makes what the server makes of a version of a definition.
func (k *custom) prepare() error {
	if k.strategy != nil {
		return nil
	}
	declared, err := apihelpers.GetSchemaForVersion(k.crd, k.kind.Version)
	if err != nil {
		return fmt.Errorf("reading the schema of %s: %w", k.crd.Name, err)
	}
	internal := &apiextensions.CustomResourceValidation{}
	if declared != nil {
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(declared, internal, nil); err != nil {
			return fmt.Errorf("reading the schema of %s: %w", k.crd.Name, err)
		}
		if k.structural, err = structuralschema.NewStructural(internal.OpenAPIV3Schema); err != nil && !k.crd.Spec.PreserveUnknownFields {
			return fmt.Errorf("reading the schema of %s: %w", k.crd.Name, err)
		}
	}
	if !k.crd.Spec.PreserveUnknownFields {
		k.structural = k.structural.DeepCopy()
		if err := defaulting.PruneDefaults(k.structural); err != nil {
			return fmt.Errorf("reading the defaults of %s: %w", k.crd.Name, err)
		}
	}
	validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return fmt.Errorf("reading the schema of %s: %w", k.crd.Name, err)
	}
	typer := crdserverscheme.NewUnstructuredObjectTyper()
	// A creation drops the status where that is a subresource; there is none here anyway.
	k.strategy = customresource.NewStrategy(typer, k.namespaced(), k.kind, validator, nil, k.structural, nil, nil, nil)
	return nil
}
