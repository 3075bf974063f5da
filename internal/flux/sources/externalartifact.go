package sources

import (
	"cmp"
	"context"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/declared"
)

// ExternalArtifact is an ExternalArtifact as the origin of a source: another controller writes its status and
// serves what it names, unless it comes from a generator here.
type ExternalArtifact struct{ *sourcev1.ExternalArtifact }

func newExternalArtifact(u *unstructured.Unstructured) (Origin, error) {
	artifact, err := declared.Read[sourcev1.ExternalArtifact](u)
	return ExternalArtifact{artifact}, err
}

// Object is the object itself.
func (r ExternalArtifact) Object() runtime.Object { return r.ExternalArtifact }
func (r ExternalArtifact) copy() Origin           { return ExternalArtifact{r.DeepCopy()} }

// SourceKind is how sources of this kind are served.
func (r ExternalArtifact) SourceKind() *SourceKind { return externalArtifactKinds }
func (r ExternalArtifact) interval() time.Duration { return Forever }

// Suspended reports whether it is not to be fetched.
func (r ExternalArtifact) Suspended() bool { return false }

// Address is the URL that it is fetched from; it is empty when it has none of its own.
func (r ExternalArtifact) Address() string { return "" }

func (r ExternalArtifact) from(u *unstructured.Unstructured) (Origin, error) {
	return newExternalArtifact(u)
}

func (r ExternalArtifact) version() string {
	if r.Status.Artifact == nil {
		return ""
	}
	return r.Status.Artifact.Revision + " " + r.Status.Artifact.Digest
}

// State are the parts of its status that every source has.
func (r ExternalArtifact) State() Status {
	// The status has neither of these.
	var generation int64
	var handled string
	return Status{&r.Status.Conditions, &r.Status.Artifact, &generation, &handled}
}

func (r ExternalArtifact) fetch(ctx context.Context, f *Feed) (*Fetched, error) {
	out := readOnly()
	here, settled, err := f.sources.made.Settled(ctx, r.ExternalArtifact, f)
	switch {
	case err != nil:
		return nil, err
	case settled:
		return out, nil
	case here:
		return nil, ErrPending
	}
	return f.published(ctx, r.Status.Artifact, out)
}

// GeneratorOf names the generator that an ExternalArtifact says it comes from, of its own namespace.
func GeneratorOf(o *sourcev1.ExternalArtifact) (types.NamespacedName, bool) {
	ref := o.Spec.SourceRef
	if ref == nil || ref.Kind != swapi.ArtifactGeneratorKind || cmp.Or(ref.Namespace, o.Namespace) != o.Namespace {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: o.Namespace, Name: ref.Name}, true
}
