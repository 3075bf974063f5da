package meter_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/headgate-dev/headgate/internal/meter"
	"github.com/headgate-dev/headgate/internal/runner"
)

// host is an engine with one dialect.
type host struct{ one any }

func (host) States(context.Context) (states []runner.State, all runner.Stats) { return }
func (h host) Measured() []any                                                { return []any{h.one} }

// argo is a dialect that serves the API of Argo CD.
type argo struct{}

func (argo) Applications() []meter.Application {
	return []meter.Application{{
		Namespace: "argocd", Name: "web", Project: "team", Repo: "https://git.example/web", Server: "https://kubernetes.default.svc",
		DestinationNamespace: "web", Sync: "OutOfSync", Health: "Degraded", Operation: "sync", Automated: true,
	}}
}

func (argo) ApplicationSets() []meter.ApplicationSet {
	return []meter.ApplicationSet{{Namespace: "argocd", Name: "all", Status: "ApplicationSetUpToDate", Owned: 3}}
}

func (argo) DestinationClusters() []meter.DestinationCluster {
	return []meter.DestinationCluster{
		{Server: "https://kubernetes.default.svc", Name: "in-cluster", Version: "v1.36.0", Connected: true, Kinds: 70, Objects: 12},
		{Server: "https://far.example", Name: "far", Version: "v1.35.1", Kinds: 60},
	}
}

// families scrapes the metrics over HTTP and reads them as Prometheus does.
func families(t *testing.T, m *meter.Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	server := httptest.NewServer(m.Handler())
	t.Cleanup(server.Close)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	got, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// series are the labels of a metric, and its value.
type series struct {
	labels map[string]string
	value  float64
}

func seriesOf(f *dto.MetricFamily) []series {
	var all []series
	for _, m := range f.GetMetric() {
		one := series{labels: map[string]string{}}
		for _, l := range m.GetLabel() {
			one.labels[l.GetName()] = l.GetValue()
		}
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			one.value = m.GetCounter().GetValue()
		case dto.MetricType_HISTOGRAM:
			one.value = float64(m.GetHistogram().GetSampleCount())
		default:
			one.value = m.GetGauge().GetValue()
		}
		all = append(all, one)
	}
	return all
}

// TestArgoMetrics has the names, types and labels that alerts on Argo CD go by.
func TestArgoMetrics(t *testing.T) {
	m := meter.New(t.Context(), func() meter.Engine { return host{argo{}} })
	done := meter.Sync{Namespace: "argocd", Name: "web", Project: "team", Server: "https://kubernetes.default.svc", Phase: "Succeeded", Took: 3 * time.Second}
	m.Synced(done)
	done.Phase, done.DryRun = "Failed", true
	m.Synced(done)
	m.Reconciled("argocd", "https://kubernetes.default.svc", time.Second)
	m.Generated("argocd", "all", time.Second)
	m.Requested(meter.GitRequest{Repo: "https://git.example/web", Revision: "main", Brought: true, Took: time.Second})
	m.Requested(meter.GitRequest{Repo: "https://git.example/web", Revision: "main"})
	m.Requested(meter.GitRequest{Repo: "https://git.example/web", Revision: "main", Failed: true})
	m.Requested(meter.GitRequest{Repo: "https://git.example/web", Revision: "gone", Unknown: true})

	const here, git = "https://kubernetes.default.svc", "https://git.example/web"
	app := func(more ...string) map[string]string {
		labels := map[string]string{"namespace": "argocd", "name": "web", "project": "team", "dest_server": here}
		for i := 0; i < len(more); i += 2 {
			labels[more[i]] = more[i+1]
		}
		return labels
	}
	cases := map[string]struct {
		reason string
		kind   dto.MetricType
		want   []series
	}{
		"argocd_app_info": {"where an Application stands", dto.MetricType_GAUGE, []series{{app(
			"autosync_enabled", "true", "repo", git, "dest_namespace", "web", "sync_status", "OutOfSync", "health_status", "Degraded", "operation", "sync"), 1}}},
		"argocd_app_sync_total": {"syncs by phase", dto.MetricType_COUNTER, []series{
			{app("phase", "Succeeded", "dry_run", "false"), 1}, {app("phase", "Failed", "dry_run", "true"), 1},
		}},
		"argocd_app_sync_duration_seconds_total": {"only those that ended well count", dto.MetricType_COUNTER, []series{{app(), 3}}},
		"argocd_app_reconcile":                   {"a histogram, without the name", dto.MetricType_HISTOGRAM, []series{{map[string]string{"namespace": "argocd", "dest_server": here}, 1}}},
		"argocd_git_request_total": {"what brought nothing only asked", dto.MetricType_COUNTER, []series{
			{map[string]string{"repo": git, "request_type": "fetch"}, 1}, {map[string]string{"repo": git, "request_type": "ls-remote"}, 3},
		}},
		"argocd_git_request_duration_seconds": {"each request counts", dto.MetricType_HISTOGRAM, []series{
			{map[string]string{"repo": git, "request_type": "fetch"}, 1}, {map[string]string{"repo": git, "request_type": "ls-remote"}, 3},
		}},
		"argocd_git_fetch_fail_total":      {"a server that does not answer", dto.MetricType_COUNTER, []series{{map[string]string{"repo": git, "revision": "main"}, 1}}},
		"argocd_git_lsremote_fail_total":   {"a revision that is not there", dto.MetricType_COUNTER, []series{{map[string]string{"repo": git, "revision": "gone"}, 1}}},
		"argocd_appset_info":               {"where a set stands", dto.MetricType_GAUGE, []series{{map[string]string{"namespace": "argocd", "name": "all", "resource_update_status": "ApplicationSetUpToDate"}, 1}}},
		"argocd_appset_owned_applications": {"how many it has", dto.MetricType_GAUGE, []series{{map[string]string{"namespace": "argocd", "name": "all"}, 3}}},
		"argocd_appset_reconcile":          {"passes of a set", dto.MetricType_HISTOGRAM, []series{{map[string]string{"namespace": "argocd", "name": "all"}, 1}}},
		"argocd_cluster_info": {"each cluster", dto.MetricType_GAUGE, []series{
			{map[string]string{"server": "https://far.example", "k8s_version": "v1.35.1", "name": "far"}, 1},
			{map[string]string{"server": here, "k8s_version": "v1.36.0", "name": "in-cluster"}, 1},
		}},
		"argocd_cluster_connection_status": {"one that does not answer is 0", dto.MetricType_GAUGE, []series{
			{map[string]string{"server": "https://far.example", "k8s_version": "v1.35.1"}, 0},
			{map[string]string{"server": here, "k8s_version": "v1.36.0"}, 1},
		}},
		"argocd_cluster_api_resources":        {"kinds", dto.MetricType_GAUGE, []series{{map[string]string{"server": "https://far.example"}, 60}, {map[string]string{"server": here}, 70}}},
		"argocd_cluster_api_resource_objects": {"objects", dto.MetricType_GAUGE, []series{{map[string]string{"server": "https://far.example"}, 0}, {map[string]string{"server": here}, 12}}},
	}
	got := families(t, m)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got[name] == nil || got[name].GetType() != tc.kind {
				t.Fatalf("%s: it is %v", tc.reason, got[name])
			}
			if diff := cmp.Diff(tc.want, seriesOf(got[name]), cmp.AllowUnexported(series{})); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
	m.ForgetApplication("argocd", "web")
	m.ForgetApplicationSet("argocd", "all")
	left := families(t, m)
	for _, gone := range []string{"argocd_app_sync_total", "argocd_app_sync_duration_seconds_total", "argocd_appset_reconcile"} {
		if left[gone] != nil {
			t.Errorf("%s still tells of what is gone: %v", gone, seriesOf(left[gone]))
		}
	}
}

// A process that serves nothing reports no Application, and keeps its counters.
func TestArgoStandby(t *testing.T) {
	m := meter.New(t.Context(), func() meter.Engine { return nil })
	m.Reconciled("argocd", "x", time.Second)
	got := families(t, m)
	if got["argocd_app_info"] != nil || got["argocd_cluster_info"] != nil {
		t.Error("a replica that stands by tells where Applications stand")
	}
	if got["argocd_app_reconcile"] == nil {
		t.Error("what was counted is lost")
	}
}
