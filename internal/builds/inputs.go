package builds

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	workflow "github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/internal/builds/plan"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// maxLibrary bounds the templates that a workflow refers to.
const maxLibrary = 100

// sourceGroup is that of the sources of Flux.
const sourceGroup = "source.toolkit.fluxcd.io"

func configMapResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

// inputInterests are the objects that inputs are read from.
func (g *gatherer) inputInterests() []interest {
	var all []interest
	for _, parameter := range g.build.Spec.Inputs.Parameters {
		from := parameter.ValueFrom
		switch {
		case from == nil:
		case from.ConfigMapKeyRef != nil:
			all = append(all, interest{configMapResource(), g.build.Namespace, from.ConfigMapKeyRef.Name})
		case from.SecretKeyRef != nil:
			all = append(all, interest{secretResource(), g.build.Namespace, from.SecretKeyRef.Name})
		case from.Source != nil:
			if r, err := g.served(sourceKind(from.Source)); err == nil {
				all = append(all, interest{r, g.build.Namespace, from.Source.Name})
			}
		}
	}
	return all
}

func sourceKind(s *v1alpha1.SourceValue) schema.GroupVersionKind {
	kind := s.Kind
	if kind == "" {
		kind = "GitRepository"
	}
	return schema.GroupVersionKind{Group: sourceGroup, Version: "v1", Kind: kind}
}

// inputs reads the workflow and the parameters, as the account of the Build.
func (g *gatherer) inputs(ctx context.Context, f *plan.Facts) {
	g.workflow(ctx, f)
	for i, parameter := range g.build.Spec.Inputs.Parameters {
		input := plan.Input{Name: parameter.Name}
		switch {
		case parameter.Value != nil:
			input.Value = *parameter.Value
		case parameter.ValueFrom != nil:
			value, err := g.value(ctx, parameter.ValueFrom)
			if err != nil {
				g.lacks(fmt.Errorf("spec.inputs.parameters[%d] (%s): %w", i, parameter.Name, err))
				continue
			}
			if parameter.ValueFrom.SecretKeyRef != nil {
				input.Digest = plan.SecretDigest(map[string][]byte{"": []byte(value)})
			} else {
				input.Value = value
			}
		}
		f.Inputs = append(f.Inputs, input)
	}
}

// lacks records that an input is unknown. What is refused is tried again later, since no watch reports rights; what is missing wakes the Build when
// it comes.
func (g *gatherer) lacks(err error) {
	g.missing = append(g.missing, err.Error())
	if !isMissing(err) {
		g.again = err
	}
}

// missingError is about something that is not there yet, and is watched.
type missingError struct{ text string }

func (e *missingError) Error() string { return e.text }

func missing(format string, args ...any) error { return &missingError{fmt.Sprintf(format, args...)} }

// workflow reads the spec that is run, and those of the templates that it refers to.
func (g *gatherer) workflow(ctx context.Context, f *plan.Facts) {
	f.Library = map[string]map[string]any{}
	ref := g.build.Spec.WorkflowTemplateRef
	var err error
	if ref == nil {
		f.Workflow, err = decoded(g.build.Spec.Workflow.Raw)
	} else {
		f.Workflow, err = g.template(ctx, plan.Reference{Name: ref.Name, Cluster: ref.ClusterScope})
	}
	if err != nil {
		g.lacks(err)
		return
	}
	open := plan.References(f.Workflow)
	for len(open) > 0 && len(f.Library) < maxLibrary {
		next := open[0]
		open = open[1:]
		if _, known := f.Library[next.String()]; known {
			continue
		}
		spec, err := g.template(ctx, next)
		if err != nil {
			g.lacks(err)
			return
		}
		f.Library[next.String()] = spec
		open = append(open, plan.References(spec)...)
	}
}

// template reads the spec of a template.
func (g *gatherer) template(ctx context.Context, ref plan.Reference) (map[string]any, error) {
	kind, namespace := workflow.WorkflowTemplateKind, g.build.Namespace
	if ref.Cluster {
		kind, namespace = workflow.ClusterWorkflowTemplateKind, ""
	}
	resource, err := g.served(workflowKind(kind))
	if err != nil {
		return nil, err
	}
	u, err := g.read(ctx, interest{resource, namespace, ref.Name}, kind)
	if err != nil {
		return nil, err
	}
	spec, _, err := unstructured.NestedMap(u.Object, "spec")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	return spec, nil
}

// read reads an object as the account of the Build, which is woken when the object changes.
func (g *gatherer) read(ctx context.Context, one interest, kind string) (*unstructured.Unstructured, error) {
	if err := g.also(ctx, one); err != nil {
		return nil, err
	}
	u, err := g.as.Resource(one.GroupVersionResource).Namespace(one.namespace).Get(ctx, one.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, missing("%s %s does not exist", kind, strings.TrimPrefix(one.namespace+"/"+one.name, "/"))
	case err != nil:
		return nil, fmt.Errorf("reading %s %s: %w", kind, strings.TrimPrefix(one.namespace+"/"+one.name, "/"), err)
	}
	return u, nil
}

// value reads the value of a parameter.
func (g *gatherer) value(ctx context.Context, from *v1alpha1.ValueFrom) (string, error) {
	switch {
	case from.ConfigMapKeyRef != nil:
		return g.keyed(ctx, configMapResource(), "ConfigMap", from.ConfigMapKeyRef)
	case from.SecretKeyRef != nil:
		text, err := g.keyed(ctx, secretResource(), "Secret", from.SecretKeyRef)
		if err != nil {
			return "", err
		}
		value, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			// The error of the decoder says where, and not what.
			return "", fmt.Errorf("decoding key %q of Secret %s/%s: %w", from.SecretKeyRef.Key, g.build.Namespace, from.SecretKeyRef.Name, err)
		}
		return string(value), nil
	case from.Source != nil:
		return g.source(ctx, from.Source)
	}
	return "", fmt.Errorf("valueFrom names nothing")
}

func (g *gatherer) keyed(ctx context.Context, r schema.GroupVersionResource, kind string, ref *v1alpha1.KeyRef) (string, error) {
	u, err := g.read(ctx, interest{r, g.build.Namespace, ref.Name}, kind)
	if err != nil {
		return "", err
	}
	value, has, _ := unstructured.NestedString(u.Object, "data", ref.Key)
	if !has {
		return "", missing("%s %s/%s has no key %q", kind, g.build.Namespace, ref.Name, ref.Key)
	}
	return value, nil
}

// source reads what a source fetched last.
func (g *gatherer) source(ctx context.Context, s *v1alpha1.SourceValue) (string, error) {
	gvk := sourceKind(s)
	resource, err := g.served(gvk)
	if err != nil {
		return "", err
	}
	u, err := g.read(ctx, interest{resource, g.build.Namespace, s.Name}, gvk.Kind)
	if err != nil {
		return "", err
	}
	field := s.Field
	switch field {
	case "", "commit":
		field = "revision"
	}
	value := dialect.Text(u, "status", "artifact", field)
	if value == "" {
		return "", missing("%s %s/%s has no artifact yet", gvk.Kind, g.build.Namespace, s.Name)
	}
	if s.Field == "commit" {
		value = value[strings.LastIndexAny(value, ":/")+1:]
	}
	return value, nil
}
