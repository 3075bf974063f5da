package builds

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// interest is what wakes Builds: one object, or with no name every object of a kind that has the label of a Build.
type interest struct {
	schema.GroupVersionResource

	namespace, name string
}

// interests are the watches that Builds have in common. What is read is not kept: a change wakes the Builds, which read as their
// own accounts. It is safe for concurrent use.
type interests struct {
	host *dialect.Host
	loop *rounds.Loop[engine.UnitID]

	mu  sync.Mutex
	ctx context.Context
	// held are the watches, of are those of a Build.
	held map[interest]*watched
	of   map[engine.UnitID]map[interest]bool
}

type watched struct {
	stop  context.CancelFunc
	ready chan struct{}
	err   error
	users map[engine.UnitID]bool
}

func newInterests(host *dialect.Host, loop *rounds.Loop[engine.UnitID]) *interests {
	return &interests{host: host, loop: loop, held: map[interest]*watched{}, of: map[engine.UnitID]map[interest]bool{}}
}

func (s *interests) begin(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = ctx
}

// firstList bounds how long the first list of a watch is waited for.
const firstList = 30 * time.Second

// follow has a Build woken by these changes and by no others. It returns once the watches are in, so that what is read after that is
// read again if it changes.
func (s *interests) follow(ctx context.Context, id engine.UnitID, all map[interest]bool) error {
	var waits []*watched
	s.mu.Lock()
	for one := range s.of[id] {
		if !all[one] {
			s.leave(id, one)
		}
	}
	s.of[id] = all
	for one := range all {
		w, there := s.held[one]
		if !there {
			w = s.watch(one)
		}
		w.users[id] = true
		waits = append(waits, w)
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, firstList)
	defer cancel()
	for _, w := range waits {
		select {
		case <-w.ready:
			if w.err != nil {
				return w.err
			}
		case <-ctx.Done():
			return fmt.Errorf("waiting for watches: %w", context.Cause(ctx))
		}
	}
	return nil
}

// forget ends what is watched for a Build alone.
func (s *interests) forget(id engine.UnitID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.of[id] {
		s.leave(id, one)
	}
	delete(s.of, id)
}

// leave ends the interest of a Build. The caller holds the lock.
func (s *interests) leave(id engine.UnitID, one interest) {
	w, there := s.held[one]
	if !there {
		return
	}
	delete(w.users, id)
	if len(w.users) == 0 {
		w.stop()
		delete(s.held, one)
	}
}

// watch begins a watch. The caller holds the lock.
func (s *interests) watch(one interest) *watched {
	ctx, stop := context.WithCancel(s.ctx)
	w := &watched{stop: stop, ready: make(chan struct{}), users: map[engine.UnitID]bool{}}
	s.held[one] = w
	s.host.Guard.Go("watch of "+one.Resource, func() {
		defer close(w.ready)
		w.err = s.run(ctx, one, w)
		if w.err != nil {
			s.drop(one, w)
		}
	})
	return w
}

// run watches; it returns when the first list is in.
func (s *interests) run(ctx context.Context, one interest, w *watched) error {
	if one.name == "" {
		to := cluster.Sink{Put: s.labelled, Dropped: s.labelled}
		return s.host.Home.Watch(ctx, one.GroupVersionResource, v1alpha1.LabelBuild, to)
	}
	changed := func(*unstructured.Unstructured) { s.changed(w) }
	return s.host.Home.WatchOne(ctx, one.GroupVersionResource, one.namespace, one.name, cluster.Sink{Put: changed, Dropped: changed})
}

// drop forgets a watch that failed, so that the next pass begins another one.
func (s *interests) drop(one interest, w *watched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.stop()
	if s.held[one] == w {
		delete(s.held, one)
	}
}

// changed wakes the Builds of a watch.
func (s *interests) changed(w *watched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range w.users {
		s.loop.Wake(id)
	}
}

// labelled wakes the Build that the label of an object names. Of what has gone only the identity is known: then all Builds of the namespace
// that watch the kind are woken, or all where it has none.
func (s *interests) labelled(u *unstructured.Unstructured) {
	namespace := u.GetLabels()[v1alpha1.LabelBuildNamespace]
	if namespace == "" {
		namespace = u.GetNamespace()
	}
	if name := u.GetLabels()[v1alpha1.LabelBuild]; name != "" {
		s.wakeKnown(idNamed(namespace, name))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.of {
		if namespace == "" || id.Namespace == namespace {
			s.loop.Wake(id)
		}
	}
}

// wakeKnown wakes a Build that there is: labels may name any.
func (s *interests) wakeKnown(id engine.UnitID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.of[id]; known {
		s.loop.Wake(id)
	}
}
