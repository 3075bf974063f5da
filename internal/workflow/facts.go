package workflow

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/lint"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// mistakeError is a mistake in an object that a Workflow names.
type mistakeError struct{ error }

func (e *mistakeError) Unwrap() error { return e.error }

// facts are what is known without a question: how the executions stand, and which claims there are.
func (p *part) facts(ctx context.Context, wf *v1alpha1.Workflow, now time.Time) (plan.Facts, error) {
	facts := plan.Facts{
		Now: now, Templates: map[plan.Source]*v1alpha1.WorkflowSpec{}, Configs: text.ConfigValues{}, Defaults: p.defaults,
	}
	var err error
	if facts.Leaves, err = p.executor.Leaves(ctx, execute.Of(wf)); err != nil {
		return facts, fmt.Errorf("reading how the executions stand: %w", err)
	}
	if facts.Claims, err = p.claims(ctx, wf); err != nil {
		return facts, err
	}
	return facts, nil
}

// claims are the claims of a Workflow that exist. One of the same name that another object owns is not its.
func (p *part) claims(ctx context.Context, wf *v1alpha1.Workflow) (map[string]bool, error) {
	exist := map[string]bool{}
	for _, name := range claimNames(wf, p.defaults) {
		claim, err := p.kube.CoreV1().PersistentVolumeClaims(wf.Namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, fmt.Errorf("reading the claim %q: %w", name, err)
		case metav1.IsControlledBy(claim, wf):
			exist[name] = true
		}
	}
	return exist, nil
}

// claimNames are the names that claims of a Workflow have. Its status does not count: its author may write anything there, and each name is read.
func claimNames(wf *v1alpha1.Workflow, defaults *v1alpha1.WorkflowSpec) []string {
	specs := []*v1alpha1.WorkflowSpec{&wf.Spec}
	if wf.Status.StoredWorkflowSpec != nil {
		specs[0] = wf.Status.StoredWorkflowSpec
	}
	if defaults != nil {
		specs = append(specs, defaults)
	}
	var names []string
	for _, spec := range specs {
		for i := range spec.VolumeClaimTemplates {
			if name := wf.Name + "-" + spec.VolumeClaimTemplates[i].Name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// provide reads what a decision needs to know; false if it was all known.
func (p *part) provide(ctx context.Context, namespace string, d plan.Decision, facts *plan.Facts) (bool, error) {
	more := false
	for _, source := range d.Templates {
		if _, known := facts.Templates[source]; known {
			continue
		}
		spec, err := p.template(ctx, namespace, source)
		if err != nil {
			return false, err
		}
		facts.Templates[source], more = spec, true
	}
	for _, key := range d.Configs {
		if _, known := facts.Configs[key]; known {
			continue
		}
		value, err := p.config(ctx, namespace, key)
		if err != nil {
			return false, err
		}
		facts.Configs[key], more = value, true
	}
	return more, nil
}

// template is the spec of another object; nil if there is none. One that was not seen yet may have been created a moment ago.
func (p *part) template(ctx context.Context, namespace string, source plan.Source) (*v1alpha1.WorkflowSpec, error) {
	if source.Cluster {
		if known, is := p.clusterly.Get(idOf(v1alpha1.ClusterWorkflowTemplateKind, types.NamespacedName{Name: source.Name})); is {
			return &known.Spec, nil
		}
	} else if known, is := p.templates.Get(idOf(v1alpha1.WorkflowTemplateKind, types.NamespacedName{Namespace: namespace, Name: source.Name})); is {
		return &known.Spec, nil
	}
	resource, where := "workflowtemplates", namespace
	if source.Cluster {
		resource, where = "clusterworkflowtemplates", ""
	}
	u, err := p.client.Resource(v1alpha1.GroupVersion.WithResource(resource)).Namespace(where).Get(ctx, source.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %q: %w", resource, source.Name, err)
	}
	read, err := declared.Read[v1alpha1.WorkflowTemplate](u)
	if err != nil {
		return nil, &mistakeError{err}
	}
	return &read.Spec, nil
}

// The label by which a ConfigMap says that workflows may read parameters from it.
const (
	labelConfig     = "workflows.argoproj.io/configmap-type"
	parameterConfig = "Parameter"
)

// config is a value of a ConfigMap; nil if there is none, or if the ConfigMap does not have the label.
func (p *part) config(ctx context.Context, namespace string, key text.ConfigKey) (*string, error) {
	config, err := p.kube.CoreV1().ConfigMaps(namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading ConfigMap %q: %w", key.Name, err)
	}
	value, has := config.Data[key.Key]
	if !has || config.Labels[labelConfig] != parameterConfig {
		return nil, nil
	}
	return &value, nil
}

// library are the templates that objects of a namespace may name.
func (p *part) library(namespace string) lint.Library {
	library := lint.Library{Specs: map[plan.Source]*v1alpha1.WorkflowSpec{}, Defaults: p.defaults}
	for _, t := range p.templates.All() {
		if t.Namespace == namespace {
			library.Specs[plan.Source{Name: t.Name}] = &t.Spec
		}
	}
	for _, t := range p.clusterly.All() {
		library.Specs[plan.Source{Name: t.Name, Cluster: true}] = &t.Spec
	}
	return library
}
