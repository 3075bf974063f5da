package flux

import (
	"context"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/source"
)

// externalArtifact is an ExternalArtifact as the origin of a source: someone else writes its status and
// serves what it names, unless it comes from a generator here.
type externalArtifact struct{ *sourcev1.ExternalArtifact }

func newExternalArtifact(u *unstructured.Unstructured) (origin, error) {
	artifact, err := readAs[sourcev1.ExternalArtifact](u)
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
	out := &fetched{
		ready:   func(*source.Artifact) (string, string) { return meta.SucceededReason, "" },
		event:   func(*source.Artifact) string { return "" },
		observe: func(origin, *conditions) {},
	}
	g, err := f.sources.generators.of(ctx, r.ExternalArtifact)
	switch {
	case err != nil:
		return nil, err
	case g != nil && g.settledFor(f):
		return out, nil
	case g != nil:
		return nil, errPending
	}
	a := r.Status.Artifact
	if a == nil {
		f.settle()
		return nil, errPending
	}
	if before, stored := f.sources.store.Get(f.key); stored && before.Revision == a.Revision && before.Digest == a.Digest {
		return out, nil
	}
	data, err := source.FetchArtifact(ctx, source.Access{}, f.sources.rewritten(a.URL), a.Digest)
	if err != nil {
		return nil, err
	}
	out.store = func(store *source.Store, key source.Key) error {
		_, err := store.PutFile(key, a.Revision, "artifact.tar.gz", data, a.Metadata, time.Now())
		return err
	}
	return out, nil
}
