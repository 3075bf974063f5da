package argo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/headgate-dev/headgate/internal/source"
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
	// Put takes an Application as a write left it.
	Put(u *unstructured.Unstructured)
	// Moving tells whether an automated Application is on its way to what it declares, and why it has not arrived.
	Moving(app types.NamespacedName) (why string, moving bool)
	// Behind tells whether an Application has yet to be compared with what its sources hold now.
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
	// members are the names of the Applications that the generators gave last.
	members map[string]bool
}

// NewSets returns the sets of an installation, none as yet.
func NewSets(c Config) *Sets {
	s := &Sets{host: c.Host, namespace: c.Namespace, feeds: c.Feeds, installation: c.Installation, sets: map[types.NamespacedName]*setState{}}
	s.passes = rounds.New(passes{s}, rounds.Options{Slots: rounds.NewSlots(1), Backoff: backoff, Log: c.Host.Log})
	return s
}

// Start begins to bring sets to what they declare, until ctx ends.
func (s *Sets) Start(ctx context.Context) { s.passes.Start(ctx) }

// Wait waits until the passes have ended.
func (s *Sets) Wait() { s.passes.Wait() }

func (s *Sets) owner(name types.NamespacedName) string {
	return Kind + "/" + name.String()
}

// serves tells whether the ApplicationSets of a namespace are served here.
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

// asks tells whether a person asks for something by the metadata of a set.
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

// Passes that failed are made again after backoff.
var backoff = rounds.Backoff{Min: time.Second, Max: retryMax}

const (
	retryMax = 3 * time.Minute
	// soon is when a rollout that moved is evaluated again.
	soon = time.Millisecond
)

// passes are those over the sets.
type passes struct{ *Sets }

// Share is the namespace of a set.
func (passes) Share(name types.NamespacedName) string { return name.Namespace }

// Pass brings one set to what it declares.
func (s passes) Pass(ctx context.Context, name types.NamespacedName) rounds.Next {
	s.mu.Lock()
	state := s.sets[name]
	if state == nil {
		s.mu.Unlock()
		return rounds.Rest()
	}
	object := state.object
	s.mu.Unlock()
	began := time.Now()
	again, err := s.reconcile(ctx, name, state, object)
	if s.host.Metrics != nil {
		s.host.Metrics.Generated(name.Namespace, name.Name, time.Since(began))
	}
	switch {
	case errors.Is(err, feeds.ErrPending), ctx.Err() != nil:
		return rounds.Rest()
	case err != nil:
		if state.told != err.Error() {
			s.observe(s.owner(name), err.Error())
		}
		state.told = err.Error()
		return rounds.Retry(err)
	}
	state.told = ""
	if again > 0 {
		return rounds.After(again)
	}
	return rounds.Rest()
}

// reconcile brings the Applications of a set to what it generates, and writes its status.
func (s *Sets) reconcile(ctx context.Context, name types.NamespacedName, state *setState, object *unstructured.Unstructured) (time.Duration, error) {
	set, err := appset.Read(object)
	if err != nil {
		return 0, err
	}
	if set.DeletionTimestamp != nil {
		return 0, s.finalize(ctx, set)
	}
	if set.Annotations[v1alpha1.ApplicationSetRefreshAnnotation] == "true" {
		s.feeds.Refresh(state.keys)
		done := map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.ApplicationSetRefreshAnnotation: nil}}}
		if err := s.wrote(s.writer().Patch(ctx, set, done)); err != nil {
			return 0, fmt.Errorf("removing the annotation %s: %w", v1alpha1.ApplicationSetRefreshAnnotation, err)
		}
	}
	options := s.installation.Settings().AppSets
	facts := &setFacts{sets: s, state: state}
	generated, err := appset.Generate(ctx, set, facts, appset.Options{HiddenDirectories: s.installation.Settings().Fetching.HiddenDirectories, NewGlobbing: options.NewGlobbing})
	s.follow(name, state, facts.keys, err)
	if errors.Is(err, feeds.ErrPending) {
		return 0, err
	}
	outcome := appset.Outcome{Generate: err, Problems: generated.Problems, MaxResources: options.MaxResources, Now: time.Now()}
	var plan appset.Plan
	if err == nil {
		plan, outcome.Generate = appset.MakePlan(ctx, set, generated, s.existing(set), s.planOptions(set, state, options))
	}
	if outcome.Generate == nil {
		s.remember(state, generated)
		outcome.Refused = plan.Refused
		if !options.DryRun {
			outcome.Write = s.write(ctx, plan)
		}
		state.yields = plan.Yields
		if options.Progressive {
			outcome.Rollout, err = s.rollout(ctx, set, generated, plan)
			outcome.Write = errors.Join(outcome.Write, err)
		}
	}
	outcome.Applications = appset.Members(set, generated, s.existing(set))
	if err := s.report(ctx, set, outcome); err != nil {
		return 0, err
	}
	return requeueOf(set, outcome), outcome.Err()
}

// requeueOf is when a rollout is evaluated again although nothing changed.
func requeueOf(set *appset.Set, o appset.Outcome) time.Duration {
	switch {
	case o.Rollout.Active && !sameStatuses(set.Status.ApplicationStatus, o.Rollout.Statuses):
		// A pass takes each Application one state further, and what is next may be so already.
		return soon
	case o.Rollout.Step > 0:
		return retryMax
	}
	return 0
}

// sameStatuses tells whether two lists say the same in the API, which knows no fractions of seconds.
func sameStatuses(a, b []v1alpha1.ApplicationSetApplicationStatus) bool {
	before, err := json.Marshal(a)
	after, failed := json.Marshal(b)
	return err == nil && failed == nil && bytes.Equal(before, after)
}

func (s *Sets) planOptions(set *appset.Set, state *setState, o settings.ApplicationSets) appset.PlanOptions {
	return appset.PlanOptions{
		Policy:               policyOf(set, o),
		PreservedAnnotations: o.PreservedAnnotations, PreservedLabels: o.PreservedLabels, Managers: []string{appset.UpstreamManager},
		Progressive: o.Progressive, Previous: state.yields, Now: time.Now(),
	}
}

func policyOf(set *appset.Set, o settings.ApplicationSets) appset.Policy {
	return appset.PolicyOf(set, v1alpha1.ApplicationsSyncPolicy(o.Policy), o.PolicyOverride || o.Policy == "")
}

// follow has the repositories followed that the generators read. After an error they may not have come to all of them.
func (s *Sets) follow(name types.NamespacedName, state *setState, keys []feeds.Key, err error) {
	s.mu.Lock()
	if err != nil {
		for _, k := range state.keys {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	changed := !slices.Equal(state.keys, keys)
	state.keys = keys
	s.mu.Unlock()
	if !changed {
		return
	}
	s.feeds.Want(s.owner(name), keys)
	if errors.Is(err, feeds.ErrPending) {
		// What was being fetched may have come before it was known that this set waits for it.
		s.passes.Wake(name)
	}
}

// existing are the Applications of the namespace of a set.
func (s *Sets) existing(set *appset.Set) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, one := range s.installation.Applications(set.Namespace) {
		if one.Raw != nil {
			all = append(all, &unstructured.Unstructured{Object: one.Raw})
		}
	}
	return all
}

// observe reports a problem that no Application reports.
func (s *Sets) observe(what, text string) {
	s.host.Log.Info(text, "of", what)
	s.host.Problem(what, text)
}

// setFacts are what generators read.
type setFacts struct {
	sets  *Sets
	state *setState
	keys  []feeds.Key
}

func (f *setFacts) Clusters(context.Context) ([]settings.Cluster, error) {
	return f.sets.installation.Settings().Every(), nil
}

func (f *setFacts) Tree(_ context.Context, repoURL, revision, project string) (*source.Tree, string, error) {
	k := feeds.KeyOf(v1alpha1.ApplicationSource{RepoURL: repoURL, TargetRevision: revision}, project)
	if !slices.Contains(f.keys, k) {
		f.keys = append(f.keys, k)
	}
	state := f.sets.feeds.Get(k)
	switch {
	case state.Has():
		return state.Tree, state.Revision, nil
	case state.Settled:
		return nil, "", fmt.Errorf("%s: %w", repoURL, state.Err)
	}
	return nil, "", feeds.ErrPending
}
