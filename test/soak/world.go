package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/kit"
)

// world is a cluster, a Git server behind a proxy that fails, a registry, and a controller in a process of its own.
type world struct {
	options
	kit      *kit.Kit
	git      *unreliable
	registry *kit.Registry
	audit    string
	repo     string
	// storage and metrics are the addresses of the controller.
	storage, metrics, health string
	log                      *os.File

	mu      sync.Mutex
	process *exec.Cmd
	gone    chan struct{}
	since   time.Time
}

func build(ctx context.Context, o options) (*world, error) {
	w := &world{options: o, audit: filepath.Join(o.dir, "audit.log"), repo: filepath.Join(o.dir, "repo")}
	return w, w.start(ctx)
}

func (w *world) start(ctx context.Context) error {
	var err error
	if w.kit, err = kit.Start(ctx, filepath.Join(w.dir, "kit"), kit.Options{AuditLog: w.audit, Persistent: true}); err != nil {
		return err
	}
	// The engine is a process of its own, so that it can be killed.
	w.kit.StopEngine()
	if err := w.kit.Git.CreateRepo(ctx, "soak"); err != nil {
		return err
	}
	if w.git, err = serveUnreliably(w.kit.Git.Base()); err != nil {
		return err
	}
	if w.registry, err = kit.StartRegistry(); err != nil {
		return err
	}
	if err := w.registry.PushChart(ctx, "soak/small:1.0.0", chart()); err != nil {
		return err
	}
	for _, one := range []*string{&w.storage, &w.metrics, &w.health} {
		if *one, err = freeAddress(); err != nil {
			return err
		}
	}
	if w.log, err = os.Create(filepath.Join(w.dir, "engine.log")); err != nil {
		return err
	}
	return w.run()
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// run starts the controller.
func (w *world) run() error {
	cmd := exec.Command(w.binary, "controller", "--kubeconfig", w.kit.Plane.Kubeconfig(), "--serve", "flux,argocd",
		"--storage-path", filepath.Join(w.dir, "data"), "--storage-addr", w.storage, "--storage-adv-url", "http://"+w.storage,
		"--metrics-addr", w.metrics, "--health-addr", w.health, "--lease-duration", "6s")
	cmd.Stdout, cmd.Stderr = w.log, w.log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", w.binary, err)
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(gone)
	}()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.process, w.gone, w.since = cmd, gone, time.Now()
	return nil
}

// kill ends the controller as a node does that runs out of memory.
func (w *world) kill() error {
	w.mu.Lock()
	process, gone := w.process, w.gone
	w.mu.Unlock()
	err := process.Process.Kill()
	<-gone
	return err
}

// alive reports whether the controller runs that was started last: it must not end on its own.
func (w *world) alive() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.gone:
		return fmt.Errorf("the controller ended on its own: %s; see %s", w.process.ProcessState, w.log.Name())
	default:
		return nil
	}
}

// restartPlane stops the API server and everything of the control plane, and starts it again.
func (w *world) restartPlane(ctx context.Context) error {
	if err := w.kit.Plane.Stop(ctx); err != nil {
		return err
	}
	return w.kit.StartPlane(ctx)
}

func (w *world) end(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	if w.process != nil && w.alive() == nil {
		errs = append(errs, w.kill())
	}
	if w.git != nil {
		errs = append(errs, w.git.stop(ctx))
	}
	if w.registry != nil {
		errs = append(errs, w.registry.Stop(ctx))
	}
	if w.kit != nil {
		errs = append(errs, w.kit.Stop(ctx))
	}
	return errors.Join(errs...)
}

// root makes the roots of both dialects, from which everything follows.
func (w *world) root(ctx context.Context) error {
	if err := w.namespaces(ctx); err != nil {
		return err
	}
	url := w.git.url("soak")
	login := map[string][]byte{"username": []byte(kit.User), "password": []byte(kit.Token)}
	err := roots.PutRoot(ctx, w.kit.Config, roots.Root{URL: url, Branch: "main", Path: "flux", Credentials: login, Interval: 10 * time.Second, For: "soak"})
	if err != nil {
		return err
	}
	var objects []*unstructured.Unstructured
	for _, text := range []string{
		fmt.Sprintf(loginTemplate, url, kit.User, kit.Token), settingsTemplate, fmt.Sprintf(applicationTemplate, "root", url, "argo", "argocd"),
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			return err
		}
		objects = append(objects, o)
	}
	return roots.PutRoot(ctx, w.kit.Config, roots.Root{Objects: objects, For: "soak"})
}

func (w *world) namespaces(ctx context.Context) error {
	client, err := w.client()
	if err != nil {
		return err
	}
	for _, name := range []string{"soak-flux", "soak-argo", "soak-helm"} {
		if err := create(ctx, client, namespaces, "", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) client() (dynamic.Interface, error) { return dynamic.NewForConfig(w.kit.Config) }

// push commits the repository and pushes it, past the proxy: what fails is what the engine sees.
func (w *world) push(ctx context.Context) error {
	url := strings.Replace(w.kit.Git.URL("soak"), "http://", "http://"+kit.User+":"+kit.Token+"@", 1)
	cmd := exec.CommandContext(ctx, "sh", "-c", `git init -q -b main . && git add -A &&
git -c user.name=soak -c user.email=soak@example.invalid commit -q -m change && git push -q "$0" HEAD:main`, url)
	cmd.Dir = w.repo
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pushing: %w: %s", err, out)
	}
	return nil
}
