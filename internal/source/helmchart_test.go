package source_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

const helmLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

func helmChart(t *testing.T, name, version string) []byte {
	t.Helper()
	return packed(t, map[string]string{
		name + "/Chart.yaml": "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n", name + "/charts/sub/Chart.yaml": "name: sub\nversion: 9.9.9\n",
	})
}

// helmServer serves charts, and stands for their access control.
type helmServer struct {
	*httptest.Server
	files map[string][]byte
	asked []string
}

func newHelmServer(t *testing.T) *helmServer {
	t.Helper()
	s := &helmServer{files: map[string][]byte{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		s.asked = append(s.asked, r.URL.String()+" "+password)
		if to := strings.TrimPrefix(r.URL.Path, "/redirect/"); to != r.URL.Path {
			http.Redirect(w, r, "http://"+to, http.StatusFound)
			return
		}
		data, ok := s.files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *helmServer) index(path, version, digest, address string) {
	s.files[path] = fmt.Appendf(nil, "apiVersion: v1\nentries:\n  podinfo:\n  - version: %s\n    digest: %q\n    urls:\n    - %q\n", version, digest, address)
}

func TestFetchChart(t *testing.T) {
	repo, elsewhere := newHelmServer(t), newHelmServer(t)
	chart := helmChart(t, "podinfo", "6.5.0")
	digest := fmt.Sprintf("%x", sha256.Sum256(chart))
	repo.files["/a/b/charts/podinfo.tgz"], repo.files["/top.tgz"], elsewhere.files["/podinfo.tgz"] = chart, chart, chart
	repo.files["/page.tgz"] = []byte("<html>Sign in</html>")
	repo.files["/nochart.tgz"] = packed(t, map[string]string{"x/values.yaml": "a: 1"})
	repo.files["/large.tgz"] = bytes.Repeat([]byte("x"), 33<<20)
	there := elsewhere.Listener.Addr().String()
	for reason, test := range map[string]struct {
		url, digest string
		pass        bool
		// asked are what the two servers saw after the index.
		here, there []string
		want        error
	}{
		"relative":              {url: "charts/podinfo.tgz", digest: digest, here: []string{"/a/b/charts/podinfo.tgz hunter2"}},
		"relative to the host":  {url: "/top.tgz", here: []string{"/top.tgz hunter2"}},
		"absolute":              {url: repo.URL + "/top.tgz", digest: "sha256:" + strings.ToUpper(digest), here: []string{"/top.tgz hunter2"}},
		"another server":        {url: elsewhere.URL + "/podinfo.tgz", there: []string{"/podinfo.tgz "}},
		"another one, passed":   {url: elsewhere.URL + "/podinfo.tgz", pass: true, there: []string{"/podinfo.tgz hunter2"}},
		"another host's name":   {url: "//" + there + "/podinfo.tgz", there: []string{"/podinfo.tgz "}},
		"redirected":            {url: "/redirect/" + there + "/podinfo.tgz", here: []string{"/redirect/" + there + "/podinfo.tgz hunter2"}, there: []string{"/podinfo.tgz "}},
		"redirected, passed":    {url: "/redirect/" + there + "/podinfo.tgz", pass: true, here: []string{"/redirect/" + there + "/podinfo.tgz hunter2"}, there: []string{"/podinfo.tgz hunter2"}},
		"another digest":        {url: "/top.tgz", digest: strings.Repeat("0", 64), here: []string{"/top.tgz hunter2"}, want: source.ErrChart},
		"nothing there":         {url: "/gone.tgz", here: []string{"/gone.tgz hunter2"}, want: source.ErrPull},
		"a page":                {url: "/page.tgz", here: []string{"/page.tgz hunter2"}, want: source.ErrChart},
		"no chart":              {url: "/nochart.tgz", here: []string{"/nochart.tgz hunter2"}, want: source.ErrChart},
		"too large":             {url: "/large.tgz", here: []string{"/large.tgz hunter2"}, want: source.ErrChart},
		"a file":                {url: "file:///etc/passwd", want: source.ErrURL},
		"credentials of others": {url: "http://you:pw@" + there + "/podinfo.tgz", want: source.ErrURL},
	} {
		repo.index("/a/b/index.yaml", "6.5.0", test.digest, test.url)
		repo.asked, elsewhere.asked = nil, nil
		o := source.ChartOptions{URL: repo.URL + "/a/b", Chart: "podinfo", Version: "6.x", PassCredentials: test.pass}
		o.Username, o.Password = "me", "hunter2"
		got, err := source.FetchChart(t.Context(), o, "")
		if !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: error %v, want %v", reason, err, test.want)
		}
		if err != nil && (got != nil || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: a result, or a credential in the error: %v", reason, err)
		}
		if err == nil && (got.Name != "podinfo" || got.Version != "6.5.0" || got.Digest != digest || !bytes.Equal(got.Data, chart)) {
			t.Errorf("%s: %s %s, digest %s", reason, got.Name, got.Version, got.Digest)
		}
		if diff := cmp.Diff(append([]string{"/a/b/index.yaml hunter2"}, test.here...), repo.asked); diff != "" {
			t.Errorf("%s: the repository is asked (-want +got):\n%s", reason, diff)
		}
		if diff := cmp.Diff(test.there, elsewhere.asked); diff != "" {
			t.Errorf("%s: the other server is asked (-want +got):\n%s", reason, diff)
		}
	}
}

func TestFetchChartUnchanged(t *testing.T) {
	repo := newHelmServer(t)
	repo.index("/index.yaml", "6.5.0", "", "podinfo.tgz?own=1")
	repo.files["/podinfo.tgz"] = helmChart(t, "podinfo", "6.5.0")
	index, err := source.FetchIndex(t.Context(), source.IndexOptions{URL: repo.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	repo.asked = nil
	o := source.ChartOptions{URL: repo.URL + "?token=abc", Chart: "podinfo", Index: index.Index}
	got, err := source.FetchChart(t.Context(), o, "6.5.0")
	if err != nil || !got.Unchanged || got.Version != "6.5.0" || len(repo.asked) != 0 {
		t.Errorf("%+v, %v, asked %q", got, err, repo.asked)
	}
	if got, err = source.FetchChart(t.Context(), o, "6.4.0"); err != nil || got.Unchanged {
		t.Errorf("%+v, %v", got, err)
	}
	repo.index("/index.yaml", "6.5.0", "", "podinfo.tgz")
	o.Index = nil
	if _, err = source.FetchChart(t.Context(), o, ""); err != nil {
		t.Error(err)
	}
	want := []string{"/podinfo.tgz?own=1 ", "/index.yaml?token=abc ", "/podinfo.tgz?token=abc "}
	if diff := cmp.Diff(want, repo.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	for _, chart := range []string{"", "../podinfo", "a/../../b", "gone", "pod info"} {
		o.Chart = chart
		if _, err := source.FetchChart(t.Context(), o, ""); !errors.Is(err, source.ErrReference) {
			t.Errorf("chart %q: %v", chart, err)
		}
	}
}

func TestFetchChartFromRegistry(t *testing.T) {
	s := newOCIServer(t, false)
	for _, version := range []string{"6.4.0", "6.5.0+build.1", "7.0.0-rc.1"} {
		s.push(t, "charts/podinfo", map[string]string{"org.opencontainers.image.version": version}, []ociLayer{
			{mediaType: "application/vnd.cncf.helm.chart.provenance.v1.prov", data: []byte("x")},
			{mediaType: helmLayer, data: helmChart(t, "podinfo", version)},
		}, strings.ReplaceAll(version, "+", "_"))
	}
	s.push(t, "charts/image", nil, []ociLayer{{mediaType: "x", data: []byte("x")}}, "1.0.0")
	for _, test := range []struct {
		chart, version, previous, want string
		unchanged                      bool
		kind                           error
	}{
		{chart: "podinfo", want: "6.5.0+build.1"},
		{chart: "podinfo", version: "*", want: "6.5.0+build.1"},
		{chart: "podinfo", version: "6.x", previous: "6.5.0+build.1", want: "6.5.0+build.1", unchanged: true},
		{chart: "podinfo", version: "6.5.0+build.1", want: "6.5.0+build.1"},
		{chart: "podinfo", version: "6.4.0", previous: "6.4.0", want: "6.4.0", unchanged: true},
		{chart: "podinfo", version: ">=7.0.0-0", want: "7.0.0-rc.1"},
		{chart: "podinfo", version: ">8", kind: source.ErrReference},
		{chart: "podinfo", version: "8.0.0", kind: source.ErrReference},
		{chart: "podinfo", version: "what?", kind: source.ErrReference},
		{chart: "gone", version: "*", kind: source.ErrReference},
		{chart: "image", version: "1.0.0", kind: source.ErrLayer},
	} {
		o := source.ChartOptions{URL: "oci://" + s.host() + "/charts/", Chart: test.chart, Version: test.version}
		got, err := source.FetchChart(t.Context(), o, test.previous)
		if test.kind != nil || err != nil {
			if test.kind == nil || !errors.Is(err, test.kind) {
				t.Errorf("%s %q: error %v, want %v", test.chart, test.version, err, test.kind)
			}
			continue
		}
		if got.Name != "podinfo" || got.Version != test.want || got.Unchanged != test.unchanged {
			t.Errorf("%s %q: %s %s, unchanged %v", test.chart, test.version, got.Name, got.Version, got.Unchanged)
		}
		if !got.Unchanged && got.Metadata["org.opencontainers.image.version"] != test.want {
			t.Errorf("%s %q: metadata %v", test.chart, test.version, got.Metadata)
		}
	}
}

func TestFetchChartVerifies(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := newOCIServer(t, false)
	digest := s.push(t, "podinfo", nil, []ociLayer{{mediaType: helmLayer, data: helmChart(t, "podinfo", "1.0.0")}}, "1.0.0")
	o := source.ChartOptions{
		URL: "oci://" + s.host(), Chart: "podinfo", Version: "1.0.0",
		Verify: &source.OCIVerification{Keys: map[string][]byte{"cosign.pub": public(t, key)}},
	}
	if _, err := source.FetchChart(t.Context(), o, ""); !errors.Is(err, source.ErrSignature) {
		t.Errorf("an unsigned chart: %v", err)
	}
	s.attach(t, "podinfo", digest, claim(digest.String()), sign(t, key, claim(digest.String())))
	if got, err := source.FetchChart(t.Context(), o, ""); err != nil || cmp.Diff([]string{"cosign.pub"}, got.Verified) != "" {
		t.Errorf("a signed chart: %+v, %v", got, err)
	}
	o.URL = "https://charts.invalid"
	if _, err := source.FetchChart(t.Context(), o, ""); !errors.Is(err, source.ErrUnsupported) {
		t.Errorf("a signature outside of a registry: %v", err)
	}
}

// TestFetchChartByIndexFromRegistry has an index whose chart is in a registry, which does not get the
// credentials of the repository.
func TestFetchChartByIndexFromRegistry(t *testing.T) {
	s, repo := newOCIServer(t, false), newHelmServer(t)
	s.push(t, "charts/podinfo", nil, []ociLayer{{mediaType: helmLayer, data: helmChart(t, "podinfo", "6.5.0")}}, "6.5.0")
	repo.index("/index.yaml", "6.5.0", "", "oci://"+s.host()+"/charts/podinfo:6.5.0")
	o := source.ChartOptions{URL: repo.URL, Chart: "podinfo"}
	o.Username, o.Password = "me", "hunter2"
	if got, err := source.FetchChart(t.Context(), o, ""); err != nil || got.Version != "6.5.0" || got.Name != "podinfo" {
		t.Errorf("%+v, %v", got, err)
	}
	s.demand("me:hunter2")
	if _, err := source.FetchChart(t.Context(), o, ""); !errors.Is(err, source.ErrAuth) {
		t.Errorf("the registry got the credentials: %v", err)
	}
	o.PassCredentials = true
	if _, err := source.FetchChart(t.Context(), o, ""); err != nil {
		t.Error(err)
	}
	repo.index("/index.yaml", "6.5.0", "", "oci://"+s.host()+"/charts/podinfo")
	if _, err := source.FetchChart(t.Context(), o, ""); !errors.Is(err, source.ErrURL) {
		t.Errorf("a URL without a tag: %v", err)
	}
}

// TestFetchChartFromMirror has an index that names a server which cannot be reached.
func TestFetchChartFromMirror(t *testing.T) {
	repo := newHelmServer(t)
	repo.index("/index.yaml", "6.5.0", "", "https://charts.invalid/podinfo/podinfo.tgz")
	repo.files["/mirror/podinfo.tgz"] = helmChart(t, "podinfo", "6.5.0")
	rewrites, err := source.ParseRewrites([]string{"https://charts.invalid/podinfo=" + repo.URL + "/mirror"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := source.FetchChart(t.Context(), source.ChartOptions{URL: repo.URL, Chart: "podinfo", Rewrites: rewrites}, "")
	if err != nil || got.Version != "6.5.0" {
		t.Errorf("%+v, %v", got, err)
	}
}
