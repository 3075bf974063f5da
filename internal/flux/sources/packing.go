package sources

import (
	"context"
	"errors"
	"strconv"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/source/chart"
)

// newChart is a chart that is to be stored.
type newChart struct {
	name, version string
	data          []byte
	metadata      map[string]string
	valuesFiles   []string
	packaged      bool
	// stored is called when it is.
	stored func()
}

// Packing says how the chart is packed, from a revision of files if that is what it is packed from.
func (r HelmChart) Packing(revision string) chart.Options {
	return chart.Options{
		ValuesFiles: r.Spec.ValuesFiles, IgnoreMissing: r.Spec.IgnoreMissingValuesFiles, Build: r.build(revision),
	}
}

// build is the build metadata of the version that the chart gets: the revision of what it is packed from,
// if requested, and the generation of the object if it merges values, so that whatever reads
// the chart sees that it is another one.
func (r HelmChart) build(revision string) string {
	var parts []string
	if r.Spec.ReconcileStrategy == sourcev1.ReconcileStrategyRevision && revision != "" {
		parts = append(parts, revision)
	}
	if len(r.Spec.ValuesFiles) > 0 {
		parts = append(parts, strconv.FormatInt(r.Generation, 10))
	}
	return strings.Join(parts, ".")
}

// pack makes a chart from the files of a source; it is nil when the version is that of the one that is
// there, which then stays, as it does in Flux.
func (r HelmChart) pack(ctx context.Context, f *Feed, from chartSource) (*newChart, error) {
	if r.Spec.Verify != nil {
		return nil, &access.UnsupportedError{Field: "spec.verify", Hint: "only charts of a registry have signatures; set spec.verify of the source instead"}
	}
	if from.artifact.Tree == nil {
		return nil, &access.Failure{Reason: reasonChartReference, Err: errors.New("its artifact is a file, not a directory")}
	}
	o := r.Packing(shortDigest(from.artifact.Revision))
	o.Dependency = func(ctx context.Context, d chart.Dependency) ([]byte, error) {
		return f.sources.dependency(ctx, r.Namespace, d)
	}
	packed, err := chart.Package(ctx, from.artifact.Tree, r.Spec.Chart, o)
	if err != nil {
		return nil, err
	}
	before, stored := f.sources.Store.Get(f.Key)
	if stored && r.Spec.ReconcileStrategy != sourcev1.ReconcileStrategyRevision &&
		before.Revision == packed.Version && r.Status.ObservedGeneration == r.Generation {
		return nil, nil
	}
	return &newChart{
		name: packed.Name, version: packed.Version, data: packed.Data, valuesFiles: packed.ValuesFiles,
		packaged: packed.Changed, stored: func() {},
	}, nil
}

// shortDigest is the beginning of the digest in a revision.
func shortDigest(revision string) string {
	digest := revision[strings.LastIndex(revision, ":")+1:]
	return digest[:min(len(digest), DigestLength)]
}
