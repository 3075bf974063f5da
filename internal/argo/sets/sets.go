// Package sets serves ApplicationSets: it keeps those that are declared, has the repositories followed that their
// generators read, and creates, changes and deletes the Applications that they generate, in steps where a rollout says so.
//
// What a set generates and what follows from that is decided in internal/argo/appset, which is pure; this room gathers the
// facts and carries the plan out. It writes Applications and the status of sets, and nothing else. It refuses to follow an
// Application, to sync one itself, and to know the engine: what it has to know of Applications it asks its Installation.
package sets

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/appset"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// Kind is that of ApplicationSets.
const Kind = "ApplicationSet"

// Resource is what ApplicationSets are in the API.
var Resource = v1alpha1.GroupVersion.WithResource("applicationsets")

// applications are what is generated.
var applications = v1alpha1.GroupVersion.WithResource("applications")

// Installation is what sets are served in: its settings, and its Applications. It is safe for concurrent use.
type Installation interface {
	// Settings are those of now.
	Settings() settings.Settings
	// Applications are those of a namespace, as they were read last, in no order.
	Applications(namespace string) []Application
	// Verify is an error unless what was read of a repository is signed as a project requires.
	Verify(project string, k feeds.Key, state feeds.State) error
	// Put takes an Application as a write left it.
	Put(u *unstructured.Unstructured)
	// Moving reports whether an automated Application is on its way to what it declares, and why it has not arrived.
	Moving(app types.NamespacedName) (why string, moving bool)
	// Behind reports whether an Application has yet to be compared with what its sources hold now.
	Behind(app types.NamespacedName, read *appset.AppState) bool
}

// Application is one as it was read, and the same as the API has it.
type Application struct {
	Declared *v1alpha1.Application
	Raw      map[string]any
}

// Config is what sets are served with.
type Config struct {
	Host *dialect.Host
	// Namespace is that of the installation.
	Namespace    string
	Feeds        *feeds.Feeds
	Installation Installation
}

// Sets keeps ApplicationSets: it makes, changes and deletes the Applications that they generate, for one set after the
// other. It is safe for concurrent use.
type Sets struct {
	host         *dialect.Host
	namespace    string
	feeds        *feeds.Feeds
	installation Installation
	passes       *rounds.Loop[types.NamespacedName]

	mu   sync.Mutex
	sets map[types.NamespacedName]*setState
}

// setState is one ApplicationSet, and what is known of it.
type setState struct {
	object *unstructured.Unstructured
	// keys are the repositories that its generators read.
	keys []feeds.Key
	// yields are of the last pass, told is why it failed.
	yields map[string]int
	told   string
	// moving names an Application that is on its way.
	moving string
	// passed is the generation that the last pass was about, failed why that failed, at when.
	passed int64
	failed string
	at     time.Time
	// members are the names of the Applications that the generators gave last.
	members map[string]bool
}

// New returns the sets of an installation, none as yet.
func New(c Config) *Sets {
	s := &Sets{host: c.Host, namespace: c.Namespace, feeds: c.Feeds, installation: c.Installation, sets: map[types.NamespacedName]*setState{}}
	s.passes = rounds.New(passes{s}, rounds.Options{Slots: rounds.NewSlots(1), Backoff: backoff, Log: c.Host.Log, Guard: c.Host.Guard})
	return s
}

// Start begins to bring sets to what they declare, until ctx ends.
func (s *Sets) Start(ctx context.Context) { s.passes.Start(ctx) }

// Wait waits until the passes have ended.
func (s *Sets) Wait() { s.passes.Wait() }

func (s *Sets) owner(name types.NamespacedName) string {
	return Kind + "/" + name.String()
}

// serves reports whether the ApplicationSets of a namespace are served here.
func (s *Sets) serves(namespace string) bool {
	return namespace == s.namespace || settings.MatchesAny(s.installation.Settings().AppSets.Namespaces, namespace)
}

// Put takes a set from the watch, or from its writer.
func (s *Sets) Put(u *unstructured.Unstructured) {
	if !s.serves(u.GetNamespace()) {
		return
	}
	name := types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.sets[name]
	if state == nil {
		state = &setState{}
		s.sets[name] = state
	}
	before := state.object
	if before != nil && !declared.Newer(u, before) {
		return
	}
	state.object = u
	if before == nil || before.GetUID() != u.GetUID() || before.GetGeneration() != u.GetGeneration() || asks(before, u) {
		s.passes.Wake(name)
	}
}

// asks reports whether a person asks for something by the metadata of a set.
func asks(before, after *unstructured.Unstructured) bool {
	return after.GetDeletionTimestamp() != nil || !maps.Equal(before.GetAnnotations(), after.GetAnnotations())
}

// Dropped takes that a set is gone.
func (s *Sets) Dropped(u *unstructured.Unstructured) {
	name := types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}
	s.mu.Lock()
	state := s.sets[name]
	delete(s.sets, name)
	s.mu.Unlock()
	s.passes.Forget(name)
	if state == nil {
		return
	}
	s.feeds.Want(s.owner(name), nil)
	if s.host.Metrics != nil {
		s.host.Metrics.ForgetApplicationSet(name.Namespace, name.Name)
	}
}

// WakeAll evaluates every set again.
func (s *Sets) WakeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.sets {
		s.passes.Wake(name)
	}
}

// Fetched wakes the sets that read a repository.
func (s *Sets) Fetched(k feeds.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, state := range s.sets {
		if slices.Contains(state.keys, k) {
			s.passes.Wake(name)
		}
	}
}

// ApplicationChanged wakes the sets that an Application belongs to, and those that wait for them.
func (s *Sets) ApplicationChanged(obj *v1alpha1.Application) {
	s.mu.Lock()
	for _, set := range s.setsOf(obj) {
		s.passes.Wake(set)
	}
	s.mu.Unlock()
	s.wakeParents(obj)
}

// observe reports a problem that no Application reports.
func (s *Sets) observe(what, text string) {
	s.host.Log.Info(text, "of", what)
	s.host.Problem(what, text)
}
