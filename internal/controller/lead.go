package controller

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/headgate-dev/headgate/internal/host"
)

// retry is how long a replica waits that could not serve.
const retry = 5 * time.Second

// state is where a replica stands. It is safe for concurrent use.
type state struct {
	mu     sync.Mutex
	engine *host.Engine
	// idle says why the replica is not ready; nil if it serves or is on standby.
	idle error
	// holder is who holds the lease.
	holder string
}

func (s *state) set(idle error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = idle
}

func (s *state) lead(e *host.Engine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine = e
}

func (s *state) follow(holder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holder = holder
}

func (s *state) leader() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holder
}

func (s *state) serving() *host.Engine {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.engine
}

// ready reports whether the replica is of use: it serves, or another one is known to.
func (s *state) ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle
}

// aliveTimeout bounds how long an engine may take to say where its units stand.
const aliveTimeout = 20 * time.Second

// alive reports whether the engine still turns.
func (c *Controller) alive(ctx context.Context) error {
	e := c.state.serving()
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, aliveTimeout)
	defer cancel()
	e.Runner().States(ctx)
	if ctx.Err() != nil {
		return errors.New("the engine does not answer")
	}
	return nil
}

// separator stands in a lease's identity between the name of a replica, its address, and what no other
// process has: replicas that share the network of a node share name and address.
const separator = "_"

// identity distinguishes a replica from all others, and from its predecessors.
func identity(name, address string) string {
	return strings.Join([]string{name, address, string(uuid.NewUUID())}, separator)
}

// addressIn is the address of the replica that has an identity, empty when it has none.
func addressIn(identity string) string {
	parts := strings.Split(identity, separator)
	if len(parts) != 3 || net.ParseIP(parts[1]) == nil {
		return ""
	}
	return parts[1]
}

// peer is the address of the replica that serves, empty if it is unknown.
func (c *Controller) peer() string {
	address := addressIn(c.state.leader())
	if address == c.cfg.Address {
		return ""
	}
	return address
}

// lead serves whenever this replica may, until ctx ends.
func (c *Controller) lead(ctx context.Context) error {
	for ctx.Err() == nil {
		err := c.prepare(ctx)
		if err == nil {
			err = c.contend(ctx)
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		c.refuse(err)
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
	return nil
}

// refuse notes why nothing is served.
func (c *Controller) refuse(err error) {
	if before := c.state.ready(); before == nil || before.Error() != err.Error() {
		c.cfg.Log.Error(err, "the cluster is not served")
	}
	c.state.set(err)
}

// prepare waits until no other controller serves the groups, and installs their definitions.
func (c *Controller) prepare(ctx context.Context) error {
	var err error
	if c.others == nil {
		if c.others, err = host.WatchControllers(ctx, c.cfg.Cluster, c.cfg.Engine.Serve); err != nil {
			return err
		}
	}
	if err := c.others.None(ctx, c.refuse); err != nil {
		return err
	}
	if err := host.RefuseUpstream(ctx, c.cfg.Cluster, c.cfg.Engine.Serve); err != nil {
		return err
	}
	if c.cfg.Install {
		c.cfg.Engine.Installed, err = host.Install(ctx, c.cfg.Cluster, c.cfg.Engine.Serve)
	}
	return err
}

// contend is on standby, and serves while this replica holds the lease, until ctx ends or another controller serves a group.
func (c *Controller) contend(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		if refusal := c.others.Other(ctx); refusal != nil {
			stop(refusal)
		}
	}()
	err := host.Lead(ctx, c.cfg.Cluster, host.LeaseConfig{
		Identity: c.identity, Duration: c.cfg.LeaseDuration, Shard: c.cfg.Engine.Selector,
		Observe: func(holder string) {
			if ctx.Err() == nil {
				c.follow(holder)
			}
		},
	}, func(held context.Context) {
		if err := c.serve(held); err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); err == nil && cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return err
}

// follow records the holder of the lease; empty just after it was released.
func (c *Controller) follow(holder string) {
	c.state.follow(holder)
	if holder == "" || holder == c.identity {
		return
	}
	c.cfg.Log.Info("on standby", "serving", holder)
	c.state.set(nil)
}

// errEnded is why a replica is not ready that has served, and is about to release the lease.
var errEnded = errors.New("this replica stopped serving")

// serve runs one engine until ctx ends.
func (c *Controller) serve(ctx context.Context) error {
	c.cfg.Log.Info("serving", "groups", strings.Join(c.cfg.Engine.Serve.Names(), ","), "shard", c.cfg.Engine.Selector)
	e, err := host.Start(ctx, c.engine())
	if err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	c.state.lead(e)
	c.state.set(nil)
	<-ctx.Done()
	c.state.lead(nil)
	c.state.set(errEnded)
	ended := make(chan struct{})
	go func() {
		e.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(c.cfg.Patience):
		c.cfg.Log.Info("work in progress is left to the next replica")
	}
	return nil
}

func (c *Controller) problem(subject, text string) { c.cfg.Log.Error(nil, text, "of", subject) }
