package flux

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/engine"
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

// handover drives releases, and takes the place of what those of the two charts would install.
type handover struct {
	*releases

	instances *instances
	sources   *sources
}

// newHandover returns the driver of releases.
func newHandover(r *releases, i *instances, s *sources) *handover {
	h := &handover{releases: r, instances: i, sources: s}
	r.idle = h
	return h
}

// replaced names the chart of a release when it is one of the two, and is empty otherwise. A chart of which
// nothing is known yet is not read before that is.
func (h *handover) replaced(hr *helmv2.HelmRelease) string {
	if !h.Serve.Serves(operatorGroup.Name) {
		return ""
	}
	return replacedChart(hr, h.origin)
}

// replacedChart is replaced for a release whose source is looked up.
func replacedChart(hr *helmv2.HelmRelease, lookup func(engine.SourceID) origin) string {
	name := ""
	switch ref := hr.Spec.ChartRef; {
	case hr.Spec.Chart != nil:
		name = hr.Spec.Chart.Spec.Chart
	case ref == nil:
	case ref.Kind == sourcev1.HelmChartKind:
		if c, ok := lookup(releaseSource(hr)).(helmChart); ok {
			name = c.Spec.Chart
		}
	case ref.Kind == sourcev1.OCIRepositoryKind:
		if repo, ok := lookup(releaseSource(hr)).(ociRepository); ok && path.Base(path.Dir(repo.Spec.URL)) == "charts" {
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

func (h *handover) origin(id engine.SourceID) origin {
	f, known := h.sources.feed(source.Key(id))
	if !known {
		return nil
	}
	return f.current()
}

// concerned are the releases that read a source and install nothing.
func (h *handover) concerned(id engine.SourceID) []engine.UnitID {
	var ids []engine.UnitID
	for _, hr := range h.All() {
		if releaseSource(hr) == id && h.replaced(hr) != "" {
			ids = append(ids, releaseID(hr.Namespace, hr.Name))
		}
	}
	return ids
}

// without takes from the declaration of a release what is of no use when nothing is installed: it waits for
// no chart.
func (h *handover) without(u engine.Unit, hr *helmv2.HelmRelease) engine.Unit {
	if h.replaced(hr) != "" {
		u.Source, u.Health, u.FollowsDrift = engine.SourceID{}, engine.HealthPolicy{}, false
	}
	return u
}

// served returns a release that installs nothing, and which chart it names.
func (h *handover) served(id engine.UnitID) (hr *helmv2.HelmRelease, chart string) {
	hr, there := h.Get(id)
	if !there {
		return nil, ""
	}
	return hr, h.replaced(hr)
}

// Prepare reads the values of flux-instance, and no chart.
func (h *handover) Prepare(ctx context.Context, p runner.Preparation) (runner.Prepared, error) {
	hr, chart := h.served(p.Unit)
	if chart == "" {
		return h.releases.Prepare(ctx, p)
	}
	reader := versionReader{client: h.secrets, versions: map[engine.ObjectID]uint64{}}
	values, err := composeValues(ctx, hr, reader)
	prepared := runner.Prepared{Inputs: runner.Inputs{Versions: reader.versions}}
	if err != nil {
		return prepared, &releaseFailure{"ValuesError", err}
	}
	sum := sha256.Sum256([]byte(chart + "\x00" + values.Digest() + "\x00" + fmt.Sprint(hr.Generation)))
	prepared.Digest = "sha256:" + hex.EncodeToString(sum[:])
	return prepared, nil
}

// Act does what the values of flux-instance ask for.
func (h *handover) Act(ctx context.Context, w runner.Work) runner.Acted {
	hr, chart := h.served(w.Unit)
	if chart == "" {
		return h.releases.Act(ctx, w)
	}
	message := "Headgate serves the API instead; nothing is installed"
	if chart == instanceChart {
		said, err := h.instance(ctx, hr)
		if err != nil {
			return failedAct(helmv2.InstallFailedReason, err.Error(), false)
		}
		message = said
	}
	h.instances.say(w.Unit, message)
	// What is known of it is all that there is: nobody waits for more.
	return runner.Acted{Entries: w.Held, Held: true}
}

// instance serves what the values of flux-instance declare.
func (h *handover) instance(ctx context.Context, hr *helmv2.HelmRelease) (string, error) {
	reader := versionReader{client: h.secrets, versions: map[engine.ObjectID]uint64{}}
	values, err := composeValues(ctx, hr, reader)
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
	return h.instances.serve(ctx, releaseID(hr.Namespace, hr.Name), hr.GetReleaseNamespace(), spec)
}

// Verify finds nothing to test where nothing is installed.
func (h *handover) Verify(ctx context.Context, w runner.Work) runner.Acted {
	if _, chart := h.served(w.Unit); chart != "" {
		return runner.Acted{}
	}
	return h.releases.Verify(ctx, w)
}

// Destroy leaves everything where nothing was installed.
func (h *handover) Destroy(ctx context.Context, w runner.Work) (runner.Destroyed, error) {
	hr, chart := h.served(w.Unit)
	if chart == "" {
		return h.releases.Destroy(ctx, w)
	}
	return runner.Destroyed{}, h.charts.remove(ctx, hr)
}

// words sets what the Ready condition of such a release says.
func (h *handover) words(hr *helmv2.HelmRelease, after *helmv2.HelmReleaseStatus, r runner.Report) {
	message := h.instances.said(r.Unit)
	if !r.Final || !r.OK || message == "" || h.replaced(hr) == "" {
		return
	}
	c := &conditions{list: after.Conditions, generation: r.Generation, now: metav1.Now()}
	if old := (&conditions{list: hr.Status.Conditions}).get(conditionReady); old != nil && old.Reason == reasonServed && old.Message == message {
		c.drop(conditionReady)
		c.list = append(c.list, *old)
	}
	c.set(conditionReady, metav1.ConditionTrue, reasonServed, message)
	after.Conditions = c.sorted()
}

// chartNamed tells whether a URL may be that of one of the two charts.
func chartNamed(o origin) bool {
	base := path.Base(strings.TrimSuffix(o.address(), "/"))
	return base == operatorChart || base == instanceChart
}
