package managed

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Key identifies a managed resource.
type Key = engine.UnitID

// Resource is a managed resource in one pass. What its methods store is stored when they return, so that a process that is
// killed after that finds it.
type Resource struct {
	// Kind is that of the resource.
	Kind Kind
	// Object is the resource as it was read, with its references resolved. It is not to be changed.
	Object *unstructured.Unstructured
	// Configuration is the provider configuration that it names.
	Configuration *unstructured.Unstructured

	store Store
}

// Store is where a Resource stores and reads. The Reconciler has one; tests of providers have their own.
type Store interface {
	// Annotate sets annotations of the resource and Record its record, on the latest version of the object if need be.
	Annotate(ctx context.Context, r *Resource, annotations map[string]string) error
	Record(ctx context.Context, r *Resource, record map[string]any) error
	// Read returns another object of the home cluster, nil when there is none, and has a pass made when it changes.
	Read(ctx context.Context, r *Resource, of schema.GroupVersionKind, name types.NamespacedName) (*unstructured.Unstructured, error)
	// ReadBy is Read as another account sees the cluster.
	ReadBy(ctx context.Context, r *Resource, by *Edges, of schema.GroupVersionKind, name types.NamespacedName) (*unstructured.Unstructured, error)
	// Emit writes an event about the resource.
	Emit(r *Resource, kind, reason, message string)
}

// NewResource returns a resource for a pass.
func NewResource(k Kind, o, configuration *unstructured.Unstructured, s Store) *Resource {
	return &Resource{Kind: k, Object: o, Configuration: configuration, store: s}
}

// Key identifies the resource.
func (r *Resource) Key() Key {
	return Key{Group: r.Kind.Group, Kind: r.Kind.Kind.Kind, Namespace: r.Object.GetNamespace(), Name: r.Object.GetName()}
}

// ExternalName is the name of what is outside; empty when there is none yet.
func (r *Resource) ExternalName() string { return r.Object.GetAnnotations()[AnnotationExternalName] }

// Rename stores another external name: what the resource stands for is another one from now on.
func (r *Resource) Rename(ctx context.Context, name string) error {
	return r.annotate(ctx, map[string]string{AnnotationExternalName: name})
}

// annotate stores annotations.
func (r *Resource) annotate(ctx context.Context, annotations map[string]string) error {
	return r.store.Annotate(ctx, r, annotations)
}

// Record reads what Keep stored, and leaves into as it is when that is nothing.
func (r *Resource) Record(into any) error {
	stored, has, _ := unstructured.NestedMap(r.Object.Object, "status", "record")
	if !has {
		return nil
	}
	data, err := json.Marshal(stored)
	if err != nil {
		return fmt.Errorf("reading status.record: %w", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("reading status.record: %w", err)
	}
	return nil
}

// Keep stores what the kind has to remember in status.record, which no one reads but the kind: what something was created with,
// which step of a replacement was begun. It has no secret values.
func (r *Resource) Keep(ctx context.Context, record any) error {
	data, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("storing status.record: %w", err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("storing status.record: %w", err)
	}
	return r.store.Record(ctx, r, fields)
}

// Emit writes an event about the resource. Type is that of the core API: Normal or Warning.
func (r *Resource) Emit(kind, reason, message string) { r.store.Emit(r, kind, reason, message) }

// Read returns another object of the home cluster, nil when there is none; a pass is made when it appears, changes or goes. A
// namespaced resource reads its own namespace alone.
func (r *Resource) Read(ctx context.Context, of schema.GroupVersionKind, name types.NamespacedName) (*unstructured.Unstructured, error) {
	name, err := r.own(of, name)
	if err != nil {
		return nil, err
	}
	return r.store.Read(ctx, r, of, name)
}

// ReadBy is Read as another account sees the home cluster, whose rights count.
func (r *Resource) ReadBy(ctx context.Context, by *Edges, of schema.GroupVersionKind, name types.NamespacedName) (*unstructured.Unstructured, error) {
	name, err := r.own(of, name)
	if err != nil {
		return nil, err
	}
	return r.store.ReadBy(ctx, r, by, of, name)
}

// own is the name of what a resource reads: that of a namespaced one is in its namespace.
func (r *Resource) own(of schema.GroupVersionKind, name types.NamespacedName) (types.NamespacedName, error) {
	if own := r.Object.GetNamespace(); r.Kind.Namespaced && name.Namespace != own {
		if name.Namespace != "" {
			return name, Invalid("%s %s: a resource in namespace %s cannot read namespace %s", of.Kind, name.Name, own, name.Namespace)
		}
		name.Namespace = own
	}
	return name, nil
}
