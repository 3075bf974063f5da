package helm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// What Helm sets on every object of a release.
const (
	managedByLabel      = "app.kubernetes.io/managed-by"
	nameAnnotation      = "meta.helm.sh/release-name"
	namespaceAnnotation = "meta.helm.sh/release-namespace"
)

// Hook is an object that is created at certain moments of a release, and is no part of it.
type Hook struct {
	Object *unstructured.Unstructured
	// Events are when it runs: pre-install, post-upgrade, test, ...
	Events []string
	Weight int
	// Phase, Started and Completed are of its last run; they are empty when it has not run.
	Phase              string
	Started, Completed time.Time
}

// Rendered is what a chart became.
type Rendered struct {
	// Objects are in the order in which Helm applies them.
	Objects []*unstructured.Unstructured
	Hooks   []Hook
	// CRDs are those of the chart's directory crds, if requested.
	CRDs []*unstructured.Unstructured
	// Notes are the text for the person who installs.
	Notes string
}

// Manifest returns the objects of a revision as they were applied: with what Helm sets on them, and in
// their namespaces. Version zero is the last one. ErrNotFound reports that there is no such revision.
func (c *Client) Manifest(ctx context.Context, name string, version int) (*Rendered, error) {
	releases, err := c.releases(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, r := range releases {
		if version == 0 || r.Version == version {
			return c.rendered(r)
		}
	}
	return nil, fmt.Errorf("reading revision %d of release %s/%s: %w", version, c.namespace, name, ErrNotFound)
}

func (c *Client) rendered(r *releasev1.Release) (*Rendered, error) {
	out, err := rendered(r)
	if err != nil {
		return nil, fmt.Errorf("reading revision %d of release %s/%s: %w", r.Version, c.namespace, r.Name, err)
	}
	out.adopt(r.Name, r.Namespace, c.clusterWide)
	return out, nil
}

// adopt gives objects what Helm sets when it applies them: its marks, and the namespace of the release
// when they name none and their kind has them.
func (r *Rendered) adopt(name, namespace string, clusterWide func(schema.GroupVersionKind) bool) {
	place := func(o *unstructured.Unstructured) {
		if o.GetNamespace() == "" && !clusterWide(o.GroupVersionKind()) {
			o.SetNamespace(namespace)
		}
	}
	for _, o := range r.Objects {
		o.SetLabels(merged(o.GetLabels(), map[string]string{managedByLabel: "Helm"}))
		o.SetAnnotations(merged(o.GetAnnotations(), map[string]string{nameAnnotation: name, namespaceAnnotation: namespace}))
		place(o)
	}
	for _, h := range r.Hooks {
		place(h.Object)
	}
}

// clusterWide reports whether a kind has no namespaces. Of a kind that is not served nothing is known; it
// is taken to have them.
func (c *Client) clusterWide(gvk schema.GroupVersionKind) bool {
	mapping, err := c.connection.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	return err == nil && mapping.Scope.Name() == meta.RESTScopeNameRoot
}

// rendered reads what Helm keeps as text.
func rendered(r *releasev1.Release) (*Rendered, error) {
	objects, err := parse(r.Manifest)
	if err != nil {
		return nil, err
	}
	out := &Rendered{Objects: objects}
	if r.Info != nil {
		out.Notes = r.Info.Notes
	}
	for _, h := range r.Hooks {
		objects, err := parse(h.Manifest)
		if err != nil {
			return nil, fmt.Errorf("hook %s: %w", h.Path, err)
		}
		for _, o := range objects {
			hook := Hook{Object: o, Weight: h.Weight, Phase: string(h.LastRun.Phase), Started: h.LastRun.StartedAt, Completed: h.LastRun.CompletedAt}
			for _, e := range h.Events {
				hook.Events = append(hook.Events, string(e))
			}
			out.Hooks = append(out.Hooks, hook)
		}
	}
	return out, nil
}

// parse reads objects in YAML; the items of lists come one by one.
func parse(manifests string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(manifests)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading a manifest: %w", err)
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &o.Object); err != nil {
			return nil, fmt.Errorf("reading a manifest: %w", err)
		}
		switch {
		case len(o.Object) == 0:
		case o.IsList():
			err = o.EachListItem(func(item runtime.Object) error {
				out = append(out, item.(*unstructured.Unstructured))
				return nil
			})
			if err != nil {
				return nil, fmt.Errorf("reading a list: %w", err)
			}
		default:
			out = append(out, o)
		}
	}
}
