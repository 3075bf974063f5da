package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/workflow/lint"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
	"github.com/headgate-dev/headgate/internal/workflow/request"
)

// check is an error that names all that is wrong with a workflow, given the templates of the cluster that it refers to.
func (p *place) check(ctx context.Context, wf *v1alpha1.Workflow) error {
	library := lint.Library{Specs: map[plan.Source]*v1alpha1.WorkflowSpec{}}
	for _, source := range request.References(&wf.Spec) {
		spec, known, err := p.template(ctx, wf.Namespace, source)
		if err != nil {
			return err
		}
		if known {
			library.Specs[source] = spec
		}
	}
	data, err := json.Marshal(wf)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	var problems []string
	for _, finding := range lint.Check(data, library) {
		problems = append(problems, finding.String())
	}
	if len(problems) == 0 {
		return nil
	}
	return console.Hint(errors.New(strings.Join(problems, "\n")), "headgate workflow lint FILE, which names the lines")
}

// template is the spec of a template, nil if it does not exist. It is nil to those that may not read it.
func (p *place) template(ctx context.Context, namespace string, source plan.Source) (spec *v1alpha1.WorkflowSpec, known bool, err error) {
	client := p.client.Resource(resource("workflowtemplates")).Namespace(namespace)
	if source.Cluster {
		client = p.client.Resource(resource("clusterworkflowtemplates"))
	}
	u, err := client.Get(ctx, source.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, true, nil
	case apierrors.IsForbidden(err):
		return nil, false, nil
	case err != nil:
		return nil, false, p.explained(fmt.Errorf("reading template %q: %w", source.Name, err))
	}
	template, err := declared.Read[v1alpha1.WorkflowTemplate](u)
	if err != nil {
		return nil, false, err
	}
	return &template.Spec, true, nil
}
