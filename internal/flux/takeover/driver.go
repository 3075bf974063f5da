// Package takeover takes the place of what would install Flux: the charts of flux-operator and of flux-instance, FluxInstances, and
// what an earlier process applied and could not record.
//
// Nothing is installed here.
package takeover

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/release"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/source"
)

// The charts by which repositories install Flux. No other controller may serve its API, so their
// releases install nothing.
const (
	operatorChart = "flux-operator"
	instanceChart = "flux-instance"
)

// reasonServed is our reason for an object that asks for controllers whose place is taken.
const reasonServed = "ServedByHeadgate"

// Driver drives releases, and takes the place of what those of the two charts would install.
type Driver struct {
	*release.Keeper

	instances *Instances
	sources   *sources.Keeper
}

// New returns the driver of releases.
func New(r *release.Keeper, i *Instances, s *sources.Keeper) *Driver {
	h := &Driver{Keeper: r, instances: i, sources: s}
	r.Idle = h
	return h
}

// Replaced names the chart of a release when it is one of the two, and is empty otherwise. A chart of which
// nothing is known yet is not read before that is.
func (h *Driver) Replaced(hr *helmv2.HelmRelease) string {
	if !h.Serve.Serves(toolkit.Operator.Name) {
		return ""
	}
	return ReplacedChart(hr, h.origin)
}

// ReplacedChart is replaced for a release whose source is looked up.
func ReplacedChart(hr *helmv2.HelmRelease, lookup func(engine.SourceID) sources.Origin) string {
	name := ""
	switch ref := hr.Spec.ChartRef; {
	case hr.Spec.Chart != nil:
		name = hr.Spec.Chart.Spec.Chart
	case ref == nil:
	case ref.Kind == sourcev1.HelmChartKind:
		if c, ok := lookup(release.SourceOf(hr)).(sources.HelmChart); ok {
			name = c.Spec.Chart
		}
	case ref.Kind == sourcev1.OCIRepositoryKind:
		if repo, ok := lookup(release.SourceOf(hr)).(sources.OCIRepository); ok && path.Base(path.Dir(repo.Spec.URL)) == "charts" {
			name = repo.Spec.URL
		}
	}
	switch name = path.Base(name); name {
	case operatorChart, instanceChart:
		return name
	default:
		return ""
	}
}

func (h *Driver) origin(id engine.SourceID) sources.Origin {
	f, known := h.sources.Feed(source.Key(id))
	if !known {
		return nil
	}
	return f.Current()
}

// Concerned are the releases that read a source and install nothing.
func (h *Driver) Concerned(id engine.SourceID) []engine.UnitID {
	var ids []engine.UnitID
	for _, hr := range h.All() {
		if release.SourceOf(hr) == id && h.Replaced(hr) != "" {
			ids = append(ids, toolkit.ReleaseID(hr.Namespace, hr.Name))
		}
	}
	return ids
}

// Without takes from the declaration of a release what is of no use when nothing is installed: it waits for
// no chart.
func (h *Driver) Without(u engine.Unit, hr *helmv2.HelmRelease) engine.Unit {
	if h.Replaced(hr) != "" {
		u.Source, u.Health, u.FollowsDrift = engine.SourceID{}, engine.HealthPolicy{}, false
	}
	return u
}

// served returns a release that installs nothing, and which chart it names.
func (h *Driver) served(id engine.UnitID) (hr *helmv2.HelmRelease, chart string) {
	hr, there := h.Get(id)
	if !there {
		return nil, ""
	}
	return hr, h.Replaced(hr)
}

// Prepare reads the values of flux-instance, and no chart.
func (h *Driver) Prepare(ctx context.Context, p runner.Preparation) (runner.Prepared, error) {
	hr, chart := h.served(p.Unit)
	if chart == "" {
		return h.Keeper.Prepare(ctx, p)
	}
	reader := access.VersionReader{Client: h.Secrets, Versions: map[engine.ObjectID]uint64{}}
	values, err := release.ComposeValues(ctx, hr, reader)
	prepared := runner.Prepared{Inputs: runner.Inputs{Versions: reader.Versions}}
	if err != nil {
		return prepared, &release.Failure{ReadyReason: "ValuesError", Err: err}
	}
	sum := sha256.Sum256([]byte(chart + "\x00" + values.Digest() + "\x00" + fmt.Sprint(hr.Generation)))
	prepared.Digest = "sha256:" + hex.EncodeToString(sum[:])
	return prepared, nil
}

// Act does what the values of flux-instance ask for.
func (h *Driver) Act(ctx context.Context, w runner.Work) runner.Acted {
	hr, chart := h.served(w.Unit)
	if chart == "" {
		return h.Keeper.Act(ctx, w)
	}
	message := "Headgate serves the API instead; nothing is installed"
	if chart == instanceChart {
		said, err := h.instance(ctx, hr, w)
		if err != nil {
			return release.Failed(helmv2.InstallFailedReason, err.Error(), false)
		}
		message = said
	}
	h.instances.say(w.Unit, message)
	// What is known of it is all that there is: no one waits for more.
	return runner.Acted{Entries: w.Held, Held: true}
}

// instance serves what the values of flux-instance declare, with the rights of the release: the chart would be installed with no
// others.
func (h *Driver) instance(ctx context.Context, hr *helmv2.HelmRelease, w runner.Work) (string, error) {
	reader := access.VersionReader{Client: h.Secrets, Versions: map[engine.ObjectID]uint64{}}
	values, err := release.ComposeValues(ctx, hr, reader)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(values.Map()["instance"])
	if err != nil {
		return "", fmt.Errorf("spec.values.instance: %w", err)
	}
	var spec fluxcdv1.FluxInstanceSpec
	if err := json.Unmarshal(data, &spec); err != nil {
		return "", fmt.Errorf("spec.values.instance: %w", err)
	}
	if spec.Sync != nil && w.Declared.Target.Cluster != "" {
		return "", errors.New("spec.values.instance.sync: not supported together with spec.kubeConfig; declare a source and a Kustomization")
	}
	client, err := dynamic.NewForConfig(w.Config)
	if err != nil {
		return "", fmt.Errorf("creating a client for the sync: %w", err)
	}
	return h.instances.serve(ctx, toolkit.ReleaseID(hr.Namespace, hr.Name), place{client, hr.GetReleaseNamespace()}, spec)
}

// Verify finds nothing to test where nothing is installed.
func (h *Driver) Verify(ctx context.Context, w runner.Work) runner.Acted {
	if _, chart := h.served(w.Unit); chart != "" {
		return runner.Acted{}
	}
	return h.Keeper.Verify(ctx, w)
}

// Destroy leaves everything where nothing was installed.
func (h *Driver) Destroy(ctx context.Context, w runner.Work) (runner.Destroyed, error) {
	hr, chart := h.served(w.Unit)
	if chart == "" {
		return h.Keeper.Destroy(ctx, w)
	}
	return runner.Destroyed{}, h.Charts.Remove(ctx, hr)
}

// Words sets what the Ready condition of such a release says.
func (h *Driver) Words(hr *helmv2.HelmRelease, after *helmv2.HelmReleaseStatus, r runner.Report) {
	message := h.instances.said(r.Unit)
	if !r.Final || !r.OK || message == "" || h.Replaced(hr) == "" {
		return
	}
	c := &toolkit.Conditions{List: after.Conditions, Generation: r.Generation, Now: metav1.Now()}
	if old := (&toolkit.Conditions{List: hr.Status.Conditions}).Get(toolkit.ConditionReady); old != nil && old.Reason == reasonServed && old.Message == message {
		c.Drop(toolkit.ConditionReady)
		c.List = append(c.List, *old)
	}
	c.Set(toolkit.ConditionReady, metav1.ConditionTrue, reasonServed, message)
	after.Conditions = c.Sorted()
}

// ChartNamed reports whether a URL may be that of one of the two charts.
func ChartNamed(o sources.Origin) bool {
	base := path.Base(strings.TrimSuffix(o.Address(), "/"))
	return base == operatorChart || base == instanceChart
}
