// Package virtual is the dialect of VirtualClusters: each is a control plane of its own beside the embedded one, whose credentials are
// written as Secrets, and which has copies of the Secrets of the host that it maps.
//
// What a virtual cluster is given is decided by the pure room plan. This room refuses to know how a control plane is started, to write a
// Secret that it did not make unless that is a registration of the very cluster, to copy Secrets of another namespace than that of the
// VirtualCluster which the unit that declares it does not permit, and to register a cluster under a name that another one has.
package virtual

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/cluster/v1alpha1"
	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/planes"
)

// Backing starts control planes, and keeps their state. *planes.Pool is one.
type Backing interface {
	// Acquire returns a control plane that runs until release is called.
	Acquire(ctx context.Context, name, user string) (plane *planes.Plane, release func(), err error)
	// Delete deletes the state of one that no one uses.
	Delete(ctx context.Context, name string) error
}

// Options say how VirtualClusters are served.
type Options struct {
	// Backing has their control planes. Without one, as on a real cluster, the kind is neither defined nor served.
	Backing Backing
	// ArgoNamespace is that of the installation of Argo CD, "argocd" by default.
	ArgoNamespace string
}

// defaultArgoNamespace is the namespace of an installation of Argo CD that is not said otherwise.
const defaultArgoNamespace = "argocd"

// Dialect is the one of VirtualClusters.
type Dialect struct {
	// Options can be set until Serve.
	Options
}

// New returns the dialect.
func New(o Options) *Dialect { return &Dialect{o} }

// Name is the word for the group.
func (*Dialect) Name() string { return "virtual" }

// Groups is the one of VirtualClusters, which no upstream serves.
func (*Dialect) Groups() []dialect.Group {
	return []dialect.Group{{Name: v1alpha1.GroupVersion.Group}}
}

// clusterKind is the kind of VirtualClusters.
func clusterKind() dialect.Kind {
	return dialect.Kind{
		GroupKind: schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: v1alpha1.VirtualClusterKind},
		Version:   v1alpha1.GroupVersion.Version, Resource: "virtualclusters", Aliases: []string{"virtualcluster", "virtualclusters"}, Namespace: "default",
	}
}

// Kinds are those that commands know.
func (*Dialect) Kinds() []dialect.Kind { return []dialect.Kind{clusterKind()} }

// Definitions is that of VirtualClusters, where they can be served.
func (d *Dialect) Definitions(serve dialect.Groups) ([]*unstructured.Unstructured, []string, error) {
	if d.Backing == nil || !serve.Serves(v1alpha1.GroupVersion.Group) {
		return nil, nil, nil
	}
	all, err := deploy.ClusterCRDs()
	return all, nil, err
}

// Serve puts together what serves VirtualClusters.
func (d *Dialect) Serve(_ context.Context, host *dialect.Host) (dialect.Part, error) {
	o := d.Options
	if o.ArgoNamespace == "" {
		o.ArgoNamespace = defaultArgoNamespace
	}
	return newPart(host, o)
}

// Columns are those between the name of a VirtualCluster and whether it is ready.
func (*Dialect) Columns(schema.GroupKind) (titles []string, whole bool) {
	return []string{"CLUSTER", "SERVER"}, false
}

// Row are the values of the columns: the name by which Argo CD knows it, and its address.
func (*Dialect) Row(u *unstructured.Unstructured) []string {
	return []string{dialect.Text(u, "status", "cluster"), dialect.Text(u, "status", "server")}
}

var (
	_ dialect.Dialect = (*Dialect)(nil)
	_ dialect.Tabular = (*Dialect)(nil)
	_ Backing         = (*planes.Pool)(nil)
)
