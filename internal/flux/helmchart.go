package flux

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/chart"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// helmChart is a HelmChart as the origin of a source: a chart out of a HelmRepository, or one that is
// packed from the files of another source.
type helmChart struct{ *sourcev1.HelmChart }

func newHelmChart(u *unstructured.Unstructured) (origin, error) {
	c, err := declared.Read[sourcev1.HelmChart](u)
	return helmChart{c}, err
}

func (r helmChart) object() runtime.Object  { return r.HelmChart }
func (r helmChart) copy() origin            { return helmChart{r.DeepCopy()} }
func (r helmChart) kind() *sourceKind       { return helmChartKinds }
func (r helmChart) interval() time.Duration { return r.Spec.Interval.Duration }
func (r helmChart) suspended() bool         { return r.Spec.Suspend }
func (r helmChart) version() string         { return "" }
func (r helmChart) address() string         { return "" }

func (r helmChart) from(u *unstructured.Unstructured) (origin, error) { return newHelmChart(u) }

func (r helmChart) status() sourceStatus {
	s := &r.Status
	return sourceStatus{&s.Conditions, &s.Artifact, &s.ObservedGeneration, &s.LastHandledReconcileAt}
}

// source is what the chart comes from.
func (r helmChart) source() source.Key {
	return sourceKey(r.Spec.SourceRef.Kind, r.Namespace, r.Spec.SourceRef.Name)
}

func (r helmChart) concerns(key source.Key) bool { return key == r.source() }

func (r helmChart) look(s *sources) (string, error) {
	from, err := s.chartSource(r)
	return from.state, err
}

// chartSource is where a chart comes from, as it is now.
type chartSource struct {
	// repo is set when that is a repository of charts; index is that of one that is no registry.
	repo  *sourcev1.HelmRepository
	index *source.Index
	// artifact holds the files of all other sources.
	artifact *source.Artifact
	// declared changes with what says how the source is fetched, state also with what it has.
	declared, state string
}

// revision is that of the source, empty for a registry.
func (c chartSource) revision() string {
	switch {
	case c.artifact != nil:
		return c.artifact.Revision
	case c.index != nil:
		return c.index.Revision()
	}
	return ""
}

// Reasons of Flux for a chart that has no source.
const (
	reasonSourceUnavailable = "SourceUnavailable"
	reasonNoSourceArtifact  = "NoSourceArtifact"
)

// chartSource reads what a chart comes from. The error is errPending when that is about to be known.
func (s *sources) chartSource(r helmChart) (chartSource, error) {
	key := r.source()
	if f, known := s.feed(key); known {
		if repo, ok := f.current().(helmRepository); ok && repo.inRegistry() {
			declared := fmt.Sprintf("%s %d", repo.UID, repo.Generation)
			return chartSource{repo: repo.HelmRepository, declared: declared, state: declared}, nil
		}
	}
	a, err := s.part(key)
	if err != nil {
		return chartSource{}, chartUnavailable(err)
	}
	f, known := s.feed(key)
	if !known {
		return chartSource{}, errPending
	}
	o := f.current()
	out := chartSource{declared: string(o.GetUID()), state: fmt.Sprintf("%s %s %s", o.GetUID(), a.Revision, a.Digest)}
	repo, ok := o.(helmRepository)
	if !ok {
		out.artifact = a
		return out, nil
	}
	out.repo, out.index = repo.HelmRepository, f.chartIndex()
	if out.index == nil {
		return chartSource{}, chartUnavailable(unavailable(reasonNoArtifact, fmt.Errorf("the index of %s %q cannot be read", key.Kind, key.Name)))
	}
	out.declared = fmt.Sprintf("%s %d", repo.UID, repo.Generation)
	out.state += " " + out.declared
	return out, nil
}

// chartUnavailable words that a source has nothing to give as Flux does for charts.
func chartUnavailable(err error) error {
	var failure *sourceFailure
	if !errors.As(err, &failure) {
		return err
	}
	reason := reasonNoSourceArtifact
	if failure.reason == reasonNotFound {
		reason = reasonSourceUnavailable
	}
	return &sourceFailure{reason: reason, woken: true, err: fmt.Errorf("spec.sourceRef: %w", failure.err)}
}

// selectedChart is the version of a chart that was selected last, and how it was declared then.
type selectedChart struct{ declared, version string }

func (r helmChart) fetch(ctx context.Context, f *feed) (*fetched, error) {
	got, err := r.get(ctx, f)
	if failure, known := chartFailure(err); known {
		return nil, &failure
	}
	return got, err
}

func (r helmChart) get(ctx context.Context, f *feed) (*fetched, error) {
	if err := f.sources.waitListed(ctx); err != nil {
		return nil, err
	}
	from, err := f.sources.chartSource(r)
	same, known := f.look(lookOf(from.state, err), r)
	if err != nil {
		return nil, err
	}
	if !known {
		same = r.Status.ObservedGeneration == r.Generation && from.revision() != "" &&
			r.Status.ObservedSourceArtifactRevision == from.revision()
	}
	if from.repo != nil {
		return r.pull(ctx, f, from, same)
	}
	if _, stored := f.sources.store.Get(f.key); stored && same {
		return r.fetched(f, from, nil), nil
	}
	packed, err := r.pack(ctx, f, from)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", r.Spec.SourceRef.Kind, r.Spec.SourceRef.Name, err)
	}
	return r.fetched(f, from, packed), nil
}

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

// pull fetches a chart out of a repository.
func (r helmChart) pull(ctx context.Context, f *feed, from chartSource, same bool) (*fetched, error) {
	options, err := chartOptions(ctx, &f.sources.reach, from.repo, r)
	if err != nil {
		return nil, err
	}
	options.Index = from.index
	declared := from.declared + " " + strconv.FormatInt(r.Generation, 10)
	before, stored := f.sources.store.Get(f.key)
	previous := ""
	switch {
	case stored && f.selected.declared == declared:
		previous = f.selected.version
	case stored && same && len(r.Status.ObservedValuesFiles) == 0 && f.selected.declared == "":
		previous = before.Revision
	}
	got, err := source.FetchChart(ctx, options, previous)
	if err != nil {
		return nil, err
	}
	if got.Unchanged {
		return r.fetched(f, from, nil), nil
	}
	packed, err := chart.Repackage(got.Data, r.packing(""))
	if err != nil {
		return nil, fmt.Errorf("chart %q %s: %w", got.Name, got.Version, err)
	}
	made := &newChart{
		name: got.Name, version: got.Version, data: packed.Data, metadata: got.Metadata,
		valuesFiles: packed.ValuesFiles, packaged: packed.Changed,
		stored: func() { f.selected = selectedChart{declared, got.Version} },
	}
	if packed.Changed {
		made.version = packed.Version
	}
	return r.fetched(f, from, made), nil
}

// chartOptions read how a chart is fetched out of a repository.
func chartOptions(ctx context.Context, s *reach, repo *sourcev1.HelmRepository, r helmChart) (source.ChartOptions, error) {
	o := source.ChartOptions{
		URL: s.rewritten(repo.Spec.URL), Chart: r.Spec.Chart, Version: r.Spec.Version,
		PassCredentials: repo.Spec.PassCredentials, Rewrites: s.rules(),
	}
	var err error
	if o.RegistryAccess, err = repositoryAccess(ctx, s, repo); err != nil {
		return o, fmt.Errorf("HelmRepository %q: %w", repo.Name, err)
	}
	o.Verify, err = ociVerification(ctx, s, r.Namespace, r.verification())
	return o, err
}

// packing says how the chart is packed, from a revision of files if that is what it is packed from.
func (r helmChart) packing(revision string) chart.Options {
	return chart.Options{
		ValuesFiles: r.Spec.ValuesFiles, IgnoreMissing: r.Spec.IgnoreMissingValuesFiles, Build: r.build(revision),
	}
}

// verification is how the chart has to be signed, in the form that artifacts have.
func (r helmChart) verification() *sourcev1.OCIRepositoryVerification {
	v := r.Spec.Verify
	if v == nil {
		return nil
	}
	return &sourcev1.OCIRepositoryVerification{Provider: v.Provider, SecretRef: v.SecretRef}
}

// build is the build metadata of the version that the chart gets: the revision of what it is packed from,
// if requested, and the generation of the object if it merges values, so that whatever reads
// the chart sees that it is another one.
func (r helmChart) build(revision string) string {
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
func (r helmChart) pack(ctx context.Context, f *feed, from chartSource) (*newChart, error) {
	if r.Spec.Verify != nil {
		return nil, &unsupportedError{"spec.verify", "only charts of a registry have signatures; set spec.verify of the source instead"}
	}
	if from.artifact.Tree == nil {
		return nil, &sourceFailure{reason: reasonChartReference, err: errors.New("its artifact is a file, not a directory")}
	}
	o := r.packing(shortDigest(from.artifact.Revision))
	o.Dependency = func(ctx context.Context, d chart.Dependency) ([]byte, error) {
		return f.sources.dependency(ctx, r.Namespace, d)
	}
	packed, err := chart.Package(ctx, from.artifact.Tree, r.Spec.Chart, o)
	if err != nil {
		return nil, err
	}
	before, stored := f.sources.store.Get(f.key)
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
	return digest[:min(len(digest), digestLength)]
}

// fetched says how a chart is stored and recorded; made is nil if it is the existing one.
func (r helmChart) fetched(f *feed, from chartSource, made *newChart) *fetched {
	name, values := r.Status.ObservedChartName, r.Status.ObservedValuesFiles
	was := (&conditions{list: r.Status.Conditions}).get(sourcev1.ArtifactInStorageCondition)
	packaged := was != nil && was.Reason == sourcev1.ChartPackageSucceededReason
	if made != nil {
		name, values, packaged = made.name, made.valuesFiles, made.packaged
	}
	if name == "" {
		name = path.Base(r.Spec.Chart)
	}
	reason := sourcev1.ChartPullSucceededReason
	if packaged {
		reason = sourcev1.ChartPackageSucceededReason
	}
	words := func(a *source.Artifact) string {
		verb := "pulled"
		if packaged {
			verb = "packaged"
		}
		text := fmt.Sprintf("%s '%s' chart with version '%s'", verb, name, a.Revision)
		if len(values) > 0 {
			text += fmt.Sprintf(" and merged values files %v", values)
		}
		return text
	}
	out := &fetched{
		ready: func(a *source.Artifact) (string, string) { return reason, words(a) },
		event: words, told: reason,
		observe: func(after origin, c *conditions) {
			status := &after.(helmChart).Status
			status.ObservedChartName, status.ObservedValuesFiles = name, values
			status.ObservedSourceArtifactRevision = from.revision()
			switch {
			case r.Spec.Verify == nil:
				c.drop(sourcev1.SourceVerifiedCondition)
			case made != nil:
				c.set(sourcev1.SourceVerifiedCondition, metav1.ConditionTrue, meta.SucceededReason,
					fmt.Sprintf("verified signature of version %s", made.version))
			}
		},
	}
	if made != nil {
		out.store = func(store *source.Store, key source.Key) error {
			file := fmt.Sprintf("%s-%s.tgz", path.Base(made.name), made.version)
			if _, err := store.PutFile(key, made.version, file, made.data, made.metadata, time.Now()); err != nil {
				return err
			}
			made.stored()
			return nil
		}
	}
	return out
}

// dependency gets a chart that another one needs.
func (s *sources) dependency(ctx context.Context, namespace string, d chart.Dependency) ([]byte, error) {
	var from *feed
	options, repo, err := dependencyOptions(ctx, &s.reach, namespace, d, func(fits func(*sourcev1.HelmRepository) bool) (repo *sourcev1.HelmRepository) {
		repo, from = s.repositoryFor(namespace, fits)
		return repo
	})
	if err != nil {
		return nil, err
	}
	if repo != nil {
		options.Index = from.chartIndex()
	}
	got, err := source.FetchChart(ctx, options, "")
	if err != nil {
		return nil, err
	}
	return got.Data, nil
}

// dependencyOptions read how a chart is fetched that another one needs: from the HelmRepository of the
// namespace that has its URL, or its name, with its credentials; from the URL alone when there is none.
// Find returns the first repository that fits.
func dependencyOptions(ctx context.Context, s *reach, namespace string, d chart.Dependency,
	find func(fits func(*sourcev1.HelmRepository) bool) *sourcev1.HelmRepository,
) (source.ChartOptions, *sourcev1.HelmRepository, error) {
	o := source.ChartOptions{URL: s.rewritten(d.Repository), Chart: d.Name, Version: d.Version, Rewrites: s.rules()}
	named := strings.TrimPrefix(strings.TrimPrefix(d.Repository, "@"), "alias:")
	isNamed := named != d.Repository
	repo := find(func(repo *sourcev1.HelmRepository) bool {
		if isNamed {
			return repo.Name == named
		}
		return strings.TrimSuffix(repo.Spec.URL, "/") == strings.TrimSuffix(d.Repository, "/")
	})
	switch {
	case repo == nil && isNamed:
		return o, nil, fmt.Errorf("HelmRepository %q does not exist", namespace+"/"+named)
	case repo == nil:
		return o, nil, nil
	}
	o.URL, o.PassCredentials = s.rewritten(repo.Spec.URL), repo.Spec.PassCredentials
	var err error
	if o.RegistryAccess, err = repositoryAccess(ctx, s, repo); err != nil {
		err = fmt.Errorf("HelmRepository %q: %w", repo.Name, err)
	}
	return o, repo, err
}

// repositoryFor returns the first HelmRepository of a namespace, by name, that fits.
func (s *sources) repositoryFor(namespace string, fits func(*sourcev1.HelmRepository) bool) (*sourcev1.HelmRepository, *feed) {
	s.mu.RLock()
	var keys []source.Key
	for key := range s.feeds {
		if key.Kind == sourcev1.HelmRepositoryKind && key.Namespace == namespace {
			keys = append(keys, key)
		}
	}
	s.mu.RUnlock()
	slices.SortFunc(keys, func(a, b source.Key) int { return strings.Compare(a.Name, b.Name) })
	for _, key := range keys {
		f, known := s.feed(key)
		if !known {
			continue
		}
		if repo, ok := f.current().(helmRepository); ok && fits(repo.HelmRepository) {
			return repo.HelmRepository, f
		}
	}
	return nil, nil
}

// Reasons of Flux for charts that cannot be fetched.
const (
	reasonChartReference  = "InvalidChartReference"
	reasonChartPull       = "ChartPullError"
	reasonChartPackage    = "ChartPackageError"
	reasonChartMetadata   = "MetadataPatchError"
	reasonChartValues     = "ValuesFilesError"
	reasonChartDependency = "DependencyBuildError"
	reasonChartSignature  = "ChartVerificationError"
)

// chartFailures are the reasons of Flux for failures of a chart. Those of building are reported
// by another condition than those of fetching.
var chartFailures = []struct {
	err    error
	reason string
	built  bool
}{
	{chart.ErrMetadata, reasonChartMetadata, true},
	{chart.ErrValues, reasonChartValues, true},
	{chart.ErrDependency, reasonChartDependency, true},
	{chart.ErrPackage, reasonChartPackage, true},
	{chart.ErrReference, reasonChartReference, false},
	{source.ErrReference, reasonChartReference, false},
	{source.ErrSignature, reasonChartSignature, false},
}

// chartFailure words what is wrong with a chart, if that is what an error tells.
func chartFailure(err error) (sourceFailure, bool) {
	var worded *sourceFailure
	if errors.As(err, &worded) {
		return sourceFailure{}, false
	}
	for _, known := range chartFailures {
		if !errors.Is(err, known.err) {
			continue
		}
		f := sourceFailure{condition: sourcev1.FetchFailedCondition, reason: known.reason, err: err}
		if known.built {
			f.condition = sourcev1.BuildFailedCondition
		}
		return f, true
	}
	return sourceFailure{}, false
}

// digestLength is how much of a digest stands in the version of a chart, as in Flux.
const digestLength = 12
