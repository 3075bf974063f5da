package sources

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/declared"
	remotes "github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
)

// OCIRepository is an OCIRepository as the origin of a source.
type OCIRepository struct{ *sourcev1.OCIRepository }

// NewOCIRepository reads an OCIRepository.
func NewOCIRepository(u *unstructured.Unstructured) (Origin, error) {
	repo, err := declared.Read[sourcev1.OCIRepository](u)
	return OCIRepository{repo}, err
}

// Object is the object itself.
func (r OCIRepository) Object() runtime.Object { return r.OCIRepository }
func (r OCIRepository) copy() Origin           { return OCIRepository{r.DeepCopy()} }

// SourceKind is how sources of this kind are served.
func (r OCIRepository) SourceKind() *SourceKind { return OCIRepositoryKinds }
func (r OCIRepository) interval() time.Duration { return r.Spec.Interval.Duration }

// Suspended reports whether it is not to be fetched.
func (r OCIRepository) Suspended() bool { return r.Spec.Suspend }
func (r OCIRepository) version() string { return "" }

// Address is the URL that it is fetched from; it is empty when it has none of its own.
func (r OCIRepository) Address() string { return r.Spec.URL }

func (r OCIRepository) from(u *unstructured.Unstructured) (Origin, error) { return NewOCIRepository(u) }

// State are the parts of its status that every source has.
func (r OCIRepository) State() Status {
	s := &r.Status
	return Status{&s.Conditions, &s.Artifact, &s.ObservedGeneration, &s.LastHandledReconcileAt}
}

func (r OCIRepository) fetch(ctx context.Context, f *Feed) (*Fetched, error) {
	if f.sources.rewrite != nil {
		if local, ok := f.sources.rewrite(r.Spec.URL); ok {
			return r.fetchLocal(ctx, f, local)
		}
	}
	options, err := OCIOptions(ctx, &f.sources.Reach, r.OCIRepository)
	if err != nil {
		return nil, err
	}
	same, known := f.look("", r)
	if !known {
		same = reflect.DeepEqual(r.Status.ObservedIgnore, r.Spec.Ignore) &&
			reflect.DeepEqual(r.Status.ObservedLayerSelector, r.Spec.LayerSelector)
	}
	signed := ""
	if options.Verify != nil {
		signed = keysDigest(options.Verify.Keys)
		same = same && f.signed == signed && apimeta.IsStatusConditionTrue(r.Status.Conditions, sourcev1.SourceVerifiedCondition)
	}
	var revision string
	var tree *source.Tree
	if before, stored := f.sources.Store.Get(f.Key); stored {
		tree = before.Tree
		if same {
			revision = before.Revision
		}
	}
	got, err := source.FetchOCI(ctx, options, revision, tree)
	if err != nil {
		return nil, err
	}
	out := r.fetched(got, options)
	out.signed = signed
	return out, nil
}

// fetchLocal fetches the repository that stands in for what is pushed, as it is: what is not committed yet is neither packed nor signed.
func (r OCIRepository) fetchLocal(ctx context.Context, f *Feed, local source.Local) (*Fetched, error) {
	previous := ""
	if before, stored := f.sources.Store.Get(f.Key); stored {
		if same, known := f.look(local.Dir, r); same && known {
			previous = before.Revision
		}
	}
	got, err := f.sources.remotes.Git(ctx, f, remotes.Git{
		Options: source.GitOptions{
			URL: local.URL, Username: local.Username, Password: local.Password, Ref: source.GitRef{Branch: local.Branch}, Ignore: r.Spec.Ignore, SpillDir: f.sources.Store.SpillDir(), Egress: f.sources.Egress,
		},
		Share: r.Namespace, Since: f.since(), Previous: previous,
	})
	f.usedOf(got.Began)
	if err != nil {
		return nil, err
	}
	tree := got.Tree
	if !got.Unchanged && local.Dir != "" {
		if tree, err = tree.Sub(local.Dir); err != nil {
			return nil, fmt.Errorf("reading directory %q of the repository: %w", local.Dir, err)
		}
	}
	out := r.fetched(&source.OCIResult{Revision: got.Revision, Tree: tree, Unchanged: got.Unchanged}, source.OCIOptions{})
	out.began = got.Began
	return out, nil
}

// OCIOptions reads how an OCIRepository is fetched.
func OCIOptions(ctx context.Context, s *access.Reach, repo *sourcev1.OCIRepository) (source.OCIOptions, error) {
	spec := &repo.Spec
	o := source.OCIOptions{URL: s.Rewritten(spec.URL), Ignore: spec.Ignore, SpillDir: s.Spill}
	if err := GenericOnly(spec.Provider); err != nil {
		return o, err
	}
	if ref := spec.Reference; ref != nil {
		o.Ref = source.OCIRef{Digest: ref.Digest, SemVer: ref.SemVer, SemVerFilter: ref.SemverFilter, Tag: ref.Tag}
	}
	if l := spec.LayerSelector; l != nil {
		o.Layer = source.OCILayer{MediaType: l.MediaType, Copy: l.Operation == sourcev1.OCILayerCopy}
	}
	var err error
	if o.Verify, err = ociVerification(ctx, s, repo.Namespace, spec.Verify); err != nil {
		return o, err
	}
	o.RegistryAccess, err = s.RegistryAccess(ctx, access.References{
		Namespace: repo.Namespace, Login: spec.SecretRef, Certs: spec.CertSecretRef, Proxy: spec.ProxySecretRef,
		Account: spec.ServiceAccountName, Insecure: spec.Insecure, Timeout: spec.Timeout,
	})
	return o, err
}

// GenericOnly refuses the providers that log in by the identity of a cloud.
func GenericOnly(provider string) error {
	if provider == "" || provider == sourcev1.GenericOCIProvider {
		return nil
	}
	return &access.UnsupportedError{Field: "spec.provider", Hint: fmt.Sprintf(
		"%q requires a cloud identity; use \"generic\" with spec.secretRef", provider)}
}

// ociVerification reads the keys by which an artifact has to be signed.
func ociVerification(ctx context.Context, s *access.Reach, namespace string, v *sourcev1.OCIRepositoryVerification) (*source.OCIVerification, error) {
	if v == nil {
		return nil, nil
	}
	out := &source.OCIVerification{Provider: v.Provider}
	if v.SecretRef == nil {
		return out, nil
	}
	data, err := s.Secret(ctx, namespace, "spec.verify.secretRef", v.SecretRef.Name)
	if err != nil {
		return nil, &access.Failure{Reason: access.ReasonVerification, Err: err}
	}
	out.Keys = data
	return out, nil
}

// fetched says how what was fetched is stored and recorded.
func (r OCIRepository) fetched(got *source.OCIResult, o source.OCIOptions) *Fetched {
	out := &Fetched{
		Ready: func(a *source.Artifact) (string, string) {
			return meta.SucceededReason, fmt.Sprintf("stored artifact for digest '%s'", a.Revision)
		},
		Event: func(a *source.Artifact) string {
			return fmt.Sprintf("stored artifact with revision '%s' from '%s'", a.Revision, r.Spec.URL)
		},
		Observe: func(after Origin, c *toolkit.Conditions) {
			status := &after.(OCIRepository).Status
			status.ObservedIgnore, status.ObservedLayerSelector = r.Spec.Ignore, r.Spec.LayerSelector.DeepCopy()
			switch {
			case o.Verify == nil:
				c.Drop(sourcev1.SourceVerifiedCondition)
			case !got.Unchanged:
				c.Set(sourcev1.SourceVerifiedCondition, metav1.ConditionTrue, meta.SucceededReason,
					fmt.Sprintf("verified signature of revision %s", got.Revision))
			}
		},
	}
	if !got.Unchanged {
		out.Store = func(store *source.Store, key source.Key) (err error) {
			if o.Layer.Copy {
				_, err = store.PutFile(key, got.Revision, "layer.tar.gz", got.Data, got.Metadata, time.Now())
			} else {
				_, err = store.PutTree(key, got.Revision, got.Tree, got.Metadata, time.Now())
			}
			return err
		}
	}
	return out
}
