package flux

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	remotes "github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// sources runs the sources of a cluster and answers for their artifacts.
type sources struct {
	reach

	client  dynamic.Interface
	secrets kubernetes.Interface
	store   *source.Store
	events  events
	// rewrite answers with the URL and credentials to fetch from instead of a URL, if there are any.
	rewrite  func(url string) (source.Local, bool)
	rewrites atomic.Pointer[source.Rewrites]
	problem  func(subject, text string)
	passed   func(kind, namespace, name string, took time.Duration, ok bool)
	// remotes are the repositories that are fetched; slots bound the generators that work at a time.
	remotes *remotes.Feed
	slots   *rounds.Slots
	passes  *rounds.Loop[source.Key]
	ctx     context.Context
	wg      sync.WaitGroup

	// elsewhere is set when another controller fetches the sources of this cluster: what it publishes is read.
	elsewhere bool
	// sharded is set when other engines serve sources of this cluster as well.
	sharded bool

	objects *cluster.Objects
	made    madeHere
	// standIns is nil where everything is real.
	standIns standIns
	charts   madeForReleases
	readers  []reader

	mu    sync.RWMutex
	feeds map[source.Key]*feed
	read  map[engine.ObjectID]readSecret
	apps  map[source.Key]*source.App
	// listed is closed when all sources are known that there were at the start.
	listed chan struct{}
}

// madeHere are the ExternalArtifacts that generators of this engine make from other sources.
type madeHere interface {
	// wakeReaders has those generators reconciled that read a source, or make it.
	wakeReaders(key source.Key)
	// settled reports whether an ExternalArtifact is made here and, if so, whether a feed may have what was made.
	settled(ctx context.Context, o *sourcev1.ExternalArtifact, f *feed) (here, settled bool, err error)
	// parts are the sources that an ExternalArtifact is made from here.
	parts(o *sourcev1.ExternalArtifact) []source.Key
	// latest reports whether it is made from what its sources have now, and why that failed if it did.
	latest(o *sourcev1.ExternalArtifact) (latest bool, failure string)
	// retry has its generator try again what failed.
	retry(o *sourcev1.ExternalArtifact)
}

// madeForReleases are the HelmCharts that HelmReleases declare, which are made here.
type madeForReleases interface {
	// failure says why one could not be made, if that is so.
	failure(key source.Key) string
	// awaited tells whether one is about to be made.
	awaited(key source.Key) bool
	// outdated tells that one is not what its release declares.
	outdated(c helmChart) bool
}

// reader is notified when a source may have changed.
type reader interface {
	SourceChanged(id engine.SourceID)
}

// standIns make stand-ins of what sources cannot get, where they may.
type standIns interface {
	// standIn is for a source, by the object that declares it; the error is why there is nothing else.
	standIn(o origin, id engine.SourceID, failure error) (*fetched, bool)
}

// newSources returns the sources of a cluster, which are fetched until ctx ends; they join what makes some of them, and what reads
// them, before the first object is read.
func newSources(ctx context.Context, t tools) *sources {
	s := &sources{
		client: t.Home.Dynamic, objects: t.Home.Objects,
		secrets: t.secrets, store: t.Store, events: t.events, rewrite: t.Local, problem: t.Problem,
		passed: t.Metrics.Pass, remotes: t.Feed, slots: rounds.NewSlots(composes), ctx: ctx, feeds: map[source.Key]*feed{},
		read: map[engine.ObjectID]readSecret{}, listed: make(chan struct{}), elsewhere: !t.Serve.Serves(sourceGroup.Name),
		sharded: t.Selector != "",
	}
	s.reach = reach{rules: s.rewriting, spill: t.Store.SpillDir(), held: s.heldSecret, account: s.heldAccount}
	s.setRewrites(t.Rewrites)
	s.start()
	return s
}

// join has the sources know what makes some of them, and notify what reads them.
func (s *sources) join(made madeHere, charts madeForReleases, readers ...reader) {
	s.made, s.charts, s.readers = made, charts, readers
}

// start begins with the passes over sources.
func (s *sources) start() {
	s.passes = rounds.New(s, rounds.Options{})
	s.passes.Start(s.ctx)
	s.wg.Go(func() {
		s.passes.Wait()
		s.mu.RLock()
		defer s.mu.RUnlock()
		for _, f := range s.feeds {
			f.end()
		}
	})
}

// Pass fetches a source when that is due.
func (s *sources) Pass(ctx context.Context, key source.Key) rounds.Next {
	f, known := s.feed(key)
	if !known {
		return rounds.Rest()
	}
	next := f.pass(ctx)
	f.mu.Lock()
	f.again = f.nudged
	f.mu.Unlock()
	return next
}

// Share is the namespace of a source.
func (s *sources) Share(key source.Key) string { return key.Namespace }

// put takes a source from the watch.
func (s *sources) put(o origin) {
	key := sourceKey(o.kind().name, o.GetNamespace(), o.GetName())
	s.mu.Lock()
	f, ok := s.feeds[key]
	if !ok {
		f = &feed{sources: s, key: key}
		s.feeds[key] = f
	}
	s.mu.Unlock()
	before := f.current()
	f.put(o)
	switch {
	case !ok:
		s.changed(key)
	case before != nil && !slices.Equal(includesOf(before), includesOf(o)):
		// It may close or open a cycle.
		s.wakeComposed(key)
	case key.Kind == sourcev1.ExternalArtifactKind:
		// The generator checks whether it is still as it was made.
		s.made.wakeReaders(key)
	}
}

// dropped takes a source that is gone.
func (s *sources) dropped(kind *sourceKind) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		key := sourceKey(kind.name, u.GetNamespace(), u.GetName())
		s.mu.Lock()
		f, ok := s.feeds[key]
		delete(s.feeds, key)
		delete(s.apps, key)
		s.mu.Unlock()
		s.passes.Forget(key)
		if ok {
			// A pass that is under way ends soon, and is not waited for here.
			go f.end()
		}
		s.changed(key)
	}
}

// waitListed waits until all sources are known that there were at the start.
func (s *sources) waitListed(ctx context.Context) error {
	select {
	case <-s.listed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *sources) feed(key source.Key) (*feed, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f, known := s.feeds[key]
	return f, known
}

// changed notifies the readers of a source that it may have changed.
func (s *sources) changed(key source.Key) {
	s.notify(engine.SourceID(key))
	s.wakeComposed(key)
	s.made.wakeReaders(key)
}

func (s *sources) notify(id engine.SourceID) {
	for _, r := range s.readers {
		r.SourceChanged(id)
	}
}

func (s *sources) tell(key source.Key, text string) {
	s.problem(key.Kind+" "+key.Namespace+"/"+key.Name, text)
}

// originRevision is the annotation that tells from what an artifact was built.
const originRevision = "org.opencontainers.image.revision"

// Source answers the runner.
func (s *sources) Source(id engine.SourceID) (engine.SourceFact, *source.Artifact) {
	key := source.Key(id)
	f, known := s.feed(key)
	if !known {
		if why := s.charts.failure(key); why != "" {
			return engine.SourceFact{Message: why}, nil
		}
		if s.declared(id) {
			return engine.SourceFact{Pending: true, Message: id.String() + " was just declared"}, nil
		}
		return engine.SourceFact{Pending: s.charts.awaited(key), Message: id.String() + " does not exist"}, nil
	}
	settled, failure := f.state()
	if a, ok := s.store.Get(key); ok && settled {
		if late := s.late(f, a); late != "" {
			return engine.SourceFact{Found: true, Pending: failure == "", Message: withFailure(late, failure)}, nil
		}
		fact := engine.SourceFact{Found: true, Revision: a.Revision, Digest: a.Digest, Origin: a.Metadata[originRevision]}
		if a.Tree != nil {
			fact.Digest = a.Tree.Digest()
		}
		return fact, a
	}
	if failure != "" {
		return engine.SourceFact{Found: true, Pending: f.asked(), Message: id.String() + " has no artifact: " + failure}, nil
	}
	return engine.SourceFact{Found: true, Pending: true, Message: id.String() + " has no artifact yet"}, nil
}

// declared tells whether a source exists of which its watch has not told yet.
func (s *sources) declared(id engine.SourceID) bool {
	if s.objects == nil || s.elsewhere || s.sharded {
		return false
	}
	_, there := s.objects.Get(id.Object())
	return there
}

// late says that a chart is not yet what is declared: a release that took the former one would be upgraded
// twice, and once to what was never declared. The files of other sources stay in use until there are new ones.
func (s *sources) late(f *feed, a *source.Artifact) string {
	o := f.current()
	if !s.hasFile(o, a) || o.kind().foreign || o.suspended() {
		return ""
	}
	if c, ok := o.(helmChart); ok && s.charts.outdated(c) {
		return fmt.Sprintf("%s is about to change", engine.SourceID(f.key))
	}
	if !s.elsewhere && f.fetchedFor(o) || *o.status().generation == o.GetGeneration() {
		return ""
	}
	return fmt.Sprintf("generation %d of %s has not been fetched", o.GetGeneration(), engine.SourceID(f.key))
}

// standIn is what stands in for the content of a source, if anything may.
func (s *sources) standIn(o origin, id engine.SourceID, failure error) (*fetched, bool) {
	if s.standIns == nil {
		return nil, false
	}
	return s.standIns.standIn(o, id, failure)
}

func withFailure(text, failure string) string {
	if failure == "" {
		return text
	}
	return text + ": " + failure
}

// nudgeURL has every source fetched whose URL, or whose stand-in, is the given one.
func (s *sources) nudgeURL(matches func(url string) bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, f := range s.feeds {
		if o := f.current(); o != nil && o.address() != "" && matches(o.address()) {
			f.nudge()
		}
	}
}

// failing are the sources whose last fetch failed.
func (s *sources) failing() []*feed {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var failing []*feed
	for _, f := range s.feeds {
		if _, failure := f.state(); failure != "" {
			failing = append(failing, f)
		}
	}
	return failing
}

// options reads how a GitRepository is fetched.
func (s *sources) options(ctx context.Context, repo *sourcev1.GitRepository) (source.GitOptions, error) {
	if err := unsupportedGit(repo); err != nil {
		return source.GitOptions{}, err
	}
	var err error
	o := source.GitOptions{
		URL: s.rewritten(repo.Spec.URL), Ignore: repo.Spec.Ignore, Sparse: repo.Spec.SparseCheckout,
		RecurseSubmodules: repo.Spec.RecurseSubmodules, SpillDir: s.store.SpillDir(),
	}
	if repo.Spec.Timeout != nil {
		o.Timeout = repo.Spec.Timeout.Duration
	}
	o.Ref = selectionOf(repo)
	if o.Verify, err = s.verification(ctx, repo); err != nil {
		return o, err
	}
	if s.rewrite != nil {
		if local, ok := s.rewrite(repo.Spec.URL); ok {
			// A working copy is its user's own; what is not committed yet cannot be signed.
			o.URL, o.Username, o.Password, o.Verify = local.URL, local.Username, local.Password, nil
			return o, nil
		}
	}
	if repo.Spec.ProxySecretRef != nil {
		if o.Proxy, err = s.proxy(ctx, repo.Namespace, repo.Spec.ProxySecretRef.Name); err != nil {
			return o, &sourceFailure{reason: sourcev1.AuthenticationFailedReason, err: err}
		}
	}
	err = s.login(ctx, repo, &o)
	return o, err
}

// verification reads the keys by which a GitRepository has to be signed.
func (s *sources) verification(ctx context.Context, repo *sourcev1.GitRepository) (*source.Verification, error) {
	verify := repo.Spec.Verification
	if verify == nil {
		return nil, nil
	}
	data, err := s.secret(ctx, repo.Namespace, "spec.verify.secretRef", verify.SecretRef.Name)
	if err != nil {
		return nil, &sourceFailure{reason: reasonVerification, err: err}
	}
	return &source.Verification{Commit: verify.VerifyHEAD(), Tag: verify.VerifyTag(), Keys: data}, nil
}

// heldSecret reads a Secret. A poll finds it in memory while its watch has nothing new to say.
func (s *sources) heldSecret(ctx context.Context, namespace, name string) (map[string][]byte, error) {
	id := engine.ObjectID{Kind: "Secret", Namespace: namespace, Name: name}
	s.objects.Follow(id, "v1")
	rec, exists := s.objects.Get(id)
	s.mu.RLock()
	known, read := s.read[id]
	s.mu.RUnlock()
	if exists && read && known.version == strconv.FormatUint(rec.ResourceVersion, 10) {
		return known.data, nil
	}
	held, err := s.secrets.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.read, id)
		return nil, err
	}
	s.read[id] = readSecret{version: held.ResourceVersion, data: held.Data}
	return held.Data, nil
}

// heldAccount reads a ServiceAccount.
func (s *sources) heldAccount(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	return s.secrets.CoreV1().ServiceAccounts(namespace).Get(ctx, name, metav1.GetOptions{})
}

// readSecret is a Secret as it was read last.
type readSecret struct {
	version string
	data    map[string][]byte
}

// all returns the objects that declare sources, in no order.
func (s *sources) all() []origin {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []origin
	for _, f := range s.feeds {
		if o := f.current(); o != nil {
			all = append(all, o)
		}
	}
	return all
}

// readable returns the artifact of a source that a generator reads.
func (s *sources) readable(key source.Key) (*source.Artifact, error) {
	f, known := s.feed(key)
	if !known {
		return nil, fmt.Errorf("%s does not exist", engine.SourceID(key))
	}
	o := f.current()
	settled, failure := f.state()
	a, stored := s.store.Get(key)
	switch {
	case o == nil || !settled && o.GetDeletionTimestamp() == nil:
		return nil, errPending
	case stored:
		return a, nil
	case failure != "":
		return nil, fmt.Errorf("%s has no artifact: %s", engine.SourceID(key), failure)
	default:
		return nil, fmt.Errorf("%s has no artifact yet", engine.SourceID(key))
	}
}

// generatedBy are the feeds of the ExternalArtifacts of a generator.
func (s *sources) generatedBy(id types.NamespacedName) []*feed {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var feeds []*feed
	for _, f := range s.feeds {
		o, ok := f.current().(externalArtifact)
		if !ok {
			continue
		}
		if by, made := generatorOf(o.ExternalArtifact); made && by == id {
			feeds = append(feeds, f)
		}
	}
	return feeds
}
