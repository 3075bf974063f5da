// Package acceptance says what the embedded API server would say to objects that are applied to it: whether their
// kinds are served, and whether their fields and values are accepted. It calls the code of the server, and starts none.
//
// It takes values and returns values. What depends on the state of a cluster is not judged: namespaces, webhooks,
// quotas, admission policies.
package acceptance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	compiled "k8s.io/component-base/version"
)

// Version is the minor version of the Kubernetes that is embedded, such as 1.36.
const Version = compiled.DefaultKubeBinaryVersion

// kind is one that is served.
type kind interface {
	// namespaced reports whether its objects are in namespaces.
	namespaced() bool
	// fields refuses fields that server-side apply would.
	fields(o *unstructured.Unstructured) error
	// create refuses what a creation would be refused for.
	create(ctx context.Context, o *unstructured.Unstructured) error
}

// Server knows the kinds that the embedded API server serves, and those that are defined. It is not safe for
// concurrent use.
type Server struct {
	kinds map[schema.GroupVersionKind]kind
	// models are the schemas that those of custom resources refer to.
	models *group
}

// New returns a Server with the kinds that are built in.
func New() (*Server, error) {
	s := &Server{kinds: map[schema.GroupVersionKind]kind{}}
	groups, err := builtinGroups()
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		for gvk, k := range g.kinds {
			s.kinds[gvk] = k
		}
		if g.name == extensionsGroup {
			s.models = g
		}
	}
	return s, nil
}

// Scope reports whether a kind has namespaces, and whether it is known in any version.
func (s *Server) Scope(gvk schema.GroupVersionKind) (namespaced, known bool) {
	if k, served := s.kinds[gvk]; served {
		return k.namespaced(), true
	}
	for _, v := range s.Versions(gvk.GroupKind()) {
		return s.kinds[gvk.GroupKind().WithVersion(v)].namespaced(), true
	}
	return false, false
}

// Versions are those in which a kind is served, the preferred one first.
func (s *Server) Versions(gk schema.GroupKind) []string {
	var versions []string
	for gvk := range s.kinds {
		if gvk.GroupKind() == gk {
			versions = append(versions, gvk.Version)
		}
	}
	slices.SortFunc(versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return versions
}

// Kinds are the kinds of a group; those of the server's own groups without dots are one, since people leave these out.
func (s *Server) Kinds(group string) []string {
	names := map[string]bool{}
	for gvk := range s.kinds {
		if gvk.Group == group || !strings.Contains(group, ".") && s.BuiltIn(gvk.Group) {
			names[gvk.Kind] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// BuiltIn reports whether a group is one of the server's own, so that nothing else can define kinds in it.
func (s *Server) BuiltIn(group string) bool {
	for gvk, k := range s.kinds {
		if _, own := k.(*builtin); own && gvk.Group == group {
			return true
		}
	}
	// Definitions in other groups of Kubernetes need an approval, which the project's own have.
	return !strings.Contains(group, ".")
}

// UnservedError is that a kind is not served in the version that an object has.
type UnservedError struct {
	Kind schema.GroupVersionKind
	// Served are the versions in which it is, none if the kind is unknown.
	Served []string
}

// Error names the version to use.
func (e *UnservedError) Error() string {
	apiVersion := e.Kind.GroupVersion().String()
	if len(e.Served) == 0 {
		return fmt.Sprintf("kind %s is not served in %s, and nothing defines it", e.Kind.Kind, apiVersion)
	}
	others := make([]string, len(e.Served))
	for i, v := range e.Served {
		others[i] = schema.GroupVersion{Group: e.Kind.Group, Version: v}.String()
	}
	return fmt.Sprintf("apiVersion %s is not served; use %s", apiVersion, strings.Join(others, " or "))
}

// Options say how an object is written.
type Options struct {
	// DropUnknown is for writes other than server-side apply: they drop unknown fields.
	DropUnknown bool
}

// Check returns why the server would refuse an object that it does not have yet, or nil.
func (s *Server) Check(ctx context.Context, o *unstructured.Unstructured, options Options) error {
	gvk := o.GroupVersionKind()
	k, served := s.kinds[gvk]
	if !served {
		return &UnservedError{Kind: gvk, Served: s.Versions(gvk.GroupKind())}
	}
	if k.namespaced() && o.GetNamespace() == "" {
		return errors.New("metadata.namespace: required")
	}
	o, err := decoded(o)
	if err != nil {
		return err
	}
	if o.GetName() == "" && o.GetGenerateName() != "" {
		o.SetName(o.GetGenerateName() + "xxxxx")
	}
	unstructured.RemoveNestedField(o.Object, "status")
	if !options.DropUnknown {
		if err := k.fields(o); err != nil {
			return shown(o, err)
		}
	}
	return shown(o, k.create(ctx, o))
}

// decoded is an object as the server reads it, with numbers as they are in JSON.
func decoded(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	data, err := o.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	out := &unstructured.Unstructured{}
	if err := out.UnmarshalJSON(data); err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	return out, nil
}
