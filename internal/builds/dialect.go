// Package builds is the dialect of Builds: it serves objects of our own API, which have a workflow run for each digest of their inputs and
// keep the outputs of the last run that succeeded.
//
// What a Build does next is decided by the pure room plan. This room gathers the facts, writes the status, and then carries out what was
// decided, as the ServiceAccount that the Build names: never as the engine. It refuses to know how a workflow is executed, or how an image is
// registered: it creates a Workflow and an Image, and reads what becomes of them.
package builds

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/builds/plan"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// Dialect is the one of Builds.
type Dialect struct{}

// New returns the dialect.
func New() *Dialect { return &Dialect{} }

// Name is the word for the group.
func (*Dialect) Name() string { return "build" }

// Groups is the one of Builds, which no upstream serves.
func (*Dialect) Groups() []dialect.Group {
	return []dialect.Group{{Name: v1alpha1.GroupVersion.Group}}
}

// buildKind is the kind of Builds.
func buildKind() dialect.Kind {
	return dialect.Kind{
		GroupKind: schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: v1alpha1.BuildKind},
		Version:   v1alpha1.GroupVersion.Version, Resource: "builds", Aliases: []string{"build", "builds"}, Namespace: "default",
	}
}

// Kinds are those that commands know.
func (*Dialect) Kinds() []dialect.Kind { return []dialect.Kind{buildKind()} }

// Definitions is that of Builds.
func (*Dialect) Definitions(serve dialect.Groups) ([]*unstructured.Unstructured, []string, error) {
	if !serve.Serves(v1alpha1.GroupVersion.Group) {
		return nil, nil, nil
	}
	all, err := deploy.BuildCRDs()
	return all, nil, err
}

// Serve puts together what serves Builds.
func (*Dialect) Serve(_ context.Context, host *dialect.Host) (dialect.Part, error) {
	return newPart(host)
}

// Columns are those between the name of a Build and whether it is ready.
func (*Dialect) Columns(schema.GroupKind) (titles []string, whole bool) {
	return []string{"RUN", "IMAGE", "SUSPENDED"}, false
}

// Row are the values of the columns: the run that is active, or that of the outputs.
func (*Dialect) Row(u *unstructured.Unstructured) []string {
	run := dialect.Text(u, "status", "active", "run")
	if run == "" {
		run = dialect.Text(u, "status", "lastSuccess", "run")
	}
	held := "False"
	if suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend"); suspended {
		held = "True"
	}
	return []string{run, dialect.Text(u, "status", "lastSuccess", "image", "id"), held}
}

// State is how a Build stands; it is on its way while its outputs are not those of its inputs.
func (*Dialect) State(u *unstructured.Unstructured) dialect.State {
	s := dialect.Conventional(u)
	moving, _, _, _ := dialect.Condition(u, v1alpha1.ConditionReconciling)
	s.Moving = moving == "True"
	s.Revision = plan.Short(dialect.Text(u, "status", "lastSuccess", "digest"))
	return s
}

// Switch suspends by the field.
func (*Dialect) Switch(_ schema.GroupKind, suspend bool) map[string]any {
	return map[string]any{"spec": map[string]any{"suspend": suspend}}
}

// Request requests a pass, which attempts again what has failed too often.
func (*Dialect) Request(token string, _ dialect.RequestOptions) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{plan.RequestedAt: token}}}
}

// Handled reports whether the status names a request, and no run is active.
func (*Dialect) Handled(u *unstructured.Unstructured, token string) bool {
	building, _, _, _ := dialect.Condition(u, v1alpha1.ConditionBuilding)
	return dialect.Answers(dialect.Text(u, "status", "lastHandledReconcileAt"), token) && building != "True"
}

// Forces reports whether no Build is forced: to delete an output is how a rebuild is requested.
func (*Dialect) Forces(schema.GroupKind) bool { return false }

var (
	_ dialect.Dialect   = (*Dialect)(nil)
	_ dialect.Stating   = (*Dialect)(nil)
	_ dialect.Tabular   = (*Dialect)(nil)
	_ dialect.Switching = (*Dialect)(nil)
	_ dialect.Requested = (*Dialect)(nil)
)
