package helm

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/postrenderer"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// PostRenderStrategy says what of a chart goes through the post-renderer.
type PostRenderStrategy string

// The strategies. The zero value is Combined.
const (
	// Combined sends hooks and other objects together.
	Combined PostRenderStrategy = "combined"
	// Separate sends hooks and other objects one after the other.
	Separate PostRenderStrategy = "separate"
	// NoHooks leaves hooks as they are.
	NoHooks PostRenderStrategy = "nohooks"
)

// PostRender is what happens to rendered objects before they are applied and stored.
type PostRender struct {
	// Steps change the manifests, in their order: each gets and returns objects in YAML. The kustomize
	// patches of a release are such a step, see Renderer.Patch of package render.
	Steps []func(manifests []byte) ([]byte, error)
	// Labels and Annotations are set on every object after the steps, and on CRDs of the chart.
	Labels, Annotations map[string]string
	Strategy            PostRenderStrategy
}

func (p PostRender) strategy() action.PostRenderStrategy {
	if p.Strategy == "" {
		return action.PostRenderStrategyCombined
	}
	return action.PostRenderStrategy(p.Strategy)
}

// renderer is nil when nothing is to be done.
func (p PostRender) renderer() postrenderer.PostRenderer {
	if len(p.Steps) == 0 && len(p.Labels) == 0 && len(p.Annotations) == 0 {
		return nil
	}
	return p
}

// Run is what Helm calls.
func (p PostRender) Run(rendered *bytes.Buffer) (*bytes.Buffer, error) {
	manifests := rendered.Bytes()
	for _, step := range p.Steps {
		// A chart may render nothing, or nothing but hooks.
		if len(bytes.TrimSpace(manifests)) == 0 {
			return bytes.NewBuffer(manifests), nil
		}
		var err error
		if manifests, err = step(manifests); err != nil {
			return nil, err
		}
	}
	if len(p.Labels) == 0 && len(p.Annotations) == 0 {
		return bytes.NewBuffer(manifests), nil
	}
	nodes, err := kio.ParseAll(string(manifests))
	if err != nil {
		return nil, fmt.Errorf("reading rendered objects: %w", err)
	}
	for _, node := range nodes {
		if err := p.mark(node); err != nil {
			return nil, fmt.Errorf("labelling %s %q: %w", node.GetKind(), node.GetName(), err)
		}
	}
	out, err := kio.StringAll(nodes)
	return bytes.NewBufferString(out), err
}

// mark sets labels and annotations on one object, or on those of a list.
func (p PostRender) mark(node *yaml.RNode) error {
	if items := node.Field("items"); items != nil && node.Field("metadata").IsNilOrEmpty() {
		return items.Value.VisitElements(p.mark)
	}
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		if err := node.PipeE(yaml.SetLabel(key, p.Labels[key])); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Annotations)) {
		if err := node.PipeE(yaml.SetAnnotation(key, p.Annotations[key])); err != nil {
			return err
		}
	}
	return nil
}
