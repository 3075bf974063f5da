package promote

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/promote/analysis"
	"github.com/headgate-dev/headgate/internal/promote/steps"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// Jobs are what promotions have done in the sandbox.
func Jobs() []sandbox.Job { return append(steps.Jobs(), pathJob{}) }

// pathJob evaluates the JSON path of a metric.
type pathJob struct{}

// Name tells it apart.
func (pathJob) Name() string { return "analysis-path" }

// Run gives the value as JSON.
func (pathJob) Run(input []byte, _ sandbox.Asker) ([]byte, error) {
	var q analysis.Query
	if err := sandbox.Decode(input, &q); err != nil {
		return nil, err
	}
	return analysis.Select(q)
}

// selects has the sandbox evaluate a JSON path for a run.
func (p *part) selects(ctx context.Context, run *unstructured.Unstructured, q analysis.Query) ([]byte, error) {
	input, err := sandbox.Encode(q)
	if err != nil {
		return nil, err
	}
	return p.Sandbox.For(run.GetNamespace(), run.GetKind()+" "+run.GetNamespace()+"/"+run.GetName()).Do(ctx, pathJob{}, input, nil)
}
