package flux

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/source"
)

// sources runs the GitRepositories of a cluster and answers for their artifacts.
type sources struct {
	client  dynamic.Interface
	secrets kubernetes.Interface
	store   *source.Store
	events  events
	// rewrite answers with the URL and credentials to fetch from instead of a URL, if there are any.
	rewrite func(url string) (Local, bool)
	notify  func(engine.SourceID)
	observe func(engine.SourceID, string)
	passed  func(kind, namespace, name string, took time.Duration, ok bool)
	slots   chan struct{}
	ctx     context.Context
	wg      sync.WaitGroup

	objects *cluster.Objects

	mu   sync.RWMutex
	gits map[source.Key]*gitSource
	read map[engine.ObjectID]readSecret
	apps map[source.Key]*source.App
	// listed is closed when all sources are known that there were at the start.
	listed chan struct{}
}

// Local is a repository that is served from here.
type Local struct {
	URL, Username, Password string
}

func asGitRepository(u *unstructured.Unstructured) (*sourcev1.GitRepository, error) {
	repo := &sourcev1.GitRepository{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, repo); err != nil {
		return nil, fmt.Errorf("reading GitRepository %s/%s: %w", u.GetNamespace(), u.GetName(), err)
	}
	return repo, nil
}

func keyOf(repo *sourcev1.GitRepository) source.Key {
	return source.Key{Kind: sourcev1.GitRepositoryKind, Namespace: repo.Namespace, Name: repo.Name}
}

// put takes a GitRepository from the watch.
func (s *sources) put(repo *sourcev1.GitRepository) {
	key := keyOf(repo)
	s.mu.Lock()
	g, ok := s.gits[key]
	if !ok {
		g = &gitSource{sources: s, key: key, wake: make(chan struct{}, 1)}
		ctx, stop := context.WithCancel(s.ctx)
		g.stop = stop
		s.gits[key] = g
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			g.run(ctx)
		}()
	}
	s.mu.Unlock()
	before := g.current()
	g.put(repo)
	switch {
	case !ok:
		s.changed(key)
	case before != nil && !slices.Equal(before.Spec.Include, repo.Spec.Include):
		// It may close or open a cycle.
		s.wakeIncluders(key)
	}
}

// dropped takes a GitRepository that is gone.
func (s *sources) dropped(u *unstructured.Unstructured) {
	key := source.Key{Kind: sourcev1.GitRepositoryKind, Namespace: u.GetNamespace(), Name: u.GetName()}
	s.mu.Lock()
	if g, ok := s.gits[key]; ok {
		g.stop()
		delete(s.gits, key)
		delete(s.apps, key)
	}
	s.mu.Unlock()
	s.changed(key)
}

// changed tells whoever reads a source that it may have changed.
func (s *sources) changed(key source.Key) {
	s.notify(engine.SourceID(key))
	s.wakeIncluders(key)
}

func (s *sources) tell(key source.Key, text string) {
	if s.observe != nil {
		s.observe(engine.SourceID(key), text)
	}
}

// Source answers the runner.
func (s *sources) Source(id engine.SourceID) (engine.SourceFact, *source.Tree) {
	key := source.Key(id)
	s.mu.RLock()
	g, known := s.gits[key]
	s.mu.RUnlock()
	if !known {
		return engine.SourceFact{Message: id.String() + " does not exist"}, nil
	}
	settled, failure := g.state()
	if a, ok := s.store.Get(key); ok && settled {
		return engine.SourceFact{Found: true, Revision: a.Revision, Digest: a.Tree.Digest()}, a.Tree
	}
	if failure != "" {
		return engine.SourceFact{Found: true, Message: id.String() + " has no artifact: " + failure}, nil
	}
	return engine.SourceFact{Found: true, Pending: true, Message: id.String() + " has no artifact yet"}, nil
}

// nudgeURL has every source fetched whose URL, or whose stand-in, is the given one.
func (s *sources) nudgeURL(matches func(url string) bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, g := range s.gits {
		if repo := g.current(); repo != nil && matches(repo.Spec.URL) {
			g.nudge()
		}
	}
}

// unsupportedError names a field that would have to be ignored.
type unsupportedError struct{ field, hint string }

func (e *unsupportedError) Error() string { return e.field + " is not supported: " + e.hint }

// options reads how a GitRepository is fetched.
func (s *sources) options(ctx context.Context, repo *sourcev1.GitRepository) (source.GitOptions, error) {
	if err := unsupportedGit(repo); err != nil {
		return source.GitOptions{}, err
	}
	var err error
	o := source.GitOptions{
		URL: repo.Spec.URL, Ignore: repo.Spec.Ignore, Sparse: repo.Spec.SparseCheckout,
		RecurseSubmodules: repo.Spec.RecurseSubmodules, SpillDir: s.store.SpillDir(),
	}
	if repo.Spec.Timeout != nil {
		o.Timeout = repo.Spec.Timeout.Duration
	}
	if ref := repo.Spec.Reference; ref != nil {
		o.Ref = source.GitRef{Branch: ref.Branch, Tag: ref.Tag, SemVer: ref.SemVer, Name: ref.Name, Commit: ref.Commit}
	}
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
		if o.Proxy, err = s.proxy(ctx, repo); err != nil {
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
	data, err := s.secret(ctx, repo, "spec.verify.secretRef", verify.SecretRef.Name)
	if err != nil {
		return nil, &sourceFailure{reason: reasonVerification, err: err}
	}
	return &source.Verification{Commit: verify.VerifyHEAD(), Tag: verify.VerifyTag(), Keys: data}, nil
}

// orBytes returns the first of two values of a Secret that is there: the second has the older key.
func orBytes(value, older []byte) []byte {
	if len(value) > 0 {
		return value
	}
	return older
}

// secret reads the Secret that a field names. A poll finds it in memory while its watch has nothing new
// to say.
func (s *sources) secret(ctx context.Context, repo *sourcev1.GitRepository, field, name string) (map[string][]byte, error) {
	id := engine.ObjectID{Kind: "Secret", Namespace: repo.Namespace, Name: name}
	s.objects.Follow(id, "v1")
	rec, exists := s.objects.Get(id)
	s.mu.RLock()
	known, read := s.read[id]
	s.mu.RUnlock()
	if exists && read && known.version == strconv.FormatUint(rec.ResourceVersion, 10) {
		return known.data, nil
	}
	held, err := s.secrets.CoreV1().Secrets(repo.Namespace).Get(ctx, name, metav1.GetOptions{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.read, id)
		return nil, fmt.Errorf("%s: reading Secret %q: %w", field, repo.Namespace+"/"+name, err)
	}
	s.read[id] = readSecret{version: held.ResourceVersion, data: held.Data}
	return held.Data, nil
}

// readSecret is a Secret as it was read last.
type readSecret struct {
	version string
	data    map[string][]byte
}

// proxy reads the proxy of a GitRepository as a URL with its credentials.
func (s *sources) proxy(ctx context.Context, repo *sourcev1.GitRepository) (string, error) {
	const field = "spec.proxySecretRef"
	name := repo.Spec.ProxySecretRef.Name
	data, err := s.secret(ctx, repo, field, name)
	if err != nil {
		return "", err
	}
	address, err := url.Parse(string(data["address"]))
	if err != nil || address.Host == "" {
		return "", fmt.Errorf("%s: Secret %q: address must be a URL", field, repo.Namespace+"/"+name)
	}
	if user := string(data["username"]); user != "" {
		address.User = url.UserPassword(user, string(data["password"]))
	}
	return address.String(), nil
}
