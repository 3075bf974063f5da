package sources

import (
	"context"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
)

// Foreign reports whether nothing is written to the object of a source.
func (s *Keeper) Foreign(o Origin) bool { return s.Elsewhere || o.SourceKind().foreign }

// interval is how long a source rests: if another controller fetches it, until that one publishes something.
func (s *Keeper) interval(o Origin) time.Duration {
	if s.Elsewhere {
		return Forever
	}
	return o.interval()
}

// version changes when what another controller publishes does.
func (s *Keeper) version(o Origin) string {
	a := *o.State().Artifact
	if !s.Elsewhere || a == nil {
		return o.version()
	}
	return fmt.Sprintf("%s %s %d", a.Revision, a.Digest, *o.State().generation)
}

// hasFile reports whether a source has one file that is used as it is, such as a chart. What another controller
// publishes is a file each time, and mostly an archive of others.
func (s *Keeper) hasFile(o Origin, a *source.Artifact) bool {
	if !s.Elsewhere {
		return a.File != nil
	}
	if oci, is := o.(OCIRepository); is {
		return oci.Spec.LayerSelector != nil && oci.Spec.LayerSelector.Operation == sourcev1.OCILayerCopy
	}
	return o.SourceKind() == HelmChartKinds
}

// fetch gets what there is of a source, from where it is or from who fetches it here.
func (s *Keeper) fetch(ctx context.Context, f *Feed, o Origin) (*Fetched, error) {
	if !s.Elsewhere {
		return o.fetch(ctx, f)
	}
	return f.published(ctx, *o.State().Artifact, readOnly())
}

// readOnly is what was fetched of a source whose object nothing is written to.
func readOnly() *Fetched {
	return &Fetched{
		Ready:   func(*source.Artifact) (string, string) { return meta.SucceededReason, "" },
		Event:   func(*source.Artifact) string { return "" },
		Observe: func(Origin, *toolkit.Conditions) {},
	}
}

// published downloads an artifact from who published it.
func (f *Feed) published(ctx context.Context, a *meta.Artifact, out *Fetched) (*Fetched, error) {
	if a == nil {
		f.Settle()
		return nil, ErrPending
	}
	if before, stored := f.sources.Store.Get(f.Key); stored && before.Revision == a.Revision && before.Digest == a.Digest {
		return out, nil
	}
	data, err := source.FetchArtifact(ctx, source.Access{Egress: f.sources.Egress}, f.sources.Rewritten(a.URL), a.Digest)
	if err != nil {
		return nil, err
	}
	out.Store = func(store *source.Store, key source.Key) error {
		_, err := store.PutFile(key, a.Revision, "artifact.tar.gz", data, a.Metadata, time.Now())
		return err
	}
	return out, nil
}
