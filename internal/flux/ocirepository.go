package flux

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
	"github.com/headgate-dev/headgate/internal/source"
)

// ociRepository is an OCIRepository as the origin of a source.
type ociRepository struct{ *sourcev1.OCIRepository }

func newOCIRepository(u *unstructured.Unstructured) (origin, error) {
	repo, err := declared.Read[sourcev1.OCIRepository](u)
	return ociRepository{repo}, err
}

func (r ociRepository) object() runtime.Object  { return r.OCIRepository }
func (r ociRepository) copy() origin            { return ociRepository{r.DeepCopy()} }
func (r ociRepository) kind() *sourceKind       { return ociRepositoryKinds }
func (r ociRepository) interval() time.Duration { return r.Spec.Interval.Duration }
func (r ociRepository) suspended() bool         { return r.Spec.Suspend }
func (r ociRepository) version() string         { return "" }
func (r ociRepository) address() string         { return r.Spec.URL }

func (r ociRepository) from(u *unstructured.Unstructured) (origin, error) { return newOCIRepository(u) }

func (r ociRepository) status() sourceStatus {
	s := &r.Status
	return sourceStatus{&s.Conditions, &s.Artifact, &s.ObservedGeneration, &s.LastHandledReconcileAt}
}

func (r ociRepository) fetch(ctx context.Context, f *feed) (*fetched, error) {
	options, err := ociOptions(ctx, &f.sources.reach, r.OCIRepository)
	if err != nil {
		return nil, err
	}
	same, known := f.look("", r)
	if !known {
		same = reflect.DeepEqual(r.Status.ObservedIgnore, r.Spec.Ignore) &&
			reflect.DeepEqual(r.Status.ObservedLayerSelector, r.Spec.LayerSelector)
	}
	if options.Verify != nil {
		same = same && apimeta.IsStatusConditionTrue(r.Status.Conditions, sourcev1.SourceVerifiedCondition)
	}
	var revision string
	var tree *source.Tree
	if before, stored := f.sources.store.Get(f.key); stored {
		tree = before.Tree
		if same {
			revision = before.Revision
		}
	}
	got, err := source.FetchOCI(ctx, options, revision, tree)
	if err != nil {
		return nil, err
	}
	return r.fetched(got, options), nil
}

// ociOptions reads how an OCIRepository is fetched.
func ociOptions(ctx context.Context, s *reach, repo *sourcev1.OCIRepository) (source.OCIOptions, error) {
	spec := &repo.Spec
	o := source.OCIOptions{URL: s.rewritten(spec.URL), Ignore: spec.Ignore, SpillDir: s.spill}
	if err := genericOnly(spec.Provider); err != nil {
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
	o.RegistryAccess, err = s.registryAccess(ctx, references{
		namespace: repo.Namespace, login: spec.SecretRef, certs: spec.CertSecretRef, proxy: spec.ProxySecretRef,
		account: spec.ServiceAccountName, insecure: spec.Insecure, timeout: spec.Timeout,
	})
	return o, err
}

// genericOnly refuses the providers that log in by the identity of a cloud.
func genericOnly(provider string) error {
	if provider == "" || provider == sourcev1.GenericOCIProvider {
		return nil
	}
	return &unsupportedError{"spec.provider", fmt.Sprintf(
		"%q requires a cloud identity; use \"generic\" with spec.secretRef", provider)}
}

// ociVerification reads the keys by which an artifact has to be signed.
func ociVerification(ctx context.Context, s *reach, namespace string, v *sourcev1.OCIRepositoryVerification) (*source.OCIVerification, error) {
	if v == nil {
		return nil, nil
	}
	out := &source.OCIVerification{Provider: v.Provider}
	if v.SecretRef == nil {
		return out, nil
	}
	data, err := s.secret(ctx, namespace, "spec.verify.secretRef", v.SecretRef.Name)
	if err != nil {
		return nil, &sourceFailure{reason: reasonVerification, err: err}
	}
	out.Keys = data
	return out, nil
}

// fetched says how what was fetched is stored and recorded.
func (r ociRepository) fetched(got *source.OCIResult, o source.OCIOptions) *fetched {
	out := &fetched{
		ready: func(a *source.Artifact) (string, string) {
			return meta.SucceededReason, fmt.Sprintf("stored artifact for digest '%s'", a.Revision)
		},
		event: func(a *source.Artifact) string {
			return fmt.Sprintf("stored artifact with revision '%s' from '%s'", a.Revision, r.Spec.URL)
		},
		observe: func(after origin, c *conditions) {
			status := &after.(ociRepository).Status
			status.ObservedIgnore, status.ObservedLayerSelector = r.Spec.Ignore, r.Spec.LayerSelector.DeepCopy()
			switch {
			case o.Verify == nil:
				c.drop(sourcev1.SourceVerifiedCondition)
			case !got.Unchanged:
				c.set(sourcev1.SourceVerifiedCondition, metav1.ConditionTrue, meta.SucceededReason,
					fmt.Sprintf("verified signature of revision %s", got.Revision))
			}
		},
	}
	if !got.Unchanged {
		out.store = func(store *source.Store, key source.Key) (err error) {
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
