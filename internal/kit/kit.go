// Package kit puts the real parts together for tests: a control plane, a Git server, an engine, in
// one process and shared by the tests of one binary.
package kit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/source"
)

// User and Token let a test push and fetch.
const (
	User  = "dev"
	Token = "a-token-for-tests"
)

// Kit is a whole system.
type Kit struct {
	Plane  *controlplane.Running
	Config *rest.Config
	Git    *gitserver.Server
	Engine *flux.Engine
	Dir    string

	stopEngine context.CancelFunc
}

// stopTimeout bounds each part of a stop.
const stopTimeout = 5 * time.Second

// Start starts a system in dir; auditLog may name a file for the audit log.
func Start(ctx context.Context, dir, auditLog string) (*Kit, error) {
	k := &Kit{Dir: dir}
	var err error
	k.Plane, err = controlplane.Start(ctx, controlplane.Config{
		Dir: filepath.Join(dir, "cluster"), Ephemeral: true, AuditLog: auditLog,
	})
	if err != nil {
		return nil, err
	}
	k.Config = k.Plane.RESTConfig()
	k.Config.UserAgent = "headgate/test"
	if err := k.start(ctx); err != nil {
		return nil, errors.Join(err, k.Stop(ctx))
	}
	return k, nil
}

func (k *Kit) start(ctx context.Context) error {
	store, err := source.NewStore(filepath.Join(k.Dir, "artifacts"), "http://localhost/artifacts")
	if err != nil {
		return err
	}
	k.Git, err = gitserver.Start(ctx, gitserver.Config{
		Dir:   filepath.Join(k.Dir, "repositories"),
		Mount: map[string]http.Handler{"/artifacts/": http.StripPrefix("/artifacts", store)},
	})
	if err != nil {
		return err
	}
	k.Git.AddUser(User, Token, true)
	if err := flux.Install(ctx, k.Config); err != nil {
		return err
	}
	if err := k.StartEngine(ctx, store); err != nil {
		return err
	}
	k.Git.OnPush(func(repo string) {
		url := k.Git.URL(repo)
		k.Engine.Nudge(func(u string) bool { return u == url })
	})
	return nil
}

// StartEngine starts an engine on the cluster.
func (k *Kit) StartEngine(ctx context.Context, store *source.Store) error {
	engine, stop := context.WithCancel(context.WithoutCancel(ctx))
	var err error
	k.Engine, err = flux.Start(engine, flux.Config{Cluster: k.Config, Store: store})
	if err != nil {
		stop()
		return fmt.Errorf("starting the engine: %w", err)
	}
	k.stopEngine = stop
	return nil
}

// StopEngine ends the engine and waits until it has.
func (k *Kit) StopEngine() {
	k.stopEngine()
	k.Engine.Wait()
}

// Stop ends everything.
func (k *Kit) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if k.stopEngine != nil {
		k.StopEngine()
	}
	var errs []error
	if k.Git != nil {
		errs = append(errs, k.Git.Stop(ctx))
	}
	errs = append(errs, k.Plane.Stop(ctx), os.RemoveAll(k.Dir))
	return errors.Join(errs...)
}
