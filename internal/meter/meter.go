// Package meter counts what an engine does and says where its objects stand, for Prometheus: in the
// names that the dashboards and alerts of Flux and of Argo CD ask for, and beside them in names of its own.
//
// It keeps counters and asks for everything else when it is scraped. It holds no values of objects
// but their names, revisions and addresses.
package meter

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Resource is where one object stands that the engine serves.
type Resource struct {
	Group, Version, Kind, Namespace, Name string
	// Ready is the status of the Ready condition: True, False or Unknown.
	Ready     string
	Suspended bool
	// Revision is the one that was applied or fetched last; Source names the source of a unit, and URL
	// is where a source comes from, without credentials.
	Revision, Source, URL string
}

// Engine is asked when the metrics are scraped.
type Engine interface {
	States(ctx context.Context) ([]runner.State, runner.Stats)
	// Measured are the dialects that it runs; one that is a Lister or an ArgoCD is asked, too.
	Measured() []any
}

// Lister says where the objects of a dialect stand, in the terms of Flux.
type Lister interface{ Resources() []Resource }

// Metrics are those of one process. They are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	took     *prometheus.HistogramVec
	passes   *prometheus.CounterVec
	notified *prometheus.CounterVec
	panics   prometheus.Counter
	argo     argoCounters
}

// scrapeTimeout bounds the wait for an engine that is busy.
const scrapeTimeout = 5 * time.Second

// New returns the metrics of the engine that current returns; it may be nil while there is none,
// and is asked nothing after ctx has ended.
func New(ctx context.Context, current func() Engine) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gotk_reconcile_duration_seconds", Help: "Duration of a pass, in seconds.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 14),
		}, []string{"kind", "name", "namespace"}),
		passes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "controller_runtime_reconcile_total", Help: "Completed passes, by kind and result.",
		}, []string{"controller", "result"}),
		notified: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "headgate_notifications_total", Help: "Delivery attempts of notifications, by type of Provider and outcome.",
		}, []string{"provider", "outcome"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "headgate_panics_total", Help: "Panics that were recovered; the log has their stacks.",
		}),
		argo: newArgoCounters(),
	}
	m.registry.MustRegister(m.argo.all()...)
	m.registry.MustRegister(
		m.took, m.passes, m.notified, m.panics, &scrape{ctx, current, newArgoDescs()},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Pass counts a pass over an object.
func (m *Metrics) Pass(kind, namespace, name string, took time.Duration, ok bool) {
	result := "success"
	if !ok {
		result = "error"
	}
	m.took.WithLabelValues(kind, name, namespace).Observe(took.Seconds())
	m.passes.WithLabelValues(lower(kind), result).Inc()
}

// Notified counts an attempt to notify.
func (m *Metrics) Notified(provider, outcome string) {
	m.notified.WithLabelValues(provider, outcome).Inc()
}

// Panics counts panics that were recovered.
func (m *Metrics) Panics() prometheus.Counter { return m.panics }

// Forget drops what is counted of an object that is gone.
func (m *Metrics) Forget(kind, namespace, name string) {
	m.took.DeleteLabelValues(kind, name, namespace)
}

// Handler serves the metrics in the text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func lower(kind string) string {
	out := []byte(kind)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c - 'A' + 'a'
		}
	}
	return string(out)
}

// scrape asks the engine.
type scrape struct {
	ctx     context.Context
	current func() Engine
	argo    argoDescs
}

var (
	info = prometheus.NewDesc("gotk_resource_info", "State of an object; the value is always 1.", []string{
		"customresource_group", "customresource_version", "customresource_kind", "exported_namespace", "name",
		"ready", "suspended", "revision", "source_name", "url",
	}, nil)
	units     = prometheus.NewDesc("headgate_units", "Units, by phase.", []string{"phase"}, nil)
	waiting   = prometheus.NewDesc("headgate_unit_waiting_seconds", "Time that a unit has spent in a phase other than Ready or Suspended, in seconds.", []string{"kind", "namespace", "name", "phase"}, nil)
	renders   = prometheus.NewDesc("headgate_renders_total", "Renders, by whether a previous result was reused.", []string{"cached"}, nil)
	objects   = prometheus.NewDesc("headgate_objects_total", "Objects that passes processed, by action.", []string{"action"}, nil)
	written   = prometheus.NewDesc("headgate_status_writes_total", "Status writes of units.", nil, nil)
	allPasses = prometheus.NewDesc("headgate_passes_total", "Passes started.", nil, nil)
)

// Describe names the metrics.
func (s *scrape) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{info, units, waiting, renders, objects, written, allPasses} {
		ch <- d
	}
	for _, d := range s.argo.all() {
		ch <- d
	}
}

// Collect asks the engine for the values.
func (s *scrape) Collect(ch chan<- prometheus.Metric) {
	engine := s.current()
	if engine == nil {
		return
	}
	for _, one := range engine.Measured() {
		if lister, is := one.(Lister); is {
			collect(lister, ch)
		}
		if argo, is := one.(ArgoCD); is {
			s.argo.collect(argo, ch)
		}
	}
	ctx, cancel := context.WithTimeout(s.ctx, scrapeTimeout)
	defer cancel()
	states, stats := engine.States(ctx)
	phases := map[string]float64{}
	for _, st := range states {
		phases[string(st.Phase)]++
		if !st.Ready && !st.Suspended {
			ch <- prometheus.MustNewConstMetric(waiting, prometheus.GaugeValue, time.Since(st.Since).Seconds(),
				st.Unit.Kind, st.Unit.Namespace, st.Unit.Name, string(st.Phase))
		}
	}
	for phase, n := range phases {
		ch <- prometheus.MustNewConstMetric(units, prometheus.GaugeValue, n, phase)
	}
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	count(renders, stats.RenderHits, "true")
	count(renders, stats.Renders, "false")
	count(objects, stats.Applied, "applied")
	count(objects, stats.Unchanged, "unchanged")
	count(objects, stats.Deleted, "deleted")
	count(written, stats.Reports)
	count(allPasses, stats.Passes)
}

// collect gives the metrics of objects.
func collect(of Lister, ch chan<- prometheus.Metric) {
	for _, r := range of.Resources() {
		ch <- prometheus.MustNewConstMetric(info, prometheus.GaugeValue, 1,
			r.Group, r.Version, r.Kind, r.Namespace, r.Name, r.Ready, strconv.FormatBool(r.Suspended), r.Revision, r.Source, redaction.Text(r.URL))
	}
}
