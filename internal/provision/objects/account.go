package objects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// account is a cluster as seen by an account.
type account struct {
	*cluster.Cluster
	*managed.Edges
	// engine is set when that is the account of the engine in its own cluster.
	engine bool
	// reader is the user of the home cluster as whom referents are read; empty for the engine.
	reader string
	stop   context.CancelFunc
}

// accounts are those that configurations name, each of them once.
type accounts struct {
	ctx context.Context
	to  managed.Tools

	mu  sync.Mutex
	all map[string]*account
	// of is the account of a configuration, to notice another one.
	of map[string]string
}

// account is the one that the configuration of a resource names.
func (a *accounts) account(ctx context.Context, r *managed.Resource) (*account, error) {
	if _, has, _ := unstructured.NestedMap(r.Configuration.Object, "spec", "identity"); has {
		return nil, managed.Invalid("%s %s: spec.identity is not supported: store a kubeconfig with a token or client certificates", r.Configuration.GetKind(), r.Configuration.GetName())
	}
	user, err := userOf(r, a.to.Tenants.Now())
	if err != nil {
		return nil, err
	}
	c, err := r.Credentials(ctx)
	switch {
	case err != nil:
		return nil, err
	case c.Injected && user != "":
		return a.impersonated(user)
	case c.Injected:
		return &account{Cluster: a.to.Home, Edges: a.to.Edges, engine: true}, nil
	case c.None:
		return nil, managed.Invalid("%s %s: credentials from source \"None\" are for no cluster; use Secret or InjectedIdentity", r.Configuration.GetKind(), r.Configuration.GetName())
	}
	one, err := a.remote(ctx, r, c.Data)
	if err != nil {
		return nil, err
	}
	reads := *one
	reads.reader = user
	return &reads, nil
}

// impersonated is the home cluster as seen by a user.
func (a *accounts) impersonated(user string) (*account, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.all[user]; known != nil {
		return known, nil
	}
	config := rest.CopyConfig(a.to.Config)
	// The API server adds the groups of a ServiceAccount.
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	c, err := a.to.Home.As(a.ctx, config, cluster.Ownership{}, listener{})
	if err != nil {
		return nil, err
	}
	one := &account{Cluster: c, Edges: a.to.Edges.Of(a.ctx, c), reader: user}
	a.all[user] = one
	return one, nil
}

// remote is the cluster of a kubeconfig. When a configuration has another one, what was connected by the previous one ends.
func (a *accounts) remote(ctx context.Context, r *managed.Resource, data []byte) (*account, error) {
	of := r.Configuration.GetKind() + "/" + r.Configuration.GetNamespace() + "/" + r.Configuration.GetName()
	sum := sha256.Sum256(data)
	name := of + "/" + hex.EncodeToString(sum[:])
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.all[name]; known != nil {
		return known, nil
	}
	config, err := kubeconfig(data, a.to.Egress.Fetches)
	if err != nil {
		return nil, managed.Invalid("%s %s: %w", r.Configuration.GetKind(), r.Configuration.GetName(), err)
	}
	c, err := cluster.Connect(config, "", cluster.Ownership{}, listener{}, a.to.Guard)
	if err != nil {
		return nil, err
	}
	live, stop := context.WithCancel(a.ctx)
	if err := c.Start(live); err != nil {
		stop()
		return nil, fmt.Errorf("%s %s: %w", r.Configuration.GetKind(), r.Configuration.GetName(), err)
	}
	if before := a.all[a.of[of]]; before != nil {
		before.stop()
		delete(a.all, a.of[of])
	}
	if a.of == nil {
		a.of = map[string]string{}
	}
	a.of[of] = name
	a.all[name] = &account{Cluster: c, Edges: a.to.Edges.Of(live, c), stop: stop}
	return a.all[name], nil
}

// listener takes no notice: edges have their own watches.
type listener struct{}

// ObjectChanged does nothing.
func (listener) ObjectChanged(engine.ObjectID) {}

// KindChanged does nothing.
func (listener) KindChanged(schema.GroupKind) {}

// Reconnected does nothing.
func (listener) Reconnected() {}
