package sources

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
)

// bucket is a Bucket as the origin of a source.
type bucket struct{ *sourcev1.Bucket }

func newBucket(u *unstructured.Unstructured) (Origin, error) {
	b, err := declared.Read[sourcev1.Bucket](u)
	return bucket{b}, err
}

func (b bucket) Object() runtime.Object  { return b.Bucket }
func (b bucket) copy() Origin            { return bucket{b.DeepCopy()} }
func (b bucket) SourceKind() *SourceKind { return bucketKinds }
func (b bucket) interval() time.Duration { return b.Spec.Interval.Duration }
func (b bucket) Suspended() bool         { return b.Spec.Suspend }
func (b bucket) version() string         { return "" }
func (b bucket) Address() string         { return "" }

func (b bucket) from(u *unstructured.Unstructured) (Origin, error) { return newBucket(u) }

func (b bucket) State() Status {
	s := &b.Status
	return Status{&s.Conditions, &s.Artifact, &s.ObservedGeneration, &s.LastHandledReconcileAt}
}

func (b bucket) fetch(ctx context.Context, f *Feed) (*Fetched, error) {
	options, err := f.sources.bucketOptions(ctx, b.Bucket)
	if err != nil {
		return nil, err
	}
	same, known := f.look("", b)
	if !known {
		same = reflect.DeepEqual(b.Status.ObservedIgnore, b.Spec.Ignore) && b.Status.ObservedGeneration == b.Generation
	}
	var previous *source.BucketResult
	if before, stored := f.sources.Store.Get(f.Key); stored && same {
		previous = f.bucket
		if previous == nil || previous.Revision != before.Revision {
			previous = &source.BucketResult{Revision: before.Revision, Tree: before.Tree}
		}
	}
	got, err := source.FetchBucket(ctx, options, previous)
	if err != nil {
		return nil, err
	}
	f.bucket = got
	out := &Fetched{
		Ready: func(a *source.Artifact) (string, string) {
			return meta.SucceededReason, fmt.Sprintf("stored artifact: revision '%s'", a.Revision)
		},
		Event: func(*source.Artifact) string {
			return fmt.Sprintf("stored artifact with %d fetched files from '%s' bucket", len(got.Objects), b.Spec.BucketName)
		},
		Observe: func(after Origin, _ *toolkit.Conditions) { after.(bucket).Status.ObservedIgnore = b.Spec.Ignore },
	}
	if !got.Unchanged {
		out.Store = func(store *source.Store, key source.Key) error {
			_, err := store.Put(key, got.Revision, got.Tree, time.Now())
			return err
		}
	}
	return out, nil
}

// bucketOptions reads how a Bucket is fetched.
func (s *Keeper) bucketOptions(ctx context.Context, b *sourcev1.Bucket) (source.BucketOptions, error) {
	spec := &b.Spec
	o := source.BucketOptions{
		Access:   source.Access{Egress: s.Egress},
		Endpoint: spec.Endpoint, Bucket: spec.BucketName, Region: spec.Region, Prefix: spec.Prefix,
		Insecure: spec.Insecure, Ignore: spec.Ignore, SpillDir: s.Store.SpillDir(),
	}
	switch {
	case spec.Provider != "" && spec.Provider != sourcev1.BucketProviderGeneric && spec.Provider != sourcev1.BucketProviderAmazon:
		return o, &access.UnsupportedError{Field: "spec.provider", Hint: fmt.Sprintf("%q is not supported; use \"generic\" for S3-compatible servers", spec.Provider)}
	case spec.STS != nil:
		return o, &access.UnsupportedError{Field: "spec.sts", Hint: "use spec.secretRef with accesskey and secretkey"}
	case spec.ServiceAccountName != "":
		return o, &access.UnsupportedError{Field: "spec.serviceAccountName", Hint: "it requires a cloud identity; use spec.secretRef with accesskey and secretkey"}
	}
	if spec.Timeout != nil {
		o.Timeout = spec.Timeout.Duration
	}
	if spec.SecretRef != nil {
		data, err := s.Secret(ctx, b.Namespace, "spec.secretRef", spec.SecretRef.Name)
		if err != nil {
			return o, access.Unauthenticated(err)
		}
		o.Username, o.Password = string(data["accesskey"]), string(data["secretkey"])
		if o.Username == "" || o.Password == "" {
			return o, access.Unauthenticated(fmt.Errorf("spec.secretRef: Secret %q: requires accesskey and secretkey", b.Namespace+"/"+spec.SecretRef.Name))
		}
	}
	return o, s.Transport(ctx, access.References{Namespace: b.Namespace, Certs: spec.CertSecretRef, Proxy: spec.ProxySecretRef}, &o.Access)
}
