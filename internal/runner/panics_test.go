package runner

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/source"
)

// trap is a dialect and a driver that panics at one of its places for one unit, so many times.
type trap struct {
	Dialect
	Driver

	mu      sync.Mutex
	at      string
	left    int
	sprung  []time.Time
	reports map[string][]Report
}

const trapGroup = "trap.example.dev"

var trapKind = schema.GroupKind{Group: trapGroup, Kind: "Trap"}

func trapUnit(name string) engine.UnitID {
	return engine.UnitID{Group: trapGroup, Kind: "Trap", Namespace: "apps", Name: name}
}

// spring panics, if this is the place and the unit.
func (t *trap) spring(at, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at == t.at && name == "bad" && t.left > 0 {
		t.left--
		t.sprung = append(t.sprung, time.Now())
		panic("the password is hunter2")
	}
}

func (t *trap) Traits() Traits { return Traits{Declares: true, Prunes: true} }

func (t *trap) Prepare(_ context.Context, p Preparation) (Prepared, error) {
	t.spring("Prepare", p.Unit.Name)
	return Prepared{Inputs: Inputs{Digest: "d"}}, nil
}

func (t *trap) Act(_ context.Context, w Work) Acted {
	t.spring("Act", w.Unit.Name)
	return Acted{}
}

func (t *trap) Destroy(_ context.Context, w Work) (Destroyed, error) {
	t.spring("Destroy", w.Unit.Name)
	return Destroyed{}, nil
}

func (t *trap) Report(_ context.Context, r Report) error {
	t.spring("Report", r.Unit.Name)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reports[r.Unit.Name] = append(t.reports[r.Unit.Name], r)
	return nil
}

func (t *trap) Release(_ context.Context, id engine.UnitID) error {
	t.spring("Release", id.Name)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reports[id.Name] = append(t.reports[id.Name], Report{Message: "released"})
	return nil
}

// Source is asked by the loop.
func (t *trap) Source(id engine.SourceID) (engine.SourceFact, *source.Artifact) {
	t.spring("Source", id.Name)
	return engine.SourceFact{Found: true, Revision: "r1", Digest: "d1"}, &source.Artifact{Revision: "r1"}
}

func (t *trap) Readings(engine.SourceID) []engine.Reading { return nil }
func (t *trap) Fetch(engine.SourceID)                     {}

// last is the last report on a unit, and messages are all of them.
func (t *trap) last(name string) (last Report, messages string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.reports[name] {
		last = r
		messages += r.Message + "\n"
	}
	return last, messages
}

// TestPanics has a unit fail for which something panics, wait ever longer, and succeed once nothing does; another one is
// ready all the while.
func TestPanics(t *testing.T) {
	cases := map[string]struct {
		reason   string
		deleting bool
		// silent is set where the unit cannot say what happened.
		silent bool
	}{
		"Prepare": {reason: "a worker renders"},
		"Act":     {reason: "a worker applies"},
		"Source":  {reason: "the loop gathers facts"},
		"Report":  {reason: "a worker writes the status", silent: true},
		"Destroy": {reason: "a worker deletes", deleting: true},
		"Release": {reason: "a worker lets the object of a deleted unit go", deleting: true, silent: true},
	}
	for at, c := range cases {
		t.Run(at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const times = 3
				trap := &trap{at: at, left: times, reports: map[string][]Report{}}
				var logged strings.Builder
				counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "panics"})
				r := trapped(t, trap, guard.New(funcr.New(func(_, args string) { logged.WriteString(args) }, funcr.Options{}), counter))
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					r.Run(ctx)
				}()
				for _, name := range []string{"bad", "good"} {
					r.Upsert(engine.Unit{
						ID: trapUnit(name), UID: name, Generation: 1, Timeout: time.Minute, Interval: time.Hour, RetryInterval: 10 * time.Second,
						Source: engine.SourceID{Group: trapGroup, Kind: "Source", Namespace: "apps", Name: name},
						Target: engine.Target{Owner: "trap"}, Prune: true, Deleting: c.deleting && name == "bad",
					})
				}
				synctest.Wait()
				if last, _ := trap.last("good"); !last.OK || !last.Final {
					t.Errorf("%s for a neighbour: %+v", c.reason, last)
				}
				<-time.After(10 * time.Minute)
				synctest.Wait()
				stop()
				<-ended

				last, messages := trap.last("bad")
				if c.deleting && last.Message != "released" || !c.deleting && !last.OK {
					t.Errorf("%s: the unit does not recover: %+v", c.reason, last)
				}
				if said := strings.Contains(messages, "internal error: a panic with a value of type string"); said == c.silent {
					t.Errorf("%s: the status says %q", c.reason, messages)
				}
				if strings.Contains(messages+logged.String(), "hunter2") || !strings.Contains(logged.String(), "spring") || !strings.Contains(logged.String(), "bad") {
					t.Errorf("%s: the log has no stack, no name or a secret: %s", c.reason, logged.String())
				}
				if len(trap.sprung) != times || trap.sprung[2].Sub(trap.sprung[0]) < retryMin {
					t.Errorf("%s: tried at %v", c.reason, trap.sprung)
				}
			})
		})
	}
}

// trapped is a runner with a trap, on a cluster that is never asked.
func trapped(t *testing.T, trap *trap, g guard.Guard) *Runner {
	t.Helper()
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	r := New(Config{Guard: g})
	home, err := cluster.Connect(config, "", cluster.Ownership{}, r, g)
	if err != nil {
		t.Fatal(err)
	}
	names := apply.Names{Manager: "trap", Prefix: trapGroup + "/"}
	r.Bind(home, config, names)
	r.Join(Part{
		Groups: []string{trapGroup}, Dialect: trap, Sources: trap, Drivers: map[schema.GroupKind]Driver{trapKind: trap},
		Names: map[string]apply.Names{"trap": names},
	})
	return r
}
