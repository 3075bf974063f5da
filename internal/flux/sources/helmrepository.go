package sources

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
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/source"
)

// HelmRepository is a HelmRepository as the origin of a source. Its artifact is the index of its charts.
// One in a registry has neither an index nor a status: it tells only how its charts are fetched.
type HelmRepository struct{ *sourcev1.HelmRepository }

func newHelmRepository(u *unstructured.Unstructured) (Origin, error) {
	repo, err := declared.Read[sourcev1.HelmRepository](u)
	return HelmRepository{repo}, err
}

// Object is the object itself.
func (r HelmRepository) Object() runtime.Object  { return r.HelmRepository }
func (r HelmRepository) copy() Origin            { return HelmRepository{r.DeepCopy()} }
func (r HelmRepository) interval() time.Duration { return r.GetRequeueAfter() }

// Suspended reports whether it is not to be fetched.
func (r HelmRepository) Suspended() bool { return r.Spec.Suspend }
func (r HelmRepository) version() string { return "" }

// Address is the URL that it is fetched from; it is empty when it has none of its own.
func (r HelmRepository) Address() string { return r.Spec.URL }

func (r HelmRepository) from(u *unstructured.Unstructured) (Origin, error) {
	return newHelmRepository(u)
}

// SourceKind is how sources of this kind are served.
func (r HelmRepository) SourceKind() *SourceKind {
	if r.InRegistry() {
		return helmRegistryKinds
	}
	return helmRepositoryKinds
}

// State are the parts of its status that every source has.
func (r HelmRepository) State() Status {
	s := &r.Status
	return Status{&s.Conditions, &s.Artifact, &s.ObservedGeneration, &s.LastHandledReconcileAt}
}

// InRegistry reports whether the charts are in a registry.
func (r HelmRepository) InRegistry() bool {
	return r.Spec.Type == sourcev1.HelmRepositoryTypeOCI || strings.HasPrefix(r.Spec.URL, sourcev1.OCIRepositoryPrefix)
}

func (r HelmRepository) fetch(ctx context.Context, f *Feed) (*Fetched, error) {
	if r.InRegistry() {
		return nil, f.setStatic(ctx, r)
	}
	registry, err := repositoryAccess(ctx, &f.sources.Reach, r.HelmRepository)
	if err != nil {
		return nil, err
	}
	got, err := f.sources.remotes.Index(ctx, f, remotes.Index{
		Options: source.IndexOptions{Access: registry.Access, URL: f.sources.Rewritten(r.Spec.URL), PassCredentials: r.Spec.PassCredentials},
		Share:   r.Namespace, Since: f.since(), Previous: f.chartIndex(),
	})
	f.usedOf(got.Began)
	if err != nil {
		return nil, err
	}
	f.setIndex(got.Index)
	out := &Fetched{
		began: got.Began,
		Ready: func(a *source.Artifact) (string, string) {
			return meta.SucceededReason, fmt.Sprintf("stored artifact: revision '%s'", a.Revision)
		},
		Event: func(*source.Artifact) string {
			return fmt.Sprintf("stored fetched index with %d charts from '%s'", len(got.Index.Charts()), redaction.Text(r.Spec.URL))
		},
		Observe: func(Origin, *toolkit.Conditions) {},
	}
	if before, stored := f.sources.Store.Get(f.Key); stored && before.Revision == got.Index.Revision() {
		return out, nil
	}
	out.Store = func(store *source.Store, key source.Key) error {
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
func (f *Feed) setStatic(ctx context.Context, r HelmRepository) error {
	f.Settle()
	if _, stored := f.sources.Store.Get(f.Key); stored {
		if err := f.sources.Store.Delete(f.Key); err != nil {
			return err
		}
	}
	// Its definition gives a new object, and one whose status is removed, the generation -1, with which it is never current: each
	// field goes, and the status stays, empty.
	writer := declared.Writer{Client: f.client(r), Manager: toolkit.SourceField}
	if _, err := writer.Status(ctx, r, r.Status, sourcev1.HelmRepositoryStatus{}); err != nil {
		return err
	}
	if toolkit.HasFinalizer(r) {
		if err := toolkit.SetFinalizer(ctx, f.client(r), r, toolkit.Finalizer, false); err != nil {
			return err
		}
	}
	f.mu.Lock()
	f.failure, f.failures, f.index = "", 0, nil
	f.done = f.sources.requestOf(r, time.Now())
	f.mu.Unlock()
	f.sources.changed(f.Key)
	return ErrPending
}

// repositoryAccess reads how a repository of charts is reached.
func repositoryAccess(ctx context.Context, s *access.Reach, repo *sourcev1.HelmRepository) (source.RegistryAccess, error) {
	if err := GenericOnly(repo.Spec.Provider); err != nil {
		return source.RegistryAccess{}, err
	}
	timeout := repo.Spec.Timeout
	return s.RegistryAccess(ctx, access.References{
		Namespace: repo.Namespace, Login: repo.Spec.SecretRef, Certs: repo.Spec.CertSecretRef,
		Insecure: repo.Spec.Insecure, Timeout: timeout,
	})
}

// chartIndex returns the index that a repository of charts has, nil when there is none.
func (f *Feed) chartIndex() *source.Index {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.index != nil {
		return f.index
	}
	a, stored := f.sources.Store.Get(f.Key)
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

func (f *Feed) setIndex(index *source.Index) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index = index
}
