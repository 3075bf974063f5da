// Package provision is the dialect of managed resources: it serves the kinds of a few providers of Crossplane, of each of them what
// is named by its package.
//
// The contract of managed resources is carried out by managed, what they stand for is reached by the providers below. Managed
// resources are no units of delivery: nothing here applies what a repository declares. Compositions, packages and functions of
// Crossplane are not served.
package provision

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean"
	"github.com/headgate-dev/headgate/internal/provision/managed"
	"github.com/headgate-dev/headgate/internal/provision/objects"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Options are what a person says of how managed resources are served.
type Options struct {
	managed.Options
	// DigitalOcean are those of the provider of DigitalOcean, which are read when it is served; nil for the real API.
	DigitalOcean *digitalocean.Options
}

// Dialect is the one of managed resources.
type Dialect struct {
	Options
	providers []managed.Provider
	tenancy   dialect.Tenancy
}

// New returns the dialect; Options may be changed until it is served.
func New(o Options) *Dialect {
	if o.DigitalOcean == nil {
		o.DigitalOcean = &digitalocean.Options{}
	}
	d := &Dialect{Options: o}
	d.providers = []managed.Provider{
		objects.New(),
		digitalocean.New(o.DigitalOcean),
	}
	return d
}

// Name is the word for the groups of all providers.
func (*Dialect) Name() string { return "crossplane" }

// Groups are those of the providers.
func (d *Dialect) Groups() []dialect.Group {
	var all []dialect.Group
	for _, p := range d.providers {
		all = append(all, p.Groups()...)
	}
	return all
}

// Kinds are the managed resources, and behind them the configurations of the providers.
func (d *Dialect) Kinds() []dialect.Kind {
	var all, configurations []dialect.Kind
	for _, p := range d.providers {
		for _, k := range p.Kinds() {
			all = append(all, k.Kind)
			for _, c := range k.Configurations {
				if !slices.ContainsFunc(configurations, func(one dialect.Kind) bool { return one.GroupKind == c.GroupKind }) {
					configurations = append(configurations, c.Kind)
				}
			}
		}
	}
	return append(all, configurations...)
}

// Definitions are those of the served groups.
func (d *Dialect) Definitions(serve dialect.Groups) ([]*unstructured.Unstructured, []string, error) {
	var served []*unstructured.Unstructured
	for _, p := range d.providers {
		all, err := p.Definitions()
		if err != nil {
			return nil, nil, err
		}
		for _, one := range all {
			if group, _, _ := unstructured.NestedString(one.Object, "spec", "group"); serve.Serves(group) {
				served = append(served, one)
			}
		}
	}
	return served, nil, nil
}

// Upstream is how the controllers of Crossplane's providers are known: by the label of their pods, since Crossplane names their
// Deployments by a digest.
func (*Dialect) Upstream() dialect.Upstream {
	return dialect.Upstream{
		Name: "crossplane", Title: "Crossplane", PartOf: "crossplane", Kinds: []string{"Deployment"}, PodLabel: "pkg.crossplane.io/provider",
	}
}

// LockTenants says how a person has locked namespaces down.
func (d *Dialect) LockTenants(tenancy dialect.Tenancy) { d.tenancy = tenancy }

// Serve puts together what serves managed resources.
func (d *Dialect) Serve(ctx context.Context, host *dialect.Host) (dialect.Part, error) {
	host.Tenants.Ask(d.Name(), d.tenancy)
	r, err := managed.New(ctx, host, d.Options.Options, d.providers...)
	if err != nil {
		return nil, err
	}
	return &part{r}, nil
}

// part is the dialect as it is served in one cluster.
type part struct{ *managed.Reconciler }

// Joins brings nothing to the runner: managed resources are no units of delivery.
func (*part) Joins() runner.Part { return runner.Part{} }

// Nudge has nothing to fetch.
func (*part) Nudge(func(url string) bool) {}

// State is how a managed resource stands: what is not synced is not ready, whatever was observed before.
func (*Dialect) State(u *unstructured.Unstructured) dialect.State {
	s := dialect.Conventional(u)
	if synced, reason, message, since := dialect.Condition(u, managed.ConditionSynced); synced == "False" {
		s.Suspended = reason == managed.ReasonPaused
		if !s.Suspended {
			s.Ready, s.Reason, s.Message, s.Since, s.Said = "False", reason, message, since, true
		}
	}
	return s
}

// Columns are the titles of tables.
func (d *Dialect) Columns(gk schema.GroupKind) (titles []string, whole bool) {
	if !slices.ContainsFunc(d.resources(), func(k managed.Kind) bool { return k.GroupKind == gk }) {
		return nil, false
	}
	return []string{"SYNCED", "EXTERNAL-NAME"}, false
}

// Row are the values of an object.
func (*Dialect) Row(u *unstructured.Unstructured) []string {
	synced, _, _, _ := dialect.Condition(u, managed.ConditionSynced)
	return []string{synced, u.GetAnnotations()[managed.AnnotationExternalName]}
}

func (d *Dialect) resources() []managed.Kind {
	var all []managed.Kind
	for _, p := range d.providers {
		all = append(all, p.Kinds()...)
	}
	return all
}

var (
	_ dialect.Dialect    = (*Dialect)(nil)
	_ dialect.Upstreamed = (*Dialect)(nil)
	_ dialect.Stating    = (*Dialect)(nil)
	_ dialect.Tabular    = (*Dialect)(nil)
	_ dialect.Switching  = (*Dialect)(nil)
	_ dialect.Requested  = (*Dialect)(nil)
	_ dialect.Tenanted   = (*Dialect)(nil)
)
