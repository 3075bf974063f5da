package dialect

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Explain is a Dialect that reads what its objects declare, for commands such as why, tree and graph. Of other dialects they
// know the conventions of the field alone: a Ready condition, spec.suspend, status.inventory, labels that name the owner.
type Explain interface {
	// Declared is the unit that an object declares: its source, and what it depends on.
	Declared(u *unstructured.Unstructured) (engine.Unit, error)
}

// Charted is a Dialect whose units may be releases of charts.
type Charted interface {
	// ChartOf is where the chart of an object comes from; zero for any that has none.
	ChartOf(u *unstructured.Unstructured) Origin
}
