package acceptance

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapi "k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kube-openapi/pkg/builder3"
	openapiutil "k8s.io/kube-openapi/pkg/util"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// group is a group of kinds that are built in. Its schemas are made when they are needed.
type group struct {
	name   string
	scheme *runtime.Scheme
	kinds  map[schema.GroupVersionKind]*builtin

	schemas   map[string]*spec.Schema
	converter managedfields.TypeConverter
}

// builtin is a kind that is built in.
type builtin struct {
	group *group
	// resource is how its objects are reached.
	resource schema.GroupVersionResource
	kind     schema.GroupVersionKind
	scope    bool
	strategy rest.RESTCreateStrategy
}

// keeper is the storage of a kind whose objects are kept.
type keeper interface {
	GetCreateStrategy() rest.RESTCreateStrategy
}

// add enters the resources of one version.
func (g *group) add(version string, storages map[string]rest.Storage) error {
	gv := schema.GroupVersion{Group: g.name, Version: version}
	for resource, storage := range storages {
		if strings.Contains(resource, "/") {
			continue
		}
		gvk, err := genericapi.GetResourceKind(gv, storage, g.scheme)
		if err != nil {
			return fmt.Errorf("reading the kind of %s: %w", gv.WithResource(resource), err)
		}
		k := &builtin{group: g, kind: gvk, resource: gv.WithResource(resource)}
		if scoper, ok := storage.(rest.Scoper); ok {
			k.scope = scoper.NamespaceScoped()
		}
		if keeps, ok := storage.(keeper); ok {
			k.strategy = keeps.GetCreateStrategy()
		} else {
			k.strategy = hidden(gvk.GroupKind())
		}
		g.kinds[gvk] = k
	}
	return nil
}

// models makes the schemas of the kinds of a group, as the server does for server-side apply.
func (g *group) models() (map[string]*spec.Schema, managedfields.TypeConverter, error) {
	if g.converter != nil {
		return g.schemas, g.converter, nil
	}
	names := make([]string, 0, len(g.kinds))
	for gvk := range g.kinds {
		sample, err := g.scheme.New(gvk)
		if err != nil {
			return nil, nil, fmt.Errorf("creating a %s: %w", gvk, err)
		}
		names = append(names, openapiutil.GetCanonicalTypeName(sample))
	}
	var err error
	if g.schemas, err = builder3.BuildOpenAPIDefinitionsForResources(openAPIConfig(), names...); err != nil {
		return nil, nil, fmt.Errorf("building the schemas of group %q: %w", g.name, err)
	}
	if g.converter, err = managedfields.NewTypeConverter(g.schemas, false); err != nil {
		return nil, nil, fmt.Errorf("reading the schemas of group %q: %w", g.name, err)
	}
	return g.schemas, g.converter, nil
}

func (k *builtin) namespaced() bool { return k.scope }

func (k *builtin) fields(o *unstructured.Unstructured) error {
	_, converter, err := k.group.models()
	if err != nil {
		return err
	}
	_, err = converter.ObjectToTyped(o)
	return err
}

func (k *builtin) create(ctx context.Context, o *unstructured.Unstructured) error {
	data, err := o.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	internal := schema.GroupVersion{Group: k.kind.Group, Version: runtime.APIVersionInternal}
	// The decoder sets the defaults of the version.
	object, err := runtime.Decode(serializer.NewCodecFactory(k.group.scheme).UniversalDecoder(internal), data)
	if err != nil {
		return err
	}
	meta, ok := object.(metav1.Object)
	if !ok {
		return fmt.Errorf("%s has no metadata", k.kind)
	}
	rest.FillObjectMetaSystemFields(meta)
	return rest.BeforeCreate(k.strategy, requestFor(ctx, k.resource, o), object)
}

// requestFor is the context in which the server validates an object.
func requestFor(ctx context.Context, r schema.GroupVersionResource, o *unstructured.Unstructured) context.Context {
	ctx = request.WithNamespace(ctx, o.GetNamespace())
	// What may be read by policies is asked of the user; who applies the object is decided elsewhere.
	ctx = request.WithUser(ctx, &user.DefaultInfo{Name: user.APIServerUser, Groups: []string{user.SystemPrivilegedGroup}})
	return request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true, Verb: "create", APIGroup: r.Group, APIVersion: r.Version, Resource: r.Resource,
		Namespace: o.GetNamespace(), Name: o.GetName(),
	})
}
