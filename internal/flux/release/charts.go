package release

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// Charts keeps the HelmCharts that HelmReleases declare by spec.chart: they are made, brought back
// when someone changes them, and deleted when another one is declared. What cannot be made is tried again.
type Charts struct {
	toolkit.ByNamespace

	client   dynamic.Interface
	releases *Keeper
	sources  *sources.Keeper
	policy   *policies.Effective
	Passes   *rounds.Loop[engine.UnitID]

	mu sync.Mutex
	// failed says why a HelmChart could not be made.
	failed map[source.Key]string
}

// NewCharts returns what keeps the HelmCharts of releases.
func NewCharts(s *sources.Keeper, r *Keeper, policy *policies.Effective) *Charts {
	c := &Charts{client: r.Home.Dynamic, releases: r, sources: s, policy: policy, failed: map[source.Key]string{}}
	c.Passes = rounds.New(c, rounds.Options{Slots: rounds.NewSlots(chartWorkers), Backoff: chartBackoff, Guard: r.Guard})
	r.Charts = c
	return c
}

// chartWorkers is how many HelmCharts are written at a time.
const chartWorkers = 4

// chartBackoff begins with a short wait: what keeps a HelmChart from being made is often a namespace that comes with the
// same commit.
var chartBackoff = rounds.Backoff{Min: 5 * time.Millisecond, Max: sources.FetchRetryMax}

// Changed reconciles the HelmChart of a release.
func (c *Charts) Changed(id engine.UnitID) { c.Passes.Wake(id) }

// Touched reconciles the release whose HelmChart was changed or deleted.
func (c *Charts) Touched(chart metav1.Object) {
	labels := chart.GetLabels()
	if name, ours := labels[toolkit.ReleasePrefix+"name"]; ours {
		c.Changed(toolkit.ReleaseID(labels[toolkit.ReleasePrefix+"namespace"], name))
	}
}

// Pass makes the HelmChart that a release declares.
func (c *Charts) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	hr, there := c.releases.Get(id)
	if !there || hr.Spec.Suspend || hr.DeletionTimestamp != nil || deniedChart(c.policy.Now(), hr) != "" {
		return rounds.Rest()
	}
	err := c.settle(ctx, hr)
	if err == nil || ctx.Err() != nil {
		return rounds.Rest()
	}
	logr.FromContextOrDiscard(ctx).Info("the HelmChart of a HelmRelease could not be created",
		"helmrelease", hr.Namespace+"/"+hr.Name, "error", err.Error())
	return rounds.Retry(err)
}

// settle makes what a release declares, takes away what it declared before, and writes down which one
// it is.
func (c *Charts) settle(ctx context.Context, hr *helmv2.HelmRelease) error {
	chart := ""
	if wanted := ChartOf(hr); wanted != nil {
		chart = wanted.Namespace + "/" + wanted.Name
		if err := c.make(ctx, hr, wanted); err != nil {
			return err
		}
	}
	if hr.Status.HelmChart == chart {
		return nil
	}
	if err := c.Remove(ctx, hr); err != nil {
		return err
	}
	after := hr.Status.DeepCopy()
	after.HelmChart = chart
	u, err := declared.Writer{Client: c.client.Resource(toolkit.HelmReleases), Manager: toolkit.ReleaseField}.Status(ctx, hr, hr.Status, after)
	if err != nil || u == nil {
		return err
	}
	_, err = c.releases.Put(u)
	return err
}

// ChartOf is the HelmChart that a release declares, nil when it refers to one.
func ChartOf(hr *helmv2.HelmRelease) *sourcev1.HelmChart {
	t := hr.Spec.Chart
	if t == nil || hr.Spec.ChartRef != nil {
		return nil
	}
	chart := &sourcev1.HelmChart{
		TypeMeta: metav1.TypeMeta{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.HelmChartKind},
		ObjectMeta: metav1.ObjectMeta{
			Name: hr.GetHelmChartName(), Namespace: t.GetNamespace(hr.Namespace),
			Labels: map[string]string{toolkit.ReleasePrefix + "name": hr.Name, toolkit.ReleasePrefix + "namespace": hr.Namespace},
		},
		Spec: sourcev1.HelmChartSpec{
			Chart: t.Spec.Chart, Version: cmp.Or(t.Spec.Version, "*"), Interval: t.GetInterval(hr.Spec.Interval),
			SourceRef: sourcev1.LocalHelmChartSourceReference{
				APIVersion: t.Spec.SourceRef.APIVersion, Kind: t.Spec.SourceRef.Kind, Name: t.Spec.SourceRef.Name,
			},
			ReconcileStrategy: cmp.Or(t.Spec.ReconcileStrategy, sourcev1.ReconcileStrategyChartVersion),
			ValuesFiles:       t.Spec.ValuesFiles, IgnoreMissingValuesFiles: t.Spec.IgnoreMissingValuesFiles,
		},
	}
	if m := t.ObjectMeta; m != nil {
		labels := maps.Clone(m.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, chart.Labels)
		chart.Labels, chart.Annotations = labels, m.Annotations
	}
	if v := t.Spec.Verify; v != nil {
		chart.Spec.Verify = &sourcev1.HelmChartVerification{Provider: v.Provider, SecretRef: v.SecretRef}
	}
	return chart
}

// make writes a HelmChart unless it is as it should be.
func (c *Charts) make(ctx context.Context, hr *helmv2.HelmRelease, chart *sourcev1.HelmChart) error {
	key := toolkit.SourceKey(sourcev1.HelmChartKind, chart.Namespace, chart.Name)
	if f, known := c.sources.Feed(key); known {
		if is, ok := f.Current().(sources.HelmChart); ok && sameChart(is.HelmChart, chart) {
			c.note(hr, key, nil)
			return nil
		}
	}
	object, err := declared.Fields(chart)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", engine.SourceID(key), err)
	}
	delete(object, "status")
	data, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", engine.SourceID(key), err)
	}
	options := toolkit.PatchAs(toolkit.ReleaseManager)
	force := true
	options.Force = &force
	_, err = c.client.Resource(toolkit.HelmCharts).Namespace(chart.Namespace).Patch(ctx, chart.Name, types.ApplyPatchType, data, options)
	if err != nil {
		err = fmt.Errorf("spec.chart: creating %s: %w", engine.SourceID(key), err)
	}
	c.note(hr, key, err)
	return err
}

// Outdated reports whether a HelmChart is not what its release declares.
func (c *Charts) Outdated(is sources.HelmChart) bool {
	hr, known := c.releases.Get(toolkit.ReleaseID(is.Labels[toolkit.ReleasePrefix+"namespace"], is.Labels[toolkit.ReleasePrefix+"name"]))
	if !known || hr.Spec.Suspend {
		return false
	}
	declared := ChartOf(hr)
	return declared != nil && declared.Namespace == is.Namespace && declared.Name == is.Name && !sameChart(is.HelmChart, declared)
}

// sameChart reports whether a HelmChart is as it is declared.
func sameChart(is, declared *sourcev1.HelmChart) bool {
	spec := declared.DeepCopy().Spec
	spec.Suspend = is.Spec.Suspend
	return is.DeletionTimestamp == nil && reflect.DeepEqual(is.Spec, spec) && holds(is.Labels, declared.Labels) && holds(is.Annotations, declared.Annotations)
}

// holds reports whether a map has all that another one has.
func holds(is, declared map[string]string) bool {
	for k, v := range declared {
		if got, there := is[k]; !there || got != v {
			return false
		}
	}
	return true
}

// note remembers why a HelmChart could not be created, and reports it once.
func (c *Charts) note(hr *helmv2.HelmRelease, key source.Key, err error) {
	c.mu.Lock()
	was := c.failed[key]
	if err == nil {
		delete(c.failed, key)
	} else {
		c.failed[key] = err.Error()
	}
	c.mu.Unlock()
	if err == nil || was == err.Error() {
		return
	}
	c.releases.Events.Record(hr, corev1.EventTypeWarning, "HelmChartCreateFailed", err.Error(), nil)
	c.sources.Notify(engine.SourceID(key))
}

// Failure says why a HelmChart could not be made, if that is so.
func (c *Charts) Failure(key source.Key) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed[key]
}

// Awaited reports whether a HelmChart that is not there is one that a release declares, and so is about to be made.
func (c *Charts) Awaited(key source.Key) bool {
	chart := toolkit.SourceKey(sourcev1.HelmChartKind, key.Namespace, key.Name)
	return key == chart && !c.sources.Sharded && slices.ContainsFunc(c.releases.All(), func(hr *helmv2.HelmRelease) bool {
		declares := hr.Spec.Chart != nil && hr.Spec.ChartRef == nil && hr.GetHelmChartName() == key.Name && hr.Spec.Chart.GetNamespace(hr.Namespace) == key.Namespace
		return declares && !hr.Spec.Suspend && hr.DeletionTimestamp == nil && deniedChart(c.policy.Now(), hr) == ""
	})
}

// Remove deletes the HelmChart that was created for a release, and no other.
func (c *Charts) Remove(ctx context.Context, hr *helmv2.HelmRelease) error {
	namespace, name, found := strings.Cut(hr.Status.HelmChart, "/")
	if !found {
		return nil
	}
	charts := c.client.Resource(toolkit.HelmCharts).Namespace(namespace)
	u, err := charts.Get(ctx, name, metav1.GetOptions{})
	if err == nil {
		labels, uid := u.GetLabels(), u.GetUID()
		if labels[toolkit.ReleasePrefix+"name"] != hr.Name || labels[toolkit.ReleasePrefix+"namespace"] != hr.Namespace {
			return nil
		}
		err = charts.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting HelmChart %s: %w", hr.Status.HelmChart, err)
	}
	return nil
}
