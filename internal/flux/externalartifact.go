package flux

import (
	"context"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

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
	g, err := f.sources.generators.of(ctx, r.ExternalArtifact)
	switch {
	case err != nil:
		return nil, err
	case g != nil && g.settledFor(f):
		return out, nil
	case g != nil:
		return nil, errPending
	}
	return f.published(ctx, r.Status.Artifact, out)
}
