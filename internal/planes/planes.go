// Package planes keeps further control planes beside the main one of this process: each is started for its first user and
// stopped a while after the last has gone.
//
// It refuses to know what a plane is made of, which its composition root gives as a function, what its users do there, and to
// let the end of one plane disturb another.
package planes

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/guard"
)

// Running is a control plane that runs.
type Running interface {
	// RESTConfig is how an administrator reaches it; each call returns a copy.
	RESTConfig() *rest.Config
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig() string
	// Done brings the failure of any part, and is closed when the plane has stopped.
	Done() <-chan error
	// Stop ends the plane and keeps its state.
	Stop(ctx context.Context) error
}

// Start starts a control plane whose state is in dir, and returns when its API is ready.
type Start func(ctx context.Context, name, dir string) (Running, error)

// Config is what a Pool needs.
type Config struct {
	// Dir has a directory for each plane, by its name, with its whole state.
	Dir string
	// Ephemeral has Close delete the state of all planes. Until then, a plane finds its state again also when it had been
	// stopped meanwhile.
	Ephemeral bool
	// Start starts a plane.
	Start Start
	// Linger is how long a plane outlives its last user; 0 means 30 s, and less than 0 not at all.
	Linger time.Duration
	// Most is the number of planes that may run at once; 0 means 16.
	Most int
	// Notify, when set, is called, with one line, for each plane that starts, stops or dies.
	Notify func(string)
	Log    logr.Logger
	Guard  guard.Guard
}

// Bounds of what a Pool does on its own.
const (
	defaultLinger = 30 * time.Second
	defaultMost   = 16
	stopTimeout   = 20 * time.Second
	// A plane that died is restarted after firstDelay, then after twice as long each time, at most after longestDelay. One
	// that ran for as long as that starts over.
	firstDelay   = time.Second
	longestDelay = time.Minute
)

// Errors of Acquire that are worth telling apart.
var (
	// ErrClosed is the answer of a Pool that was closed.
	ErrClosed = errors.New("the process is stopping its control planes")
	// ErrTooMany is the answer when as many planes run as may.
	ErrTooMany = errors.New("too many control planes")
)

// Pool keeps the planes of one process. Its methods may be called at once.
type Pool struct {
	cfg Config
	// ctx ends with Close.
	ctx    context.Context
	cancel context.CancelFunc
	meter  *meter
	ledger *ledger

	mu     sync.Mutex
	planes map[string]*member
	closed bool
	// running counts the members that have a goroutine.
	running sync.WaitGroup
}

// NewPool returns a Pool that has started nothing yet. It has the values of ctx; its planes end with Close and not with ctx, so that
// their users can go first.
func NewPool(ctx context.Context, cfg Config) *Pool {
	switch {
	case cfg.Linger == 0:
		cfg.Linger = defaultLinger
	case cfg.Linger < 0:
		cfg.Linger = 0
	}
	if cfg.Most == 0 {
		cfg.Most = defaultMost
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &Pool{
		cfg: cfg, ctx: ctx, cancel: cancel, meter: &meter{inUse: inUse}, ledger: &ledger{dir: cfg.Dir}, planes: map[string]*member{},
	}
}

// Plane is one run of a control plane. A plane that is started again is another one.
type Plane struct {
	// Name is unique in a Pool.
	Name string

	running Running
	done    chan struct{}
	// cause is set before done is closed.
	cause error
}

// RESTConfig is how an administrator reaches the plane; each call returns a copy.
func (p *Plane) RESTConfig() *rest.Config { return p.running.RESTConfig() }

// Kubeconfig is the path of the administrator's kubeconfig, which only the user of this process can read.
func (p *Plane) Kubeconfig() string { return p.running.Kubeconfig() }

// Done is closed when the plane has died, or was stopped. A user that has not released it acquires it again, which waits
// until it was restarted, and releases the former one then: address and credentials mostly stay.
func (p *Plane) Done() <-chan struct{} { return p.done }

// Err is why the plane is done: nil while it runs and after it was stopped without anything wrong.
func (p *Plane) Err() error {
	select {
	case <-p.done:
		return p.cause
	default:
		return nil
	}
}

// Acquire returns the plane of a name for a user, whose name Status shows, and starts it if it does not run. It waits until
// the plane is ready, and until ctx ends at most; a start that fails is an error of those who wait for it, and the next one
// waits out the delay. The plane runs until everybody has called release, and then for as long as it lingers. A release may be
// called more than once. It fails with ErrTooMany and ErrClosed, and for a name that is no DNS label.
func (p *Pool) Acquire(ctx context.Context, name, user string) (plane *Plane, release func(), err error) {
	if err := valid(name); err != nil {
		return nil, nil, err
	}
	m, err := p.join(name, user)
	if err != nil {
		return nil, nil, err
	}
	release = sync.OnceFunc(func() { p.leave(m, user) })
	plane, err = p.await(ctx, m)
	if err != nil {
		release()
		return nil, nil, fmt.Errorf("control plane %q: %w", name, err)
	}
	return plane, release, nil
}

// Dir is the directory of the state of a plane.
func (p *Pool) Dir(name string) string { return filepath.Join(p.cfg.Dir, name) }

// valid refuses names that are no DNS labels: a name is that of a directory, too.
func valid(name string) error {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return fmt.Errorf("control plane %q: %s", name, problems[0])
	}
	return nil
}
