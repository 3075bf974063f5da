package dialect

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Explain is a Dialect that reads what its objects declare, for commands such as why, tree and graph. Of other dialects they
// know the conventions of the field alone: a Ready condition, spec.suspend, status.inventory, labels that name the owner.
type Explain interface {
	// Declared is the unit that an object declares: its source, and what it depends on.
	Declared(u *unstructured.Unstructured) (engine.Unit, error)
}

// Offline is a Dialect whose units are rendered without a cluster.
type Offline interface {
	// Render gives what an object of the repository declares, and what that would apply.
	Render(ctx context.Context, u *unstructured.Unstructured) OfflineUnit
}

// OfflineUnit is a unit as a repository declares it.
type OfflineUnit struct {
	Unit    engine.Unit
	Objects []*unstructured.Unstructured
	// Elsewhere says, in one line, which source cannot be read without a cluster; it is empty when none is missing.
	Elsewhere string
	// Err is why the unit cannot be rendered.
	Err error
}
