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
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/source"
)

// User and Token let a test push and fetch.
const (
	User  = "dev"
	Token = "a-token-for-tests"
)

// Kit is a whole system.
type Kit struct {
	Plane *controlplane.Running
	// Config is that of an administrator, Own that of the account of an installation, with its rights.
	Config, Own *rest.Config
	Git         *gitserver.Server
	Engine      *host.Engine
	Store       *source.Store
	Dir         string

	options    Options
	gate       gate
	transfers  transfers
	gitAddress string
	stopEngine context.CancelFunc
}

// Options say what a Kit differs in.
type Options struct {
	// AuditLog names a file for the audit log; empty writes none.
	AuditLog string
	// Serve are the API groups that the engine serves, by the words of --serve: all of them when it is not set.
	Serve []string
	// Dialects are those that there are, every one of Headgate when it is not set.
	Dialects dialect.Catalogue
	// Persistent keeps the state of the cluster when its control plane stops.
	Persistent bool
}

// stopTimeout bounds each part of a stop.
const stopTimeout = 20 * time.Second

// Start starts a system in dir.
func Start(ctx context.Context, dir string, o Options) (*Kit, error) {
	k := &Kit{Dir: dir, options: o}
	if err := k.start(ctx); err != nil {
		return nil, errors.Join(err, k.Stop(ctx))
	}
	return k, nil
}

func (k *Kit) start(ctx context.Context) error {
	if err := k.StartPlane(ctx); err != nil {
		return err
	}
	if err := k.StartGit(ctx); err != nil {
		return err
	}
	if _, err := host.Install(ctx, k.Config, k.catalogue().All()); err != nil {
		return err
	}
	var err error
	if k.Own, err = account(ctx, k.Config, k.catalogue().All()); err != nil {
		return err
	}
	return k.StartEngine(ctx)
}

// UserAgent is that of the engine and of what tests ask with its configuration.
const UserAgent = "headgate/test"

// StartPlane starts the control plane, again after a stop, with the previous state and address.
func (k *Kit) StartPlane(ctx context.Context) error {
	definitions, err := host.Definitions(k.catalogue().All())
	if err != nil {
		return err
	}
	k.Plane, err = controlplane.Start(ctx, controlplane.Config{
		Dir: filepath.Join(k.Dir, "cluster"), Ephemeral: !k.options.Persistent, AuditLog: k.options.AuditLog,
		Definitions: definitions, Manager: host.Manager, Finalizers: k.catalogue().All().Finalizers(),
	})
	if err != nil {
		return err
	}
	k.Config = k.Plane.RESTConfig()
	k.Config.UserAgent = UserAgent
	return nil
}

// StartGit starts the Git server, again after a stop, with the same repositories and address.
func (k *Kit) StartGit(ctx context.Context) error {
	artifacts := http.NewServeMux()
	git := http.StripPrefix("/git", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { k.Git.ServeHTTP(w, r) }))
	var err error
	k.Git, err = gitserver.Start(ctx, gitserver.Config{
		Dir: filepath.Join(k.Dir, "repositories"), Addr: k.gitAddress,
		Mount: map[string]http.Handler{
			"/artifacts/":                 http.StripPrefix("/artifacts", artifacts),
			"/git/{repo}/info/refs":       k.gate.before(git),
			"/git/{repo}/git-upload-pack": k.transfers.before(git),
		},
	})
	if err != nil {
		return err
	}
	if k.Store == nil {
		if k.Store, err = source.NewStore(filepath.Join(k.Dir, "artifacts"), k.Git.Base()+"/artifacts"); err != nil {
			return err
		}
	}
	artifacts.Handle("/", k.Store)
	k.gitAddress = strings.TrimPrefix(k.Git.Base(), "http://")
	k.Git.AddUser(User, Token, true)
	k.Git.AddUser(LateUser, LateToken, false)
	k.Git.OnPush(func(repo string) {
		url := k.Git.URL(repo)
		k.Engine.Nudge(func(u string) bool { return u == url })
	})
	return nil
}

// StartEngine starts an engine on the cluster. It renders in children of this binary, whose main has to call cli.Child first.
func (k *Kit) StartEngine(ctx context.Context) error {
	engine, stop := context.WithCancel(context.WithoutCancel(ctx))
	serve, err := k.catalogue().Parse(k.options.Serve)
	if err != nil {
		stop()
		return err
	}
	policy, err := egress.Run{}.Policy()
	if err != nil {
		stop()
		return err
	}
	k.Engine, err = host.Start(engine, host.Config{
		Egress:  policy,
		Cluster: k.Own, Store: k.Store, Dir: k.Dir, Serve: serve, Sandbox: sandbox.New(engine, sandbox.Config{Program: sandbox.Self(), Limits: sandbox.DefaultLimits(), Dir: k.Dir}),
	})
	if err != nil {
		stop()
		return fmt.Errorf("starting the engine: %w", err)
	}
	k.stopEngine = stop
	return nil
}

func (k *Kit) catalogue() dialect.Catalogue {
	if k.options.Dialects != nil {
		return k.options.Dialects
	}
	return dialects.All()
}

// StopEngine ends the engine and waits until it has.
func (k *Kit) StopEngine() {
	if k.stopEngine == nil {
		return
	}
	k.stopEngine()
	k.Engine.Wait()
	k.stopEngine = nil
}

// Stop ends everything.
func (k *Kit) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	k.StopEngine()
	var errs []error
	if k.Git != nil {
		errs = append(errs, k.Git.Stop(ctx))
	}
	if k.Plane != nil {
		errs = append(errs, k.Plane.Stop(ctx))
	}
	errs = append(errs, os.RemoveAll(k.Dir))
	return errors.Join(errs...)
}
