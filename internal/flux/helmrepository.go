package flux

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/declared"
	remotes "github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/source"
)

// helmRepository is a HelmRepository as the origin of a source. Its artifact is the index of its charts.
// One in a registry has neither an index nor a status: it tells only how its charts are fetched.
type helmRepository struct{ *sourcev1.HelmRepository }

func newHelmRepository(u *unstructured.Unstructured) (origin, error) {
	repo, err := declared.Read[sourcev1.HelmRepository](u)
	return helmRepository{repo}, err
}

func (r helmRepository) object() runtime.Object  { return r.HelmRepository }
func (r helmRepository) copy() origin            { return helmRepository{r.DeepCopy()} }
func (r helmRepository) interval() time.Duration { return r.GetRequeueAfter() }
func (r helmRepository) suspended() bool         { return r.Spec.Suspend }
func (r helmRepository) version() string         { return "" }
func (r helmRepository) address() string         { return r.Spec.URL }

func (r helmRepository) from(u *unstructured.Unstructured) (origin, error) {
	return newHelmRepository(u)
}

func (r helmRepository) kind() *sourceKind {
	if r.inRegistry() {
		return helmRegistryKinds
	}
	return helmRepositoryKinds
}

func (r helmRepository) status() sourceStatus {
	s := &r.Status
	return sourceStatus{&s.Conditions, &s.Artifact, &s.ObservedGeneration, &s.LastHandledReconcileAt}
}

// inRegistry tells whether the charts are in a registry.
func (r helmRepository) inRegistry() bool {
	return r.Spec.Type == sourcev1.HelmRepositoryTypeOCI || strings.HasPrefix(r.Spec.URL, sourcev1.OCIRepositoryPrefix)
}

func (r helmRepository) fetch(ctx context.Context, f *feed) (*fetched, error) {
	if r.inRegistry() {
		return nil, f.setStatic(ctx, r)
	}
	registry, err := repositoryAccess(ctx, &f.sources.reach, r.HelmRepository)
	if err != nil {
		return nil, err
	}
	got, err := f.sources.remotes.Index(ctx, f, remotes.Index{
		Options: source.IndexOptions{Access: registry.Access, URL: f.sources.rewritten(r.Spec.URL), PassCredentials: r.Spec.PassCredentials},
		Share:   r.Namespace, Since: f.since(), Previous: f.chartIndex(),
	})
	f.usedOf(got.Began)
	if err != nil {
		return nil, err
	}
	f.setIndex(got.Index)
	out := &fetched{
		began: got.Began,
		ready: func(a *source.Artifact) (string, string) {
			return meta.SucceededReason, fmt.Sprintf("stored artifact: revision '%s'", a.Revision)
		},
		event: func(*source.Artifact) string {
			return fmt.Sprintf("stored fetched index with %d charts from '%s'", len(got.Index.Charts()), withoutCredentials(r.Spec.URL))
		},
		observe: func(origin, *conditions) {},
	}
	if before, stored := f.sources.store.Get(f.key); stored && before.Revision == got.Index.Revision() {
		return out, nil
	}
	out.store = func(store *source.Store, key source.Key) error {
		data, err := got.Index.JSON()
		if err != nil {
			return err
		}
		_, err = store.PutFile(key, got.Index.Revision(), "index.yaml", data, nil, time.Now())
		return err
	}
	return out, nil
}

// setStatic takes from a repository in a registry what it may have from a time when it was another one.
func (f *feed) setStatic(ctx context.Context, r helmRepository) error {
	f.settle()
	if _, stored := f.sources.store.Get(f.key); stored {
		if err := f.sources.store.Delete(f.key); err != nil {
			return err
		}
	}
	if len(r.Status.Conditions) > 0 || r.Status.Artifact != nil {
		writer := declared.Writer{Client: f.client(r), Manager: sourceField}
		if _, err := writer.Patch(ctx, r, map[string]any{"status": nil}, "status"); err != nil {
			return fmt.Errorf("removing the status: %w", err)
		}
	}
	if hasFinalizer(r) {
		if err := setFinalizer(ctx, f.client(r), r, finalizer, false); err != nil {
			return err
		}
	}
	f.mu.Lock()
	f.failure, f.failures, f.index = "", 0, nil
	f.done = f.sources.requestOf(r, time.Now())
	f.mu.Unlock()
	f.sources.changed(f.key)
	return errPending
}

// repositoryAccess reads how a repository of charts is reached.
func repositoryAccess(ctx context.Context, s *reach, repo *sourcev1.HelmRepository) (source.RegistryAccess, error) {
	if err := genericOnly(repo.Spec.Provider); err != nil {
		return source.RegistryAccess{}, err
	}
	timeout := repo.Spec.Timeout
	return s.registryAccess(ctx, references{
		namespace: repo.Namespace, login: repo.Spec.SecretRef, certs: repo.Spec.CertSecretRef,
		insecure: repo.Spec.Insecure, timeout: timeout,
	})
}

// chartIndex returns the index that a repository of charts has, nil when there is none.
func (f *feed) chartIndex() *source.Index {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.index != nil {
		return f.index
	}
	a, stored := f.sources.store.Get(f.key)
	if !stored || a.File == nil {
		return nil
	}
	data, err := a.File.Read()
	if err != nil {
		return nil
	}
	index, err := source.ParseIndex(bytes.NewReader(data), a.Revision)
	if err != nil {
		return nil
	}
	f.index = index
	return index
}

func (f *feed) setIndex(index *source.Index) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index = index
}
