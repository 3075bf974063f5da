// Package promote is the dialect of Kargo: it serves Projects, Warehouses, Freight, Stages and Promotions as the upstream does. Freight is made of
// what Warehouses find, goes into Stages by Promotions, one at a time for each Stage, and is synced by Applications of Argo CD.
//
// What follows from objects is decided by the pure room plan; configurations are evaluated by the room expressions, and steps carried out by the room
// steps. This room refuses to touch an Application that has not authorized the Stage, to send credentials in clear unless a person permits it, to
// read a Secret that is not labelled for it, and to serve anything unless it is permitted: by a person, or by a boot of which nothing leaves the process.
package promote

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/promote/commands"
)

// Options say how promotions are served.
type Options struct {
	// Told is set where a person says that promotions are served. Without it the kinds are neither defined nor served.
	Told bool
	// Analyses has the kinds of Argo Rollouts defined by which Freight is verified. Without it, they are there if Argo Rollouts is.
	Analyses bool
	// ClearText permits credentials for addresses that begin with http:// and are not on this machine.
	ClearText bool
}

// Dialect is the one of promotions.
type Dialect struct {
	commands.Verbs
	// Options can be set until Serve.
	Options
}

// New returns the dialect.
func New(o Options) *Dialect { return &Dialect{Options: o} }

// Name is the word for the group.
func (*Dialect) Name() string { return "kargo" }

// Groups are that of Kargo, with the controllers of the upstream. There are none unless a person says so.
func (d *Dialect) Groups() []dialect.Group {
	if !d.Told {
		return nil
	}
	return []dialect.Group{{Name: v1alpha1.GroupVersion.Group, Controllers: []string{"kargo-controller", "kargo-management-controller"}}}
}

func kindOf(name, resource, namespace string, aliases ...string) dialect.Kind {
	return dialect.Kind{
		GroupKind: schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: name}, Version: v1alpha1.GroupVersion.Version, Resource: resource,
		Aliases: append(aliases, resource), Namespace: namespace, ClusterScoped: namespace == "",
	}
}

const anyNamespace = "default"

func projectKind() dialect.Kind {
	k := kindOf(v1alpha1.ProjectKind, "projects", "")
	// Projects are those of Argo CD.
	k.Aliases = []string{"kargoproject", "kargoprojects"}
	return k
}

func configKind() dialect.Kind {
	return kindOf(v1alpha1.ProjectConfigKind, "projectconfigs", anyNamespace, "projectconfig")
}

func warehouseKind() dialect.Kind {
	return kindOf(v1alpha1.WarehouseKind, "warehouses", anyNamespace, "warehouse")
}

func freightKind() dialect.Kind {
	return kindOf(v1alpha1.FreightKind, "freights", anyNamespace, "freight")
}
func stageKind() dialect.Kind { return kindOf(v1alpha1.StageKind, "stages", anyNamespace, "stage") }
func promotionKind() dialect.Kind {
	return kindOf(v1alpha1.PromotionKind, "promotions", anyNamespace, "promotion", "promo")
}

// Kinds are those that commands know.
func (*Dialect) Kinds() []dialect.Kind {
	freight := freightKind()
	freight.Static = true
	return []dialect.Kind{projectKind(), configKind(), warehouseKind(), freight, stageKind(), promotionKind()}
}

// Definitions are those of all kinds, where they are served.
func (d *Dialect) Definitions(serve dialect.Groups) ([]*unstructured.Unstructured, []string, error) {
	if !d.Told || !serve.Serves(v1alpha1.GroupVersion.Group) {
		return nil, nil, nil
	}
	all, err := deploy.KargoCRDs()
	if err == nil && d.Analyses {
		var more []*unstructured.Unstructured
		more, err = deploy.AnalysisCRDs()
		all = append(all, more...)
	}
	return all, nil, err
}

// Upstream is how the controllers of Kargo are known.
func (*Dialect) Upstream() dialect.Upstream {
	return dialect.Upstream{Name: "kargo", Title: "Kargo", PartOf: "kargo", Kinds: []string{"Deployment"}, Renamed: true}
}

// Serve puts together what serves promotions.
func (d *Dialect) Serve(ctx context.Context, host *dialect.Host) (dialect.Part, error) {
	return newPart(ctx, host, d.Options)
}

// Request is the change that requests a search of a Warehouse, or another pass of a Stage or a Promotion.
func (*Dialect) Request(token string, _ dialect.RequestOptions) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.RefreshAnnotation: token}}}
}

// Handled reports whether a request was answered. Kinds that note nothing are answered at once.
func (*Dialect) Handled(u *unstructured.Unstructured, token string) bool {
	if u.GetKind() != v1alpha1.WarehouseKind {
		return true
	}
	return dialect.Answers(dialect.Text(u, "status", "lastHandledRefresh"), token)
}

// Forces reports whether nothing is forced or reset beyond that.
func (*Dialect) Forces(schema.GroupKind) bool { return false }

var (
	_ dialect.Dialect    = (*Dialect)(nil)
	_ dialect.Upstreamed = (*Dialect)(nil)
	_ dialect.Requested  = (*Dialect)(nil)
	_ dialect.Promoting  = (*Dialect)(nil)
)
