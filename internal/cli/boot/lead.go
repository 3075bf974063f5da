package boot

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/runner"
)

// leader holds the engine while this process is the one that serves the cluster. It is safe for
// concurrent use.
type leader struct {
	stop  context.CancelFunc
	ended chan struct{}
	// failed takes the error that ends the process.
	failed chan error

	mu     sync.Mutex
	engine *host.Engine
}

func (l *leader) current() *host.Engine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.engine
}

func (l *leader) set(e *host.Engine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.engine = e
}

// end ends the engine and waits until it has, but not longer than patience.
func (l *leader) end(patience time.Duration) {
	if l.stop == nil {
		return
	}
	l.stop()
	select {
	case <-l.ended:
	case <-time.After(patience):
	}
}

// lead serves the cluster: at once when it is our own, else for as long as this process holds the
// lease that all processes share.
func (s *system) lead(ctx context.Context) error {
	// The engine outlives the interrupt for as long as it takes to end what it is doing.
	ctx, s.leader.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.leader.ended, s.leader.failed = make(chan struct{}), make(chan error, 1)
	if s.plane != nil {
		err := s.begin(ctx)
		go func() {
			defer close(s.leader.ended)
			s.finish(ctx)
		}()
		return err
	}
	if err := s.alone(ctx); err != nil {
		return err
	}
	lease := host.LeaseConfig{Identity: identity(), Duration: s.options.leaseDuration, Shard: s.options.serving.selector}
	lease.Observe = func(holder string) {
		if holder != lease.Identity {
			s.say.Waits("cluster", "served by "+holder+"; this process takes over when that one ends")
		}
	}
	go func() {
		defer close(s.leader.ended)
		if err := host.Lead(ctx, s.config, lease, s.serve); err != nil {
			s.fail(err)
		}
	}()
	return nil
}

// alone ends the process when a controller of Flux comes to serve what it serves.
func (s *system) alone(ctx context.Context) error {
	others, err := host.WatchControllers(ctx, s.config, s.options.serving.groups)
	if err != nil {
		return err
	}
	go func() {
		if refusal := others.Other(ctx); refusal != nil {
			s.fail(refusal)
		}
	}()
	return nil
}

// identity tells this process from others on any machine.
func identity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s, process %d, since %s", host, os.Getpid(), time.Now().UTC().Format(time.RFC3339))
}

// serve runs one engine until ctx ends.
func (s *system) serve(ctx context.Context) {
	s.say.Done("cluster", "served by this process")
	if err := s.begin(ctx); err != nil && ctx.Err() == nil {
		s.fail(err)
	}
	s.finish(ctx)
}

func (s *system) fail(err error) {
	select {
	case s.leader.failed <- err:
	default:
	}
}

// begin makes the root, and then starts an engine: it must not begin with the root of last time.
func (s *system) begin(ctx context.Context) error {
	if err := s.putRoot(ctx); err != nil {
		return err
	}
	if err := s.beginPackages(ctx); err != nil {
		return err
	}
	config := host.Config{
		Cluster: s.config, Store: s.store, Dir: s.state, Local: s.rewrite, Reserved: s.rootIDs(),
		Observe: func(n runner.Note) { s.say.Note(n); s.log.note(n); s.report.note(n) },
		Problem: s.say.Problem, Metrics: s.metrics, Sandbox: s.sandbox, Installed: s.installed, Later: s.later,
	}
	s.options.serving.apply(&config)
	state, err := s.options.State()
	if err != nil {
		return err
	}
	s.options.localExec.apply(s.options.Catalogue, state)
	if err := s.options.simulation.apply(s.options.Catalogue, &config, s.say); err != nil {
		return err
	}
	engine, err := host.Start(ctx, config)
	if err != nil {
		return err
	}
	s.leader.set(engine)
	s.followPackages(ctx)
	go func() {
		if err := engine.Complete(ctx); err != nil && ctx.Err() == nil {
			s.fail(err)
		}
	}()
	return nil
}

// finish waits until the engine has ended.
func (s *system) finish(ctx context.Context) {
	<-ctx.Done()
	if engine := s.leader.current(); engine != nil {
		engine.Wait()
		s.leader.set(nil)
	}
}

// standing returns where the units stand, and what they are generated from that is not ready, or nothing while another process serves the cluster;
// and whether stand-ins may yet be made for what they wait for.
func (s *system) standing(ctx context.Context) (states []runner.State, providing bool) {
	engine := s.leader.current()
	if engine == nil {
		return nil, false
	}
	// What generates units is read first: what it generated is known to the runner by then.
	generators := slices.DeleteFunc(engine.Generators(), func(st runner.State) bool { return st.Ready })
	states, providing = engine.Standing(ctx)
	return append(states, generators...), providing
}

// generators returns what units are generated from, and how it stands.
func (s *system) generators() []runner.State {
	engine := s.leader.current()
	if engine == nil {
		return nil
	}
	return engine.Generators()
}

// watch tells the engine of changes of what is served from here.
func (s *system) watch(ctx context.Context) error {
	s.server.OnPush(func(string) { s.nudge() })
	s.options.charts.Watch(ctx, func(file string, matches func(url string) bool) {
		s.say.Info("change", file)
		if engine := s.leader.current(); engine != nil {
			engine.Nudge(matches)
		}
	}, func(err error) { s.say.Problem("charts", err.Error()) })
	if s.mirror == nil {
		return nil
	}
	before := s.mirror.Revision()
	go func() {
		_ = s.mirror.Watch(ctx, func(revision string) {
			s.say.Info("change", s.saved(ctx, before, revision))
			before = revision
			s.mirrorChanged(ctx)
			s.followRoot(ctx)
			s.nudge()
		}, func(err error) {
			if ctx.Err() == nil {
				s.say.Problem("repository", err.Error())
			}
		})
	}()
	return nil
}

// maxSaved is how many files a line names.
const maxSaved = 3

// saved names the files of a change, by their number from the fourth on, and the revision that serves them.
func (s *system) saved(ctx context.Context, before, after string) string {
	at := fmt.Sprintf("branch %s at %.12s", s.mirror.Branch(), after) + s.unrecorded(ctx)
	files, err := s.mirror.Changed(ctx, before, after)
	if err != nil || len(files) == 0 {
		return at
	}
	text := strings.Join(files[:min(len(files), maxSaved)], ", ")
	if more := len(files) - maxSaved; more > 0 {
		text += " and " + console.Counted(more, "more file")
	}
	return text + "; " + at
}

// unrecorded is what the working copy has and its commit lacks, to follow the revision in a line. What git cannot say is left out.
func (s *system) unrecorded(ctx context.Context) string {
	u, err := s.mirror.Unrecorded(ctx)
	if text := u.String(); err == nil && text != "" {
		return " + " + text
	}
	return ""
}

// nudge has the sources fetched that are served from here, or all of them when none is.
func (s *system) nudge() {
	engine := s.leader.current()
	if engine == nil {
		return
	}
	engine.Nudge(func(url string) bool {
		if s.rewrite == nil {
			return true
		}
		_, ours := s.rewrite(url)
		return ours
	})
}
