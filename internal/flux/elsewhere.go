package flux

import (
	"context"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/source"
)

// foreign tells whether nothing is written to the object of a source.
func (s *sources) foreign(o origin) bool { return s.elsewhere || o.kind().foreign }

// interval is how long a source rests: if another controller fetches it, until that one publishes something.
func (s *sources) interval(o origin) time.Duration {
	if s.elsewhere {
		return forever
	}
	return o.interval()
}

// version changes when what another controller publishes does.
func (s *sources) version(o origin) string {
	a := *o.status().artifact
	if !s.elsewhere || a == nil {
		return o.version()
	}
	return fmt.Sprintf("%s %s %d", a.Revision, a.Digest, *o.status().generation)
}

// hasFile reports whether a source has one file that is used as it is, such as a chart. What another controller
// publishes is a file each time, and mostly an archive of others.
func (s *sources) hasFile(o origin, a *source.Artifact) bool {
	if !s.elsewhere {
		return a.File != nil
	}
	if oci, is := o.(ociRepository); is {
		return oci.Spec.LayerSelector != nil && oci.Spec.LayerSelector.Operation == sourcev1.OCILayerCopy
	}
	return o.kind() == helmChartKinds
}

// fetch gets what there is of a source, from where it is or from who fetches it here.
func (s *sources) fetch(ctx context.Context, f *feed, o origin) (*fetched, error) {
	if !s.elsewhere {
		return o.fetch(ctx, f)
	}
	return f.published(ctx, *o.status().artifact, readOnly())
}

// readOnly is what was fetched of a source whose object nothing is written to.
func readOnly() *fetched {
	return &fetched{
		ready:   func(*source.Artifact) (string, string) { return meta.SucceededReason, "" },
		event:   func(*source.Artifact) string { return "" },
		observe: func(origin, *conditions) {},
	}
}

// published downloads an artifact from who published it.
func (f *feed) published(ctx context.Context, a *meta.Artifact, out *fetched) (*fetched, error) {
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
