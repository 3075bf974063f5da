// Package release drives HelmReleases: charts, values, actions, remediation and drift, in steps that wait for nothing, and the
// HelmCharts that releases declare.
//
// What a release needs next is decided by internal/helm/plan, and carried out by internal/helm.
package release

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/source"
)

// Keeper drives HelmReleases: it is the runner's driver for them. It is safe for concurrent use.
type Keeper struct {
	*declared.Registry[helmv2.HelmRelease, *helmv2.HelmRelease]

	toolkit.Tools
	renderer *render.Renderer
	// StandIns is nil where everything is real.
	StandIns    chartPatchers
	Twins       *twins
	connections *access.Connections
	Charts      *Charts
	Idle        idleWords

	mu      sync.Mutex
	work    map[engine.UnitID]*releaseWork
	clients map[*rest.Config]*releaseClient
}

// releaseClient is the client of a connection, and which kinds its cluster served when it was used last.
type releaseClient struct {
	*helm.Client
	kinds uint64
}

// releaseWork is what is known of a release beside its object. A step works on a copy of its own, and
// replaces the former by it when it ends: what is held is never changed.
type releaseWork struct {
	prepared *Prepared
	// status is what the next report writes down.
	status *helmv2.HelmReleaseStatus
	// failed is when the last action failed.
	failed time.Time
	// rest is how everything was when the release was found to need nothing.
	rest *restingRelease
}

// restingRelease is what a release is made from, and what there is of it, when it needs nothing.
type restingRelease struct {
	inputs string
	// mark is that of its records, objects are the versions of what it holds: those count only where drift
	// is detected.
	mark, objects string
	entries       []engine.Entry
}

// idleWords change what the status says of a release that installs nothing.
type idleWords interface {
	Words(hr *helmv2.HelmRelease, after *helmv2.HelmReleaseStatus, r runner.Report)
}

// New returns the driver of HelmReleases.
func New(t toolkit.Tools, c *access.Connections) *Keeper {
	return &Keeper{
		Tools: t, renderer: t.Runner.Renderer(), connections: c,
		Registry: declared.NewRegistry[helmv2.HelmRelease](toolkit.HelmReleaseKind), Twins: newTwins(),
		work: map[engine.UnitID]*releaseWork{}, clients: map[*rest.Config]*releaseClient{},
	}
}

// Drop takes a HelmRelease that is gone.
func (s *Keeper) Drop(id engine.UnitID) {
	s.Registry.Drop(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.work, id)
}

// job returns a release, and a copy of what is known of it.
func (s *Keeper) job(id engine.UnitID) (*helmv2.HelmRelease, *releaseWork, error) {
	hr, ok := s.Get(id)
	if !ok {
		return nil, nil, fmt.Errorf("reading %s: it was deleted", id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.work[id]
	if w == nil {
		w = &releaseWork{status: hr.Status.DeepCopy(), failed: failedAt(hr)}
		s.work[id] = w
	}
	return hr, &releaseWork{prepared: w.prepared, status: w.status.DeepCopy(), failed: w.failed, rest: w.rest}, nil
}

// failedAt is when the last action on a release failed, as its status has it; zero when it did not.
func failedAt(hr *helmv2.HelmRelease) time.Time {
	if failed := failedCondition(&hr.Status); failed != nil {
		return failed.LastTransitionTime.Time
	}
	return time.Time{}
}

// failedCondition is the one by which a status says that the last action failed, nil when it did not.
func failedCondition(status *helmv2.HelmReleaseStatus) *metav1.Condition {
	c := &toolkit.Conditions{List: status.Conditions}
	for _, kind := range []string{helmv2.TestSuccessCondition, helmv2.ReleasedCondition} {
		if c.Is(kind, metav1.ConditionFalse) {
			return c.Get(kind)
		}
	}
	return nil
}

// failureCause is why the last action failed, without the name of the release.
func failureCause(status *helmv2.HelmReleaseStatus) string {
	failed := failedCondition(status)
	if failed == nil {
		return ""
	}
	_, cause, named := strings.Cut(failed.Message, ": ")
	if !named {
		return failed.Message
	}
	return cause
}

// publish replaces what was known before a step by what it knows now.
func (s *Keeper) publish(id engine.UnitID, w *releaseWork) {
	if _, there := s.Get(id); !there {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work[id] = w
}

// helm returns the client for a connection, which releases share that use it.
func (s *Keeper) helm(w runner.Work, storage string) (*helm.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[w.Config]
	if c == nil {
		made, err := helm.New(w.Config, storage)
		if err != nil {
			return nil, err
		}
		c = &releaseClient{made, w.Kinds}
		s.clients[w.Config] = c
		w.Ended(func() { s.ended(w.Config) })
	}
	if c.kinds != w.Kinds {
		c.kinds = w.Kinds
		c.Invalidate()
	}
	return c.In(storage).Remembering(), nil
}

// ended lets the client of a connection go that is no longer used.
func (s *Keeper) ended(config *rest.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clients[config]; c != nil {
		c.Close()
		delete(s.clients, config)
	}
}

// Traits are those of units that say what they hold when they have acted.
func (s *Keeper) Traits() runner.Traits { return runner.Traits{} }

// Prepare reads the chart and the values of a release.
func (s *Keeper) Prepare(ctx context.Context, p runner.Preparation) (runner.Prepared, error) {
	inputs, err := s.inputs(ctx, p.Unit)
	out := runner.Prepared{Inputs: inputs}
	if err != nil {
		out.Mentions = s.mentions(p.Unit)
	}
	return out, err
}

// mentions is what the chart of a release mentions.
func (s *Keeper) mentions(id engine.UnitID) engine.Mentions {
	var m engine.Mentions
	hr, ok := s.Get(id)
	if !ok {
		return m
	}
	key := source.Key(SourceOf(hr))
	artifact, ok := s.Store.Get(key)
	if !ok {
		return m
	}
	chart, err := loadChart(key, artifact)
	if err != nil {
		return m
	}
	for _, name := range chart.FileNames() {
		switch text, _ := chart.File(name); {
		case strings.HasPrefix(name, "templates/"), strings.Contains(name, "/templates/"):
			m.Chart(string(text), releaseNameOf(hr), chart.Name())
		case strings.HasSuffix(name, ".yaml"):
			m.Read(string(text))
		}
	}
	return m
}

func (s *Keeper) inputs(ctx context.Context, id engine.UnitID) (runner.Inputs, error) {
	hr, w, err := s.job(id)
	if err != nil {
		return runner.Inputs{}, err
	}
	reader := access.VersionReader{Client: s.Secrets, Versions: map[engine.ObjectID]uint64{}}
	s.connections.Look(ctx, access.ClusterRef{Namespace: hr.Namespace, Generation: hr.Generation, Config: hr.Spec.KubeConfig}, reader)
	inputs := runner.Inputs{Versions: reader.Versions}
	prepared, err := s.prepare(ctx, hr, reader)
	if err != nil {
		return inputs, err
	}
	w.prepared = prepared
	s.publish(id, w)
	inputs.Digest = prepared.digest
	return inputs, nil
}

func (s *Keeper) prepare(ctx context.Context, hr *helmv2.HelmRelease, reader access.Reader) (*Prepared, error) {
	key := source.Key(SourceOf(hr))
	return Prepare(ctx, hr, reader, s.patcherOf, func(context.Context) (GivenChart, error) {
		artifact, ok := s.Store.Get(key)
		if !ok {
			return GivenChart{}, fmt.Errorf("%s no longer has an artifact", engine.SourceID(key))
		}
		chart, err := loadChart(key, artifact)
		if err != nil {
			return GivenChart{}, fmt.Errorf("reading the chart of %s: %w", engine.SourceID(key), err)
		}
		return GivenChart{Chart: chart, Kind: key.Kind, Revision: artifact.Revision}, nil
	})
}

// Destroy uninstalls what was made for a HelmRelease.
func (s *Keeper) Destroy(ctx context.Context, w runner.Work) (runner.Destroyed, error) {
	return runner.Destroyed{}, s.destroy(ctx, w)
}

func (s *Keeper) destroy(ctx context.Context, w runner.Work) error {
	hr, work, err := s.job(w.Unit)
	if err != nil {
		return err
	}
	storage := cmp.Or(work.status.StorageNamespace, hr.GetStorageNamespace())
	client, err := s.helm(w, storage)
	if err != nil {
		return err
	}
	client = client.Guarded(newReleaseGuard(w, hr))
	made := snapshotsOf(work.status.History)
	if len(made) > 0 {
		made = made[:1]
	} else if made, err = client.Labelled(ctx, releaseLabels(hr)); err != nil && !apierrors.IsForbidden(err) {
		// What a killed run created is not recorded; a release of that name may have another owner. Whose
		// account may not look has made none.
		return err
	}
	for _, release := range made {
		if _, err := client.Uninstall(ctx, uninstallOptions(hr, release.Name, release.Namespace)); err != nil {
			return err
		}
	}
	return s.Charts.Remove(ctx, hr)
}

// entriesOf are the objects of a manifest as an inventory has them.
func entriesOf(rendered *helm.Rendered, cluster string) []engine.Entry {
	entries := []engine.Entry{}
	for _, o := range append(rendered.CRDs, rendered.Objects...) {
		e := engine.EntryOf(o)
		e.ID.Cluster = cluster
		entries = append(entries, e)
	}
	return entries
}

// changesOf reports what became of the objects of a release.
func changesOf(entries []engine.Entry, action engine.Action) []apply.Result {
	var changes []apply.Result
	for _, e := range entries {
		changes = append(changes, apply.Result{Entry: e, Action: action})
	}
	return changes
}
