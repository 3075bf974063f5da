// Package controller runs the engine in a cluster, as one of several replicas.
//
// One replica holds the lease and serves; the others are on standby, forward requests, and take over
// as soon as the first releases it. Nothing is served while another controller serves the same API
// group: it is named, and waited for. It refuses to know what a unit is.
package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/meter"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/server"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/tracing"
)

// Addresses are where a replica listens. Port 0 takes a free one; what is empty is not served.
type Addresses struct {
	// Metrics serves /metrics, Health /healthz and /readyz, Storage the artifacts of sources, Receivers the hooks
	// of Receivers, and Events takes what other controllers have to tell.
	Metrics, Health, Storage, Receivers, Events string
}

// Config is what a replica needs.
type Config struct {
	Cluster *rest.Config
	// Engine is how objects are served; Run sets what comes from this package.
	Engine host.Config
	// Dir keeps the artifacts, and what else may be lost only at a cost.
	Dir string
	// StorageURL is the URL by which others reach the Storage of whichever replica serves, such as that of a
	// Service.
	StorageURL string
	Listen     Addresses
	// Name is that of the pod; Address is the IP address at which other replicas reach it, or nothing.
	Name, Address string
	// LeaseDuration is how long the lease of a replica that was killed holds.
	LeaseDuration time.Duration
	// Patience is how long a replica that ends waits for what it is doing.
	Patience time.Duration
	// Install has the definitions of the served kinds applied before anything is served.
	Install bool
	// Tracer, when set, is notified of passes.
	Tracer *tracing.Tracer
	Log    logr.Logger
}

// Controller is a replica that runs.
type Controller struct {
	cfg     Config
	store   *source.Store
	metrics *meter.Metrics
	others  *host.Controllers
	state   state
	// identity is what the lease says while this replica holds it.
	identity string

	servers []*server.Server
}

// Run runs a replica until ctx ends, and then releases the lease.
func Run(ctx context.Context, cfg Config) error {
	c, err := Start(ctx, cfg)
	if err != nil {
		return err
	}
	err = c.lead(ctx)
	return errors.Join(err, c.stop(ctx))
}

// Start opens the ports of a replica, so that it can be asked how it is doing. Nothing is served yet.
func Start(ctx context.Context, cfg Config) (*Controller, error) {
	c := &Controller{cfg: cfg, identity: identity(cfg.Name, cfg.Address)}
	c.state.set(errors.New("starting"))
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of artifacts: %w", err)
	}
	var err error
	if c.store, err = source.NewStore(filepath.Join(cfg.Dir, "artifacts"), cfg.StorageURL); err != nil {
		return nil, err
	}
	c.metrics = meter.New(ctx, func() meter.Engine {
		if engine := c.state.serving(); engine != nil {
			return engine
		}
		return nil
	})
	return c, c.listen(ctx)
}

// listen opens the ports.
func (c *Controller) listen(ctx context.Context) error {
	to := c.cfg.Listen
	for _, one := range []struct {
		name, addr string
		handler    http.Handler
		start      func(string, http.Handler) (*server.Server, error)
	}{
		{"metrics", to.Metrics, server.Metrics(c.metrics.Handler()), server.Start},
		{"health", to.Health, server.Health(c.alive, c.state.ready), server.Start},
		{"storage", to.Storage, c.shared(to.Storage, func(*host.Engine) http.Handler { return c.store }), server.Start},
		{"events", to.Events, c.shared(to.Events, (*host.Engine).EventHandler), server.Start},
		{"receivers", to.Receivers, c.shared(to.Receivers, (*host.Engine).Hooks), server.StartHooks},
	} {
		if one.addr == "" {
			continue
		}
		started, err := one.start(one.addr, one.handler)
		if err != nil {
			return errors.Join(fmt.Errorf("serving %s: %w", one.name, err), c.stop(ctx))
		}
		c.servers = append(c.servers, started)
		c.cfg.Log.Info("listening", "what", one.name, "address", started.Addr())
	}
	return nil
}

// shared serves from the engine of this replica, or from whichever other one serves.
func (c *Controller) shared(addr string, of func(*host.Engine) http.Handler) http.Handler {
	return standby{peer: c.peer, port: portOf(addr), local: func() http.Handler {
		if e := c.state.serving(); e != nil {
			return of(e)
		}
		return nil
	}}
}

// stopTimeout bounds how long open requests are waited for.
const stopTimeout = 3 * time.Second

func (c *Controller) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	var errs []error
	for _, s := range c.servers {
		errs = append(errs, s.Stop(ctx))
	}
	if c.cfg.Tracer != nil {
		if err := c.cfg.Tracer.Stop(ctx); err != nil {
			c.cfg.Log.Info("traces were dropped", "error", err.Error())
		}
	}
	return errors.Join(errs...)
}

// engine is how this replica serves.
func (c *Controller) engine() host.Config {
	cfg := c.cfg.Engine
	cfg.Cluster, cfg.Store, cfg.Log = c.cfg.Cluster, c.store, c.cfg.Log
	cfg.Metrics, cfg.Dir = c.metrics, c.cfg.Dir
	cfg.Observe, cfg.Problem = c.note, c.problem
	if c.cfg.Tracer != nil {
		cfg.Traced = c.cfg.Tracer.Pass
	}
	return cfg
}

// note logs what a unit did.
func (c *Controller) note(n runner.Note) {
	log := c.cfg.Log.WithValues("kind", n.Unit.Kind, "namespace", n.Unit.Namespace, "name", n.Unit.Name, "phase", string(n.Phase))
	switch {
	case n.Failed:
		log.Error(nil, n.Text)
	case n.Began:
		log.V(1).Info(n.Text)
	default:
		log.Info(n.Text)
	}
}
