package sources

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/chart"
)

// HelmChart is a HelmChart as the origin of a source: a chart out of a HelmRepository, or one that is
// packed from the files of another source.
type HelmChart struct{ *sourcev1.HelmChart }

func newHelmChart(u *unstructured.Unstructured) (Origin, error) {
	c, err := declared.Read[sourcev1.HelmChart](u)
	return HelmChart{c}, err
}

// Object is the object itself.
func (r HelmChart) Object() runtime.Object { return r.HelmChart }
func (r HelmChart) copy() Origin           { return HelmChart{r.DeepCopy()} }

// SourceKind is how sources of this kind are served.
func (r HelmChart) SourceKind() *SourceKind { return HelmChartKinds }
func (r HelmChart) interval() time.Duration { return r.Spec.Interval.Duration }

// Suspended reports whether it is not to be fetched.
func (r HelmChart) Suspended() bool { return r.Spec.Suspend }
func (r HelmChart) version() string { return "" }

// Address is the URL that it is fetched from; it is empty when it has none of its own.
func (r HelmChart) Address() string { return "" }

func (r HelmChart) from(u *unstructured.Unstructured) (Origin, error) { return newHelmChart(u) }

// State are the parts of its status that every source has.
func (r HelmChart) State() Status {
	s := &r.Status
	return Status{&s.Conditions, &s.Artifact, &s.ObservedGeneration, &s.LastHandledReconcileAt}
}

// ChartSource is what the chart comes from.
func (r HelmChart) ChartSource() source.Key {
	return toolkit.SourceKey(r.Spec.SourceRef.Kind, r.Namespace, r.Spec.SourceRef.Name)
}

func (r HelmChart) concerns(key source.Key) bool { return key == r.ChartSource() }

// Look names what the chart is made from now.
func (r HelmChart) Look(s *Keeper) (string, error) {
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
func (s *Keeper) chartSource(r HelmChart) (chartSource, error) {
	key := r.ChartSource()
	if f, known := s.Feed(key); known {
		if repo, ok := f.Current().(HelmRepository); ok && repo.InRegistry() {
			declared := fmt.Sprintf("%s %d", repo.UID, repo.Generation)
			return chartSource{repo: repo.HelmRepository, declared: declared, state: declared}, nil
		}
	}
	a, err := s.part(key)
	if err != nil {
		return chartSource{}, chartUnavailable(err)
	}
	f, known := s.Feed(key)
	if !known {
		return chartSource{}, ErrPending
	}
	o := f.Current()
	out := chartSource{declared: string(o.GetUID()), state: fmt.Sprintf("%s %s %s", o.GetUID(), a.Revision, a.Digest)}
	repo, ok := o.(HelmRepository)
	if !ok {
		out.artifact = a
		return out, nil
	}
	out.repo, out.index = repo.HelmRepository, f.chartIndex()
	if out.index == nil {
		return chartSource{}, chartUnavailable(access.Unavailable(reasonNoArtifact, fmt.Errorf("the index of %s %q cannot be read", key.Kind, key.Name)))
	}
	out.declared = fmt.Sprintf("%s %d", repo.UID, repo.Generation)
	out.state += " " + out.declared
	return out, nil
}

// chartUnavailable words that a source has nothing to give as Flux does for charts.
func chartUnavailable(err error) error {
	var failure *access.Failure
	if !errors.As(err, &failure) {
		return err
	}
	reason := reasonNoSourceArtifact
	if failure.Reason == reasonNotFound {
		reason = reasonSourceUnavailable
	}
	return &access.Failure{Reason: reason, Woken: true, Err: fmt.Errorf("spec.sourceRef: %w", failure.Err)}
}

// selectedChart is the version of a chart that was selected last, and how it was declared then.
type selectedChart struct{ declared, version string }

func (r HelmChart) fetch(ctx context.Context, f *Feed) (*Fetched, error) {
	got, err := r.get(ctx, f)
	if failure, known := chartFailure(err); known {
		return nil, &failure
	}
	return got, err
}

func (r HelmChart) get(ctx context.Context, f *Feed) (*Fetched, error) {
	if err := f.sources.WaitListed(ctx); err != nil {
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
	if _, stored := f.sources.Store.Get(f.Key); stored && same {
		return r.fetched(f, from, nil), nil
	}
	packed, err := r.pack(ctx, f, from)
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w", r.Spec.SourceRef.Kind, r.Spec.SourceRef.Name, err)
	}
	return r.fetched(f, from, packed), nil
}

// pull fetches a chart out of a repository.
func (r HelmChart) pull(ctx context.Context, f *Feed, from chartSource, same bool) (*Fetched, error) {
	options, err := ChartOptions(ctx, &f.sources.Reach, from.repo, r)
	if err != nil {
		return nil, err
	}
	options.Index = from.index
	declared := from.declared + " " + strconv.FormatInt(r.Generation, 10)
	before, stored := f.sources.Store.Get(f.Key)
	previous, signed := "", ""
	if options.Verify != nil {
		signed = keysDigest(options.Verify.Keys)
	}
	switch {
	case signed != f.signed:
		// What was verified by other keys is verified again.
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
		out := r.fetched(f, from, nil)
		out.signed = signed
		return out, nil
	}
	packed, err := chart.Repackage(got.Data, r.Packing(""))
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
	out := r.fetched(f, from, made)
	out.signed = signed
	return out, nil
}

// ChartOptions read how a chart is fetched out of a repository.
func ChartOptions(ctx context.Context, s *access.Reach, repo *sourcev1.HelmRepository, r HelmChart) (source.ChartOptions, error) {
	o := source.ChartOptions{
		URL: s.Rewritten(repo.Spec.URL), Chart: r.Spec.Chart, Version: r.Spec.Version,
		PassCredentials: repo.Spec.PassCredentials, Rewrites: s.Rules(),
	}
	var err error
	if o.RegistryAccess, err = repositoryAccess(ctx, s, repo); err != nil {
		return o, fmt.Errorf("HelmRepository %q: %w", repo.Name, err)
	}
	o.Verify, err = ociVerification(ctx, s, r.Namespace, r.verification())
	return o, err
}

// verification is how the chart has to be signed, in the form that artifacts have.
func (r HelmChart) verification() *sourcev1.OCIRepositoryVerification {
	v := r.Spec.Verify
	if v == nil {
		return nil
	}
	return &sourcev1.OCIRepositoryVerification{Provider: v.Provider, SecretRef: v.SecretRef}
}

// fetched says how a chart is stored and recorded; made is nil if it is the existing one.
func (r HelmChart) fetched(f *Feed, from chartSource, made *newChart) *Fetched {
	name, values := r.Status.ObservedChartName, r.Status.ObservedValuesFiles
	was := (&toolkit.Conditions{List: r.Status.Conditions}).Get(sourcev1.ArtifactInStorageCondition)
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
	out := &Fetched{
		Ready: func(a *source.Artifact) (string, string) { return reason, words(a) },
		Event: words, Told: reason,
		Observe: func(after Origin, c *toolkit.Conditions) {
			status := &after.(HelmChart).Status
			status.ObservedChartName, status.ObservedValuesFiles = name, values
			status.ObservedSourceArtifactRevision = from.revision()
			switch {
			case r.Spec.Verify == nil:
				c.Drop(sourcev1.SourceVerifiedCondition)
			case made != nil:
				c.Set(sourcev1.SourceVerifiedCondition, metav1.ConditionTrue, meta.SucceededReason,
					fmt.Sprintf("verified signature of version %s", made.version))
			}
		},
	}
	if made != nil {
		out.Store = func(store *source.Store, key source.Key) error {
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
func chartFailure(err error) (access.Failure, bool) {
	var worded *access.Failure
	if errors.As(err, &worded) {
		return access.Failure{}, false
	}
	for _, known := range chartFailures {
		if !errors.Is(err, known.err) {
			continue
		}
		f := access.Failure{Condition: sourcev1.FetchFailedCondition, Reason: known.reason, Err: err}
		if known.built {
			f.Condition = sourcev1.BuildFailedCondition
		}
		return f, true
	}
	return access.Failure{}, false
}

// DigestLength is how much of a digest stands in the version of a chart, as in Flux.
const DigestLength = 12
