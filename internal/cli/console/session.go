package console

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/progress"
)

// Session is what a dialect acts through for a command. It is safe for concurrent use.
type Session struct {
	*Globals
	dyn dynamic.Interface
	// config is how a cluster other than the chosen one is reached.
	config *rest.Config

	mu       sync.Mutex
	mapper   meta.RESTMapper
	printing sync.Mutex
}

// NewSession returns a session of a command.
func NewSession(g *Globals, client dynamic.Interface) *Session {
	return &Session{Globals: g, dyn: client}
}

// Client reads and writes objects.
func (s *Session) Client() dynamic.Interface { return s.dyn }

// remoteTimeout bounds requests to a cluster that is not the chosen one, so that one which does not respond keeps no command waiting.
const remoteTimeout = 10 * time.Second

// At is a session in another cluster, with the credentials that it is registered with.
func (s *Session) At(c dialect.Cluster) (dialect.Session, error) {
	if c.Home {
		return s, nil
	}
	config, err := remote(c)
	if err != nil {
		return nil, err
	}
	config.Timeout = remoteTimeout
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client of cluster %s: %w", c.Name, err)
	}
	return &Session{Globals: s.Globals, dyn: client, config: config}, nil
}

// reach is how the cluster of the session is reached.
func (s *Session) reach() (*rest.Config, error) {
	if s.config != nil {
		return s.config, nil
	}
	return s.RestConfig()
}

// Mapping is how objects of a kind are reached.
func (s *Session) Mapping(gk schema.GroupKind, version string) (*meta.RESTMapping, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mapper == nil {
		config, err := s.reach()
		if err != nil {
			return nil, err
		}
		client, err := discovery.NewDiscoveryClientForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("creating a client: %w", err)
		}
		if s.config != nil {
			// The kinds of another cluster are read once; a cache would write to the log where it does not respond.
			groups, err := restmapper.GetAPIGroupResources(client)
			if err != nil {
				return nil, fmt.Errorf("reading the kinds that are served: %w", err)
			}
			s.mapper = restmapper.NewDiscoveryRESTMapper(groups)
		} else {
			s.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
		}
	}
	return s.mapper.RESTMapping(gk, version)
}

// Change merges a change into an object.
func (s *Session) Change(ctx context.Context, id engine.UnitID, change map[string]any) error {
	ref, err := s.ReferenceTo(id)
	if err != nil {
		return err
	}
	return Change(ctx, ref.Client(s.dyn), ref, change)
}

// Say prints a line of the result.
func (s *Session) Say(good bool, text string) error {
	mark := "✓ "
	if !good {
		mark = "✗ "
	}
	s.printing.Lock()
	defer s.printing.Unlock()
	_, err := fmt.Fprintln(s.IO.Out, mark+progress.Short(text))
	return err
}

// Note prints what goes on.
func (s *Session) Note(text string) {
	s.printing.Lock()
	defer s.printing.Unlock()
	fmt.Fprintln(s.IO.Err, "◌ "+text)
}

// Table prints lines of columns.
func (s *Session) Table(rows [][]string) error {
	s.printing.Lock()
	defer s.printing.Unlock()
	w := tabwriter.NewWriter(s.IO.Out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// Until watches an object until it is as it should be, and returns it.
func (s *Session) Until(ctx context.Context, id engine.UnitID, done dialect.Done) (*unstructured.Unstructured, error) {
	ref, err := s.ReferenceTo(id)
	if err != nil {
		return nil, err
	}
	selector := fields.OneTermEqualSelector("metadata.name", ref.Name).String()
	for {
		w, err := ref.Client(s.dyn).Watch(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil && ctx.Err() == nil {
			return nil, Unreachable(fmt.Errorf("watching %s: %w", ref, err))
		}
		if err == nil {
			u, gone := firstDone(w, done)
			w.Stop()
			if gone {
				return nil, Hint(fmt.Errorf("%s was deleted in the meantime", ref), "headgate get %s", ref.Aliases[0])
			}
			if u != nil {
				return u, nil
			}
		}
		if ctx.Err() != nil {
			return nil, GaveUp(ctx, ref)
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

// GaveUp reports what was waited for when ctx ended.
func GaveUp(ctx context.Context, ref Reference) error {
	return Hint(fmt.Errorf("waiting for %s: %w", ref, context.Cause(ctx)), "headgate why %s/%s -n %s", ref.Aliases[0], ref.Name, ref.Namespace)
}
