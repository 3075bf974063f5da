package discover

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

func ofChart(s v1alpha1.ChartSubscription) *v1alpha1.Warehouse {
	return warehouse(v1alpha1.RepoSubscription{Chart: &s})
}

const index = `apiVersion: v1
entries:
  app:
  - {version: 1.2.0, urls: [a.tgz]}
  - version: 1.10.0
    urls: [b.tgz]
  - version: v2.0.0-beta.1
    urls: [c.tgz]
  - version: latest
    urls: [d.tgz]
  - version: 1.10.0+build
    urls: [e.tgz]
  other:
  - version: 9.0.0
    urls: [f.tgz]
`

func TestCharts(t *testing.T) {
	served, sent := "", 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		user, given, _ := q.BasicAuth()
		switch {
		case q.URL.Path == "/moved/index.yaml":
			w.Header().Set("Location", "https://elsewhere.example.org/index.yaml")
			w.WriteHeader(http.StatusMovedPermanently)
		case q.URL.Path != "/stable/index.yaml":
			w.WriteHeader(http.StatusNotFound)
		case user != "reader" || given != password:
			w.WriteHeader(http.StatusUnauthorized)
		case served != "" && q.Header.Get("If-None-Match") == served:
			w.WriteHeader(http.StatusNotModified)
		default:
			sent++
			served = `"1"`
			w.Header().Set("ETag", served)
			_, _ = w.Write([]byte(index))
		}
	}))
	t.Cleanup(server.Close)
	o := anywhere()
	o.Login = login("reader", password)
	o.HTTP.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	f := New(o)
	url := server.URL + "/stable/"
	for name, tc := range map[string]struct {
		reason string
		spec   v1alpha1.ChartSubscription
		want   []string
	}{
		"All":        {"what is not a version is none", v1alpha1.ChartSubscription{Name: "app"}, []string{"v2.0.0-beta.1", "1.10.0+build", "1.10.0", "1.2.0"}},
		"Constraint": {"a constraint excludes pre-releases", v1alpha1.ChartSubscription{Name: "app", SemverConstraint: "*", DiscoveryLimit: 2}, []string{"1.10.0+build", "1.10.0"}},
		"Absent":     {"there is no such chart yet", v1alpha1.ChartSubscription{Name: "soon"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.spec.RepoURL = url
			got := find(t, f, ofChart(tc.spec), nil).Charts
			want := []v1alpha1.ChartDiscoveryResult{{RepoURL: url, Name: tc.spec.Name, SemverConstraint: tc.spec.SemverConstraint, Versions: tc.want}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
	before := sent
	find(t, f, ofChart(v1alpha1.ChartSubscription{RepoURL: url, Name: "app"}), nil)
	if sent != before {
		t.Error("the index was sent again, and has not changed")
	}
	for name, tc := range map[string]struct {
		spec v1alpha1.ChartSubscription
		want []string
	}{
		"NoName":      {v1alpha1.ChartSubscription{RepoURL: url}, []string{"chart.name"}},
		"Scheme":      {v1alpha1.ChartSubscription{RepoURL: "ftp://example.org", Name: "a"}, []string{"chart.repoURL", "https://"}},
		"Credentials": {v1alpha1.ChartSubscription{RepoURL: "https://a:b@example.org", Name: "a"}, []string{"chart.repoURL", "credentials"}},
		"Constraint":  {v1alpha1.ChartSubscription{RepoURL: url, Name: "app", SemverConstraint: "!!"}, []string{"chart.semverConstraint"}},
		"Absent":      {v1alpha1.ChartSubscription{RepoURL: server.URL, Name: "app"}, []string{"chart.repoURL", "404"}},
		"Moved":       {v1alpha1.ChartSubscription{RepoURL: server.URL + "/moved", Name: "app"}, []string{"chart.repoURL", "elsewhere.example.org"}},
	} {
		t.Run(name, func(t *testing.T) { refused(t, f, ofChart(tc.spec), tc.want...) })
	}
	o.Login = login("reader", "wrong")
	refused(t, New(o), ofChart(v1alpha1.ChartSubscription{RepoURL: url, Name: "app"}), "401", "label a Secret")
}

func TestChartsInRegistries(t *testing.T) {
	s := serve(t, httptest.NewServer)
	s.push(t, built(t, 1, amd64(), nil), "1.0.0", "1.10.0_7", "1.2.0", "latest", "2", "2.0.0-rc.1")
	spec := v1alpha1.ChartSubscription{RepoURL: "oci://" + s.host + "/team/app"}
	if diff := cmp.Diff([]string{"2.0.0-rc.1", "1.10.0+7", "1.2.0", "1.0.0"}, find(t, New(anywhere()), ofChart(spec), nil).Charts[0].Versions); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int{"GET tags": 1}, s.methods()); diff != "" {
		t.Error(diff)
	}
	spec.SemverConstraint, spec.DiscoveryLimit = "^1", 1
	if diff := cmp.Diff([]string{"1.10.0+7"}, find(t, New(anywhere()), ofChart(spec), nil).Charts[0].Versions); diff != "" {
		t.Error(diff)
	}
	spec.RepoURL = "oci://" + strings.ToUpper("not a name")
	refused(t, New(anywhere()), ofChart(spec), "chart.repoURL")
}
