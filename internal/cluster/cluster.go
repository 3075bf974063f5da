// Package cluster is the engine's view of one Kubernetes cluster: which kinds it serves, and of
// every object that the engine manages or follows a small record, kept by watches.
//
// The package reads; it never writes an object. It refuses polling: a client that needs a fact registers
// what it wants to know and is notified of changes. If an account may not watch everything,
// less is watched; what it may not watch at all is read on request.
package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
)

// Ownership tells by which label and field manager an engine marks what it manages.
type Ownership struct {
	// Label is set on each managed object; its value is the unit's name. Without one, every object of a watched
	// kind has a record.
	Label string
	// NamespaceLabel is set on each managed object; its value is the unit's namespace.
	NamespaceLabel string
	// Manager is the field manager of server-side apply.
	Manager string
	// Prefix begins the annotations and labels that steer single objects.
	Prefix string
	// Judge says how well objects are, by kstatus when it is nil.
	Judge Judge
}

// Judge says how well an object is, and whose it is. It is called by the goroutines of the watches.
type Judge interface {
	Assess(u *unstructured.Unstructured) engine.ObjectHealth
	// Owner is the unit that an object is marked with, empty if there is none.
	Owner(u *unstructured.Unstructured) types.NamespacedName
	// Unit is the unit that such an owner stands for.
	Unit(owner types.NamespacedName) engine.UnitID
}

// Listener is notified of changes. The calls come from the goroutines of the watches and must not
// block.
type Listener interface {
	// ObjectChanged reports whether the record of an object changed, appeared or went.
	ObjectChanged(id engine.ObjectID)
	// KindChanged reports whether a kind has become served, or is no longer.
	KindChanged(gk schema.GroupKind)
	// Reconnected reports whether the cluster answers again.
	Reconnected()
}

// Cluster is a connection to one cluster.
type Cluster struct {
	// Name tells clusters apart; it is the Cluster of every ObjectID that comes from here.
	Name string
	// Dynamic reads and writes objects of every kind.
	Dynamic dynamic.Interface
	// Kinds knows which kinds are served.
	Kinds *Kinds
	// Objects holds the records of managed and followed objects.
	Objects *Objects

	crds     *watch
	metadata metadata.Interface
	marked   marked
}

// dialTimeout bounds the first questions to the cluster.
const dialTimeout = 30 * time.Second

// Connect makes a connection to the cluster of that name; nothing is watched before Start.
func Connect(config *rest.Config, name string, ownership Ownership, listener Listener, g guard.Guard) (*Cluster, error) {
	config = unlimited(config)
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for %s: %w", config.Host, err)
	}
	disc, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a discovery client for %s: %w", config.Host, err)
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client of metadata for %s: %w", config.Host, err)
	}
	kinds := newKinds(disc, listener)
	objects := newObjects(dyn, kinds, ownership, listener)
	objects.cluster, objects.guard = name, g
	return &Cluster{Name: name, Dynamic: dyn, Kinds: kinds, Objects: objects, metadata: meta}, nil
}

// Guard logs and counts panics of what takes objects of the cluster.
func (c *Cluster) Guard() guard.Guard { return c.Objects.guard }

// unlimited is the configuration without a rate: the engine bounds its own requests in flight.
func unlimited(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = -1, -1
	return config
}

// As is the same cluster as seen by the account of config, from now until ctx ends: what is served is
// already known, objects are read again, by their marks. The account's permission to impersonate is not checked here.
func (c *Cluster) As(ctx context.Context, config *rest.Config, ownership Ownership, listener Listener) (*Cluster, error) {
	config = unlimited(config)
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for %s: %w", config.Host, err)
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client of metadata for %s: %w", config.Host, err)
	}
	objects := newObjects(dyn, c.Kinds, ownership, listener)
	objects.cluster, objects.guard = c.Name, c.Objects.guard
	objects.start(ctx)
	return &Cluster{Name: c.Name, Dynamic: dyn, Kinds: c.Kinds, Objects: objects, metadata: meta}, nil
}

// Start asks the cluster what it serves and keeps that true by watching its CRDs, until ctx ends.
func (c *Cluster) Start(ctx context.Context) error {
	if err := c.Kinds.discover(); err != nil {
		return err
	}
	c.Kinds.askVersion()
	c.Objects.start(ctx)
	c.crds = c.Objects.newWatch(ctx, crdResource, selection{needed: true}, Sink{Put: c.Kinds.put, Dropped: c.Kinds.dropped})
	wait, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if err := c.crds.waitSynced(wait); err != nil {
		logr.FromContextOrDiscard(ctx).Info("custom resource definitions cannot be watched; new kinds are found by discovery",
			"error", err.Error())
	}
	return nil
}
