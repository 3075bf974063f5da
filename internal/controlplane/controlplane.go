// Package controlplane runs a Kubernetes control plane inside this process: etcd, kube-apiserver,
// controller-manager, scheduler, and nodes that only seem to run what is put on them.
//
// It is the only importer of k8s.io/kubernetes and of etcd. Its API server listens on the loopback interface, with TLS, and etcd
// on one unix socket for clients, in a directory that no other user can enter; nothing else listens. It encrypts Secrets at rest, and refuses to end the
// process or to write to its standard output: failures of any part arrive on Done.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/internal/guard"
)

// Config is what a control plane needs.
type Config struct {
	// Dir is the state directory. It is made with mode 0700 when it does not exist.
	Dir string
	// Ephemeral keeps nothing: writes are not synced to disk, and Stop removes the directory, but for Keep.
	Ephemeral bool
	// Port of the API server; 0 takes the one of last time, or a free one.
	Port int
	// Keep has Stop leave the directory of an ephemeral control plane for another Start; its state lives as long as the
	// machine does.
	Keep bool
	// Light is for a control plane beside others of this process, which is to take little memory: it serves the OpenAPI
	// documents of the built-in kinds that the first one made, has one simulated node, and no controllers for what few
	// applications have.
	Light bool
	// Isolated has the API server connect to nothing that objects name, by webhooks, conversions and subresources: others write them than who
	// runs this process. A light control plane is isolated.
	Isolated bool
	// Nodes is the number of simulated nodes; 0 means 3, and 1 for a light control plane.
	Nodes int
	// KubernetesLogs takes the logs of the Kubernetes parts; nil drops them. It is a setting of the
	// process: that of the first Start counts.
	KubernetesLogs io.Writer
	// AuditLog is a file for the audit log at metadata level; empty writes none.
	AuditLog string
	// Definitions are CustomResourceDefinitions that the control plane begins with where it does not have them: it serves them from
	// the start, as if Manager had applied them.
	Definitions []*unstructured.Unstructured
	Manager     string
	// Finalizers are put on each object of a kind when it is created, which spares the controller of that kind a request for each. They
	// belong to no field manager.
	Finalizers map[schema.GroupKind]string
	// FeatureGates are set in all parts. They are settings of the process: those of one Start hold for later ones, too.
	FeatureGates map[string]bool
	// Notify, when set, is called with what differs here from a real cluster, once each.
	Notify func(string)
}

// Running is a control plane that runs.
type Running struct {
	cfg    Config
	lock   *lock
	store  *store
	config *rest.Config
	conns  *connections

	// reporting guards done from what still fails once it is closed.
	reporting sync.Mutex
	done      chan error
	closed    bool

	// starting names the part that a start is about.
	starting atomic.Value
	// stopParts ends what uses the API server, stopServer the server, in this order.
	stopParts, stopServer context.CancelFunc
	parts, server         sync.WaitGroup
	stopOnce              sync.Once
}

// Bounds of a start and of the parts of a stop.
const (
	startTimeout = 60 * time.Second
	// startGrace is how long a start has to end on its own once its time is over.
	startGrace   = storeTimeout + 5*time.Second
	partsTimeout = 5 * time.Second
	// serverTimeout is how long the API server has once all connections to it are closed. It needs the store to end.
	serverTimeout = 10 * time.Second
	// clientsTimeout is how long clients of others have to end on their own; briefClients is that where nothing they write is kept.
	clientsTimeout = 500 * time.Millisecond
	briefClients   = 50 * time.Millisecond
)

// Start starts a control plane and returns when its API is ready. Several may run in one process;
// they start one after the other. It fails with ErrLocked when another process uses the directory.
func Start(ctx context.Context, cfg Config) (*Running, error) {
	theProcess.setUp(cfg.KubernetesLogs)
	theProcess.starting.Lock()
	defer theProcess.starting.Unlock()
	cfg.Isolated = cfg.Isolated || cfg.Light
	if cfg.Nodes == 0 {
		cfg.Nodes = 3
		if cfg.Light {
			cfg.Nodes = 1
		}
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the state directory: %w", err)
	}
	if err := os.Chmod(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("setting the mode of the state directory: %w", err)
	}
	held, err := acquire(cfg.Dir)
	if err != nil {
		return nil, err
	}
	r := &Running{cfg: cfg, lock: held, done: make(chan error, 16)}
	theProcess.add(r)
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// begin starts in a goroutine of its own: parts of Kubernetes and etcd end that from which they would end the process, and some wait for
// what may never come. Then a start fails, keeps its directory for as long as anything may write to it, and lets others start.
func (r *Running) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ended, givenUp := make(chan error), make(chan struct{})
	go func() {
		err := errEnded
		defer func() {
			if err != nil {
				err = r.because(err)
				_ = r.Stop(context.WithoutCancel(ctx))
			}
			select {
			case ended <- err:
			case <-givenUp:
				_ = r.Stop(context.WithoutCancel(ctx))
			}
		}()
		err = guard.Catch(func() error { return r.start(ctx) })
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(startGrace):
		close(givenUp)
		return fmt.Errorf("starting %s: it has neither begun nor failed within %s", r.starting.Load(), startTimeout+startGrace)
	}
}

// because is why a start failed: for one that a part has ended, what that part reported.
func (r *Running) because(err error) error {
	if !errors.Is(err, errEnded) {
		return err
	}
	select {
	case reported := <-r.done:
		err = reported
	default:
	}
	return fmt.Errorf("starting %s: %w", r.starting.Load(), err)
}

func (r *Running) start(ctx context.Context) error {
	r.starting.Store("etcd")
	keys, err := newPKI(filepath.Join(r.cfg.Dir, "pki"))
	if err != nil {
		return err
	}
	if err := r.files(); err != nil {
		return err
	}
	if err := r.startStore(ctx); err != nil {
		return err
	}
	if err := r.store.seed(ctx, r.cfg); err != nil {
		return err
	}
	r.starting.Store("the API server")
	listener, err := r.listen()
	if err != nil {
		return err
	}
	r.conns = &connections{Listener: listener}
	serverCtx, stopServer := context.WithCancel(context.Background())
	partsCtx, stopParts := context.WithCancel(context.Background())
	r.stopServer, r.stopParts = stopServer, stopParts
	machines, err := newKubelet(keys)
	if err != nil {
		_ = listener.Close()
		return err
	}
	api, err := newAPIServer(serverCtx, r.cfg, keys, r.store.endpoint, r.conns, machines)
	if err != nil {
		_ = listener.Close()
		return err
	}
	if err := r.kubeconfigs(keys, api); err != nil {
		return err
	}
	r.run(&r.server, "etcd", serverCtx, r.store.run)
	r.run(&r.server, "kube-apiserver", serverCtx, api.prepared.Run)
	r.run(&r.server, "kubelet", serverCtx, machines.serve)
	if err := r.waitReady(ctx); err != nil {
		return err
	}
	return r.startParts(ctx, partsCtx, keys)
}

// startStore starts etcd, once more where that may help.
func (r *Running) startStore(ctx context.Context) error {
	for {
		var err error
		r.store, err = startStore(ctx, r.cfg.Dir, r.cfg.Ephemeral, func(err error) { r.report("etcd", err) })
		if !errors.Is(err, errIdle) || ctx.Err() != nil {
			return err
		}
		if stop := r.store.stop(); stop != nil {
			return errors.Join(err, stop)
		}
		if r.cfg.Notify != nil {
			r.cfg.Notify(err.Error() + "; starting it again")
		}
	}
}

// startParts starts everything that is a client of the API server.
func (r *Running) startParts(ctx, parts context.Context, keys *pki) error {
	r.starting.Store("the controllers")
	forget()
	manager, err := controllers(parts, r.cfg, keys)
	if err != nil {
		return err
	}
	scheduler, err := pods(parts, r.cfg.Dir)
	if err != nil {
		return err
	}
	bootstrap(parts, r.RESTConfig())
	r.run(&r.parts, "kube-controller-manager", parts, manager)
	r.run(&r.parts, "kube-scheduler", parts, scheduler)
	if err := simulate(parts, r.as("headgate-simulated-cloud")); err != nil {
		return err
	}
	if err := nodes(parts, r.Kubeconfig(), r.as("headgate-simulated-nodes"), r.cfg.Nodes); err != nil {
		return err
	}
	return ctx.Err()
}

// run runs a part and reports its end if it was not requested.
func (r *Running) run(group *sync.WaitGroup, name string, ctx context.Context, part func(context.Context) error) {
	group.Add(1)
	go func() {
		defer group.Done()
		err := part(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("it ended unexpectedly")
		}
		r.report(name, err)
	}()
}

// report hands a failure to the reader of Done; it never blocks.
func (r *Running) report(part string, err error) {
	r.reporting.Lock()
	defer r.reporting.Unlock()
	if r.closed {
		return
	}
	select {
	case r.done <- fmt.Errorf("%s: %w", part, err):
	default:
	}
}

// listen opens the port of the API server: the given one, that of last time, or a free one.
func (r *Running) listen() (net.Listener, error) {
	if r.cfg.Port != 0 {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.cfg.Port)))
		if err != nil {
			return nil, fmt.Errorf("listening on port %d: %w", r.cfg.Port, err)
		}
		return l, nil
	}
	file := filepath.Join(r.cfg.Dir, "port")
	if last, err := os.ReadFile(file); err == nil {
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strings.TrimSpace(string(last)))); err == nil {
			return l, nil
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on a free port: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err == nil {
		err = os.WriteFile(file, []byte(port), 0o600)
	}
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("storing the port: %w", err)
	}
	return l, nil
}

func (r *Running) kubeconfigs(keys *pki, api *apiServer) error {
	for file, identity := range map[string]string{
		"kubeconfig": "admin", "controller-manager.kubeconfig": "controller-manager", "scheduler.kubeconfig": "scheduler",
	} {
		if err := keys.kubeconfig(filepath.Join(r.cfg.Dir, file), api.url, identity); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", r.Kubeconfig())
	if err != nil {
		return fmt.Errorf("reading the kubeconfig back: %w", err)
	}
	config.QPS, config.Burst = -1, -1
	r.config = config
	return nil
}

// waitReady waits until the API server says that it is ready.
func (r *Running) waitReady(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(r.config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	var last error
	for {
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		if err == nil {
			return nil
		}
		last = err
		select {
		case failure := <-r.done:
			return fmt.Errorf("starting the API server: %w", failure)
		case <-ctx.Done():
			return fmt.Errorf("waiting for the API server: %w", errors.Join(context.Cause(ctx), last))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// RESTConfig is how an administrator reaches the API; each call returns a copy.
func (r *Running) RESTConfig() *rest.Config { return rest.CopyConfig(r.config) }

// as is the configuration of a part of the control plane, which audit logs tell from others by its user agent.
func (r *Running) as(part string) *rest.Config {
	config := r.RESTConfig()
	config.UserAgent = part
	return config
}

// Kubeconfig is the path of the administrator's kubeconfig, which only its user can read.
func (r *Running) Kubeconfig() string { return filepath.Join(r.cfg.Dir, "kubeconfig") }

// Done brings the failure of any part. It is closed when the control plane has stopped.
func (r *Running) Done() <-chan error { return r.done }

// Stop ends the control plane: first what uses the API server, then the server, then the store. When the store does not end, its
// directory stays, locked for as long as this process lasts.
func (r *Running) Stop(ctx context.Context) error {
	var err error
	r.stopOnce.Do(func() {
		if r.stopParts != nil {
			r.stopParts()
			waitFor(ctx, &r.parts, partsTimeout)
			r.stopServer()
			clients := clientsTimeout
			if r.cfg.Ephemeral && !r.cfg.Keep {
				clients = briefClients
			}
			if !waitFor(ctx, &r.server, clients) {
				r.conns.drop()
				waitFor(ctx, &r.server, serverTimeout)
			}
		}
		if r.store != nil {
			err = r.store.stop()
		}
		theProcess.remove(r)
		if err == nil {
			// Where etcd may still write, no one else may.
			if r.cfg.Ephemeral && !r.cfg.Keep {
				err = os.RemoveAll(r.cfg.Dir)
			}
			r.lock.release()
		}
		r.reporting.Lock()
		defer r.reporting.Unlock()
		r.closed = true
		close(r.done)
	})
	return err
}

// waitFor waits for the end of a group and reports whether it came.
func waitFor(ctx context.Context, group *sync.WaitGroup, most time.Duration) bool {
	ended := make(chan struct{})
	go func() {
		group.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
	case <-time.After(most):
	}
	return false
}
