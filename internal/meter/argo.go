package meter

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-dev/headgate/internal/redaction"
)

// Application is where an Application of Argo CD stands.
type Application struct {
	Namespace, Name, Project string
	// Repo is the URL of its source, or of the first one. Server is that of its destination, as
	// it declares it.
	Repo, Server, DestinationNamespace string
	// Sync and Health are what its status says; Operation is "sync", "delete" or nothing.
	Sync, Health, Operation string
	Automated               bool
}

// ApplicationSet is where an ApplicationSet stands.
type ApplicationSet struct {
	Namespace, Name string
	// Status is the reason of its condition ResourcesUpToDate.
	Status string
	// Owned is how many Applications it has.
	Owned int
}

// DestinationCluster is one to which Applications go.
type DestinationCluster struct {
	// Server is its URL, Version that of its Kubernetes, empty if unknown.
	Server, Name, Version string
	// Connected is set while it answers.
	Connected bool
	// Kinds is how many kinds it serves, Objects how many objects of it are watched.
	Kinds, Objects int
}

// ArgoCD is a guest of an Engine that serves the API of Argo CD. It is asked when the metrics are scraped.
type ArgoCD interface {
	Applications() []Application
	ApplicationSets() []ApplicationSet
	DestinationClusters() []DestinationCluster
}

// Sync is an operation that ended.
type Sync struct {
	// Namespace, Name and Project are those of the Application, Server is that of its destination as it declares it.
	Namespace, Name, Project, Server string
	// Phase is Succeeded, Failed or Error.
	Phase  string
	DryRun bool
	Took   time.Duration
}

// GitRequest is one that was made to a Git repository.
type GitRequest struct {
	// Repo is the URL, Revision the requested one.
	Repo, Revision string
	// Brought is set when content came, else the repository was only asked what it has. Unknown is set when it has no
	// such revision, Failed when nothing could be learnt.
	Brought, Unknown, Failed bool
	Took                     time.Duration
}

// argoCounters count what is done for Applications, under the names of the upstream.
type argoCounters struct {
	syncs, syncTime, requests, fetchFailures, refFailures *prometheus.CounterVec
	reconciled, requestTime, sets                         *prometheus.HistogramVec
}

func newArgoCounters() argoCounters {
	app := []string{"namespace", "name", "project", "dest_server"}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	return argoCounters{
		syncs:         counter("argocd_app_sync_total", "Completed syncs, by phase.", append(app, "phase", "dry_run")...),
		syncTime:      counter("argocd_app_sync_duration_seconds_total", "Duration of successful syncs, in seconds.", app...),
		requests:      counter("argocd_git_request_total", "Requests to Git repositories.", "repo", "request_type"),
		fetchFailures: counter("argocd_git_fetch_fail_total", "Failed requests to Git repositories.", "repo", "revision"),
		refFailures:   counter("argocd_git_lsremote_fail_total", "Revisions that a Git repository does not contain.", "repo", "revision"),
		reconciled: histogram("argocd_app_reconcile", "Duration of rendering an Application, in seconds.",
			[]float64{0.25, .5, 1, 2, 4, 8, 16}, "namespace", "dest_server"),
		requestTime: histogram("argocd_git_request_duration_seconds", "Duration of requests to Git repositories, in seconds.",
			[]float64{0.1, 0.25, .5, 1, 2, 4, 10, 20}, "repo", "request_type"),
		sets: histogram("argocd_appset_reconcile", "Duration of passes of an ApplicationSet, in seconds.", prometheus.DefBuckets, "namespace", "name"),
	}
}

func (c argoCounters) all() []prometheus.Collector {
	return []prometheus.Collector{c.syncs, c.syncTime, c.requests, c.fetchFailures, c.refFailures, c.reconciled, c.requestTime, c.sets}
}

// Synced counts an operation of an Application that ended.
func (m *Metrics) Synced(s Sync) {
	m.argo.syncs.WithLabelValues(s.Namespace, s.Name, s.Project, s.Server, s.Phase, strconv.FormatBool(s.DryRun)).Inc()
	if s.Phase == "Succeeded" {
		m.argo.syncTime.WithLabelValues(s.Namespace, s.Name, s.Project, s.Server).Add(max(0, s.Took.Seconds()))
	}
}

// Reconciled counts a render of an Application of a namespace, and how long it took.
func (m *Metrics) Reconciled(namespace, server string, took time.Duration) {
	m.argo.reconciled.WithLabelValues(namespace, server).Observe(took.Seconds())
}

// Requested counts a request to a Git repository.
func (m *Metrics) Requested(r GitRequest) {
	kind, repo := "ls-remote", redaction.Text(r.Repo)
	if r.Brought {
		kind = "fetch"
	}
	m.argo.requests.WithLabelValues(repo, kind).Inc()
	m.argo.requestTime.WithLabelValues(repo, kind).Observe(r.Took.Seconds())
	switch {
	case r.Unknown:
		m.argo.refFailures.WithLabelValues(repo, r.Revision).Inc()
	case r.Failed:
		m.argo.fetchFailures.WithLabelValues(repo, r.Revision).Inc()
	}
}

// Generated counts a pass over an ApplicationSet, and how long it took.
func (m *Metrics) Generated(namespace, name string, took time.Duration) {
	m.argo.sets.WithLabelValues(namespace, name).Observe(took.Seconds())
}

// ForgetApplication drops what is counted of an Application that is gone, ForgetApplicationSet of a set.
func (m *Metrics) ForgetApplication(namespace, name string) {
	one := prometheus.Labels{"namespace": namespace, "name": name}
	m.argo.syncs.DeletePartialMatch(one)
	m.argo.syncTime.DeletePartialMatch(one)
}

// ForgetApplicationSet drops what is counted of an ApplicationSet that is gone.
func (m *Metrics) ForgetApplicationSet(namespace, name string) {
	m.argo.sets.DeleteLabelValues(namespace, name)
}

// argoDescs are the metrics that are computed when they are scraped.
type argoDescs struct {
	app, set, owned, cluster, connection, kinds, objects *prometheus.Desc
}

func newArgoDescs() argoDescs {
	desc := prometheus.NewDesc
	return argoDescs{
		app: desc("argocd_app_info", "State of an Application; the value is always 1.", []string{
			"namespace", "name", "project", "autosync_enabled", "repo", "dest_server", "dest_namespace", "sync_status", "health_status", "operation",
		}, nil),
		set:        desc("argocd_appset_info", "State of an ApplicationSet; the value is always 1.", []string{"namespace", "name", "resource_update_status"}, nil),
		owned:      desc("argocd_appset_owned_applications", "Applications that an ApplicationSet owns.", []string{"namespace", "name"}, nil),
		cluster:    desc("argocd_cluster_info", "A cluster that Applications are deployed to; the value is always 1.", []string{"server", "k8s_version", "name"}, nil),
		connection: desc("argocd_cluster_connection_status", "Whether a cluster responds: 1 or 0.", []string{"server", "k8s_version"}, nil),
		kinds:      desc("argocd_cluster_api_resources", "Kinds that a cluster serves.", []string{"server"}, nil),
		objects:    desc("argocd_cluster_api_resource_objects", "Objects of a cluster that are watched.", []string{"server"}, nil),
	}
}

func (d argoDescs) all() []*prometheus.Desc {
	return []*prometheus.Desc{d.app, d.set, d.owned, d.cluster, d.connection, d.kinds, d.objects}
}

// collect asks for where everything stands.
func (d argoDescs) collect(of ArgoCD, ch chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	for _, a := range of.Applications() {
		gauge(d.app, 1, a.Namespace, a.Name, a.Project, strconv.FormatBool(a.Automated), redaction.Text(a.Repo), a.Server, a.DestinationNamespace, a.Sync, a.Health, a.Operation)
	}
	for _, s := range of.ApplicationSets() {
		gauge(d.set, 1, s.Namespace, s.Name, s.Status)
		gauge(d.owned, float64(s.Owned), s.Namespace, s.Name)
	}
	for _, c := range of.DestinationClusters() {
		connected := 0.0
		if c.Connected {
			connected = 1
		}
		gauge(d.cluster, 1, c.Server, c.Version, c.Name)
		gauge(d.connection, connected, c.Server, c.Version)
		gauge(d.kinds, float64(c.Kinds), c.Server)
		gauge(d.objects, float64(c.Objects), c.Server)
	}
}
