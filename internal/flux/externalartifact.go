package flux

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

// externalArtifact is an ExternalArtifact as the origin of a source: another controller writes its status and
// serves what it names, unless it comes from a generator here.
type externalArtifact struct{ *sourcev1.ExternalArtifact }

func newExternalArtifact(u *unstructured.Unstructured) (origin, error) {
	artifact, err := declared.Read[sourcev1.ExternalArtifact](u)
	return externalArtifact{artifact}, err
}

func (r externalArtifact) object() runtime.Object  { return r.ExternalArtifact }
func (r externalArtifact) copy() origin            { return externalArtifact{r.DeepCopy()} }
func (r externalArtifact) kind() *sourceKind       { return externalArtifactKinds }
func (r externalArtifact) interval() time.Duration { return forever }
func (r externalArtifact) suspended() bool         { return false }
func (r externalArtifact) address() string         { return "" }

func (r externalArtifact) from(u *unstructured.Unstructured) (origin, error) {
	return newExternalArtifact(u)
}

func (r externalArtifact) version() string {
	if r.Status.Artifact == nil {
		return ""
	}
	return r.Status.Artifact.Revision + " " + r.Status.Artifact.Digest
}

func (r externalArtifact) status() sourceStatus {
	// The status has neither of these.
	var generation int64
	var handled string
	return sourceStatus{&r.Status.Conditions, &r.Status.Artifact, &generation, &handled}
}

func (r externalArtifact) fetch(ctx context.Context, f *feed) (*fetched, error) {
	out := readOnly()
	here, settled, err := f.sources.made.settled(ctx, r.ExternalArtifact, f)
	switch {
	case err != nil:
		return nil, err
	case settled:
		return out, nil
	case here:
		return nil, errPending
	}
	return f.published(ctx, r.Status.Artifact, out)
}

// generatorOf names the generator that an ExternalArtifact says it comes from, of its own namespace.
func generatorOf(o *sourcev1.ExternalArtifact) (types.NamespacedName, bool) {
	ref := o.Spec.SourceRef
	if ref == nil || ref.Kind != swapi.ArtifactGeneratorKind || cmp.Or(ref.Namespace, o.Namespace) != o.Namespace {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: o.Namespace, Name: ref.Name}, true
}
