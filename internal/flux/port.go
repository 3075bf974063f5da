package flux

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/images"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/sets"
	"github.com/headgate-dev/headgate/internal/flux/standins"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/flux/walk"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// Options are what a person says of how the API of Flux is served.
type Options struct {
	// Policy is what holds for every Kustomization.
	Policy policies.Policy
	// InsecureKubeconfigTLS permits kubeconfigs that leave the certificate of their server unchecked.
	InsecureKubeconfigTLS bool
	// Simulation, when set, has stand-ins made; the cluster must be an embedded one.
	Simulation *standins.Simulation
}

// Dialect is the one of Flux and of its operator.
type Dialect struct {
	Options
	walk.RootFinder
}

// New returns the dialect; Options may be changed until it is served.
func New(o Options) *Dialect { return &Dialect{Options: o} }

// Jobs are what Flux has done in the sandbox.
func Jobs() []sandbox.Job { return append(sets.Jobs(), images.Jobs()...) }

// Name is the word for all groups.
func (*Dialect) Name() string { return "flux" }

// Groups are those of Flux and of its operator.
func (*Dialect) Groups() []dialect.Group { return toolkit.Groups() }

// Kinds are those that commands know.
func (*Dialect) Kinds() []dialect.Kind { return toolkit.Kinds() }

// Definitions are those of the served groups. Nothing needs a namespace beside that of Headgate.
func (*Dialect) Definitions(serve dialect.Groups) ([]*unstructured.Unstructured, []string, error) {
	all, err := deploy.CRDs()
	if err != nil {
		return nil, nil, err
	}
	return slices.DeleteFunc(all, func(crd *unstructured.Unstructured) bool {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		return !serve.Serves(group)
	}), nil, nil
}

// Upstream is how the controllers of Flux are known.
func (*Dialect) Upstream() dialect.Upstream {
	return dialect.Upstream{Name: "flux", Title: "Flux", PartOf: "flux", Kinds: []string{"Deployment"}, Migrates: true, LeaseNamespace: toolkit.Namespace}
}

// Names mark the objects of Kustomizations.
func (*Dialect) Names() apply.Names { return toolkit.ApplyNames() }

// Serve puts an Engine together.
func (d *Dialect) Serve(ctx context.Context, host *dialect.Host) (dialect.Part, error) {
	return newEngine(ctx, d.Options, host)
}

// Walk renders a repository as the engine would, without a cluster.
func (d *Dialect) Walk(ctx context.Context, r *dialect.Repository) (dialect.Walk, error) {
	return walk.New(ctx, r, d.Policy), nil
}

var (
	_ dialect.Dialect    = (*Dialect)(nil)
	_ dialect.Upstreamed = (*Dialect)(nil)
	_ dialect.Marking    = (*Dialect)(nil)
	_ dialect.Offline    = (*Dialect)(nil)
	_ dialect.Layouts    = (*Dialect)(nil)
	_ dialect.Part       = (*Engine)(nil)
)
