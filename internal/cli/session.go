package cli

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/progress"
)

// session is what a dialect acts through for a command. It is safe for concurrent use.
type session struct {
	*globals
	dyn dynamic.Interface

	mu       sync.Mutex
	mapper   meta.RESTMapper
	printing sync.Mutex
}

func newSession(g *globals, client dynamic.Interface) *session {
	return &session{globals: g, dyn: client}
}

// Client reads and writes objects.
func (s *session) Client() dynamic.Interface { return s.dyn }

// Mapping is how objects of a kind are reached.
func (s *session) Mapping(gk schema.GroupKind, version string) (*meta.RESTMapping, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mapper == nil {
		config, err := s.restConfig()
		if err != nil {
			return nil, err
		}
		client, err := discovery.NewDiscoveryClientForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("creating a client: %w", err)
		}
		s.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	}
	return s.mapper.RESTMapping(gk, version)
}

// Change merges a change into an object.
func (s *session) Change(ctx context.Context, id engine.UnitID, change map[string]any) error {
	ref, err := s.referenceTo(id)
	if err != nil {
		return err
	}
	return patch(ctx, ref.client(s.dyn), ref, change)
}

// Say prints a line of the result.
func (s *session) Say(good bool, text string) error {
	mark := "✓ "
	if !good {
		mark = "✗ "
	}
	s.printing.Lock()
	defer s.printing.Unlock()
	_, err := fmt.Fprintln(s.io.Out, mark+progress.Short(text))
	return err
}

// Note prints what goes on.
func (s *session) Note(text string) {
	s.printing.Lock()
	defer s.printing.Unlock()
	fmt.Fprintln(s.io.Err, "◌ "+text)
}

// Table prints lines of columns.
func (s *session) Table(rows [][]string) error {
	s.printing.Lock()
	defer s.printing.Unlock()
	w := tabwriter.NewWriter(s.io.Out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// Until watches an object until it is as it should be, and returns it.
func (s *session) Until(ctx context.Context, id engine.UnitID, done dialect.Done) (*unstructured.Unstructured, error) {
	ref, err := s.referenceTo(id)
	if err != nil {
		return nil, err
	}
	selector := fields.OneTermEqualSelector("metadata.name", ref.name).String()
	for {
		w, err := ref.client(s.dyn).Watch(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil && ctx.Err() == nil {
			return nil, unreachable(fmt.Errorf("watching %s: %w", ref, err))
		}
		if err == nil {
			u, gone := firstDone(w, done)
			w.Stop()
			if gone {
				return nil, hint(fmt.Errorf("%s was deleted in the meantime", ref), "headgate get %s", ref.aliases[0])
			}
			if u != nil {
				return u, nil
			}
		}
		if ctx.Err() != nil {
			return nil, gaveUp(ctx, ref)
		}
	}
}

func firstDone(w watch.Interface, done dialect.Done) (u *unstructured.Unstructured, gone bool) {
	for event := range w.ResultChan() {
		u, ok := event.Object.(*unstructured.Unstructured)
		switch {
		case !ok:
		case event.Type == watch.Deleted:
			return nil, true
		case done.Done(u):
			return u, false
		}
	}
	return nil, false
}
