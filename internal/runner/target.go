package runner

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Connection is how the cluster of a unit is reached.
type Connection struct {
	// Config is that of an account that may impersonate the user of the target; it does not do so itself.
	Config *rest.Config
	// Digest changes whenever Config does.
	Digest string
	// Cluster is the one that Config reaches, by its name in targets.
	Cluster string
}

// target is a connection to a cluster, used as an account.
type target struct {
	cluster *cluster.Cluster
	applier *apply.Applier
	// config is how the cluster is reached, as whom the target is used.
	config *rest.Config
	digest string
	stop   context.CancelFunc
	// ended has something done when the connection is no longer used.
	ended func(func())
}

// after returns how to have something done when ctx ends.
func after(ctx context.Context) func(func()) {
	return func(do func()) { context.AfterFunc(ctx, do) }
}

// targets are the connections that units use. Those to the engine's own cluster are made without a
// question to it, the others by workers. It is safe for concurrent use.
type targets struct {
	mu   sync.RWMutex
	held map[engine.Target]*target
	// dialling holds a lock for each cluster: one that does not answer does not block another.
	dialling map[string]*sync.Mutex
}

// dial locks the connections to a cluster while they are made.
func (t *targets) dial(name string) *sync.Mutex {
	t.mu.Lock()
	one := t.dialling[name]
	if one == nil {
		one = &sync.Mutex{}
		t.dialling[name] = one
	}
	t.mu.Unlock()
	one.Lock()
	return one
}

func (t *targets) get(key engine.Target) *target {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.held[key]
}

func (t *targets) put(key engine.Target, made *target) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.held[key]; old != nil {
		old.stop()
	}
	t.held[key] = made
}

// keep ends every connection that is not among the keys; that of the engine itself stays.
func (t *targets) keep(keys map[engine.Target]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, old := range t.held {
		if !keys[key] && key != (engine.Target{}) {
			old.stop()
			delete(t.held, key)
		}
	}
}

// all returns the connections to one cluster.
func (t *targets) all(name string) []*target {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var found []*target
	for key, one := range t.held {
		if key.Cluster == name {
			found = append(found, one)
		}
	}
	return found
}

// Bind gives the runner the cluster that it works on, with how it is reached; it is called once,
// before Run.
//
// Names are how the objects of units are marked whose target names no owner.
func (r *Runner) Bind(c *cluster.Cluster, config *rest.Config, names apply.Names) {
	r.config, r.names[""] = config, names
	r.home = &target{cluster: c, applier: apply.New(c, names), config: config, stop: func() {}, ended: func(func()) {}}
	r.targets.put(engine.Target{}, r.home)
}

// at is the connection that a unit uses, nil while there is none.
func (r *Runner) at(u *unit) *target { return r.targets.get(u.Target) }

// eyes are the connection through which a unit sees the engine's own cluster.
func (r *Runner) eyes(u *unit) *target {
	if t := r.own(engine.Target{User: u.Target.User}); t != nil {
		return t
	}
	return r.home
}

// own returns a connection to the engine's own cluster. It asks the cluster nothing.
func (r *Runner) own(key engine.Target) *target {
	if t := r.targets.get(key); t != nil {
		return t
	}
	t, err := r.impersonate(r.ctx, r.home, r.config, key)
	if err != nil {
		r.cfg.Log.Error(err, "an account is unusable", "user", key.User)
		return nil
	}
	r.targets.put(key, t)
	return t
}

func (r *Runner) impersonate(ctx context.Context, base *target, config *rest.Config, key engine.Target) (*target, error) {
	config = rest.CopyConfig(config)
	if key.User != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: key.User}
	}
	names := r.names[key.Owner]
	ctx, stop := context.WithCancel(ctx)
	seen, err := base.cluster.As(ctx, config, names.Ownership(), ear{r, key.Cluster})
	if err != nil {
		stop()
		return nil, fmt.Errorf("acting as %q: %w", key.User, err)
	}
	return &target{
		cluster: seen, applier: apply.New(seen, names), config: config, digest: base.digest, stop: stop, ended: after(ctx),
	}, nil
}

// reach returns the connection that a target needs, and makes it if there is none or if it has to be
// another one. It runs in workers.
func (r *Runner) reach(ctx context.Context, id engine.UnitID, key engine.Target) (*target, error) {
	if key.Cluster == "" {
		if t := r.targets.get(key); t != nil {
			return t, nil
		}
		return nil, fmt.Errorf("acting as %q: no connection", key.User)
	}
	connection, err := r.dialects.Connect(ctx, id)
	if err != nil {
		return nil, &unreachable{err}
	}
	connection.Config = rest.CopyConfig(connection.Config)
	connection.Config.Proxy, connection.Config.Dial = r.cfg.Egress.ToCluster(connection.Config.Proxy)
	if connection.Cluster != key.Cluster {
		// What was decided for the one is not written to the other.
		return nil, &unreachable{fmt.Errorf("reaching the cluster of %s: it is another one by now", id)}
	}
	defer r.targets.dial(key.Cluster).Unlock()
	base := r.targets.get(engine.Target{Cluster: key.Cluster})
	if base == nil || base.digest != connection.Digest {
		if base, err = r.dial(connection, key.Cluster); err != nil {
			return nil, &unreachable{err}
		}
		r.targets.put(engine.Target{Cluster: key.Cluster}, base)
	}
	t := r.targets.get(key)
	if t == nil || t.digest != connection.Digest {
		if t, err = r.impersonate(r.ctx, base, connection.Config, key); err != nil {
			return nil, &unreachable{err}
		}
		r.targets.put(key, t)
	}
	return t, nil
}

// dial connects to another cluster as the account of its configuration.
func (r *Runner) dial(connection Connection, name string) (*target, error) {
	config := connection.Config
	c, err := cluster.Connect(config, name, r.home.cluster.Objects.Ownership(), ear{r, name}, r.cfg.Guard)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(r.ctx)
	if err := c.Start(ctx); err != nil {
		stop()
		return nil, fmt.Errorf("reaching the cluster %s: %w", config.Host, err)
	}
	if r.cfg.Connected != nil {
		r.cfg.Connected(c)
	}
	return &target{
		cluster: c, applier: apply.New(c, r.names[""]), config: config, digest: connection.Digest, stop: stop, ended: after(ctx),
	}, nil
}

// unreachable reports whether the cluster of a unit cannot be used.
type unreachable struct{ err error }

func (e *unreachable) Error() string { return e.err.Error() }
func (e *unreachable) Unwrap() error { return e.err }

// attach lets a unit watch its objects through its current connection.
func (r *Runner) attach(u *unit) {
	t := r.at(u)
	if t == nil && u.Target.Cluster == "" {
		t = r.own(u.Target)
	}
	if t == nil {
		return
	}
	for _, e := range u.Health.Exprs {
		t.cluster.Objects.KeepFull(schema.GroupKind{Group: e.Group, Kind: e.Kind})
	}
	if t == u.attached {
		return
	}
	u.attached = t
	if r.cfg.Sharded {
		for gk := range r.unitKinds {
			r.home.cluster.Objects.KeepFull(gk)
		}
	}
	r.refollow(u)
	r.rescope(u)
}

// retire ends the connections that no unit uses any more.
func (r *Runner) retire() {
	used := map[engine.Target]bool{}
	for _, u := range r.units {
		for _, user := range []string{"", u.Target.User} {
			used[engine.Target{Cluster: u.Target.Cluster, User: user}] = true
			used[engine.Target{User: user}] = true
		}
		used[u.Target] = true
	}
	r.targets.keep(used)
}

// record is what is known of an object of the unit's target.
func (r *Runner) record(u *unit, id engine.ObjectID) (cluster.Record, bool) {
	t := r.at(u)
	if t == nil {
		return cluster.Record{}, false
	}
	return t.cluster.Objects.Get(id)
}

// ear hears of changes in another cluster than the engine's own, or with another account.
type ear struct {
	runner  *Runner
	cluster string
}

// ObjectChanged reports whether an object changed, came or went.
func (e ear) ObjectChanged(id engine.ObjectID) { e.runner.ObjectChanged(id) }

// KindChanged reports whether a kind has become served, or is no longer.
func (e ear) KindChanged(gk schema.GroupKind) {
	e.runner.mail.post(func() { e.runner.kindChanged(kindIn{gk, e.cluster}) })
}

// Reconnected reports whether the cluster answers again.
func (e ear) Reconnected() { e.runner.reconnected(e.cluster) }

// kindIn is a kind of one cluster.
type kindIn struct {
	schema.GroupKind
	cluster string
}

// Renew evaluates all objects again that are marked in a dialect's way, since its rules have changed.
func (r *Runner) Renew(owner string) {
	r.mail.post(func() {
		for _, t := range r.targets.owned(owner) {
			t.cluster.Objects.Renew()
		}
	})
}

// owned returns the connections through which objects are marked in one way.
func (t *targets) owned(owner string) []*target {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var found []*target
	for key, one := range t.held {
		if key.Owner == owner {
			found = append(found, one)
		}
	}
	return found
}
