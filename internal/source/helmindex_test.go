package source_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/headgate-dev/headgate/internal/source"
)

const indexYAML = `apiVersion: v1
entries:
  podinfo:
  - annotations:
      text: |
        - version: 9.9.9
      created: "2030-01-01T00:00:00Z"
    apiVersion: v2
    appVersion: 6.5.0
    created: "2023-09-01T10:00:00.123456789Z"
    dependencies:
    - name: redis
      version: 1.x
    description: |-
      Two lines
      version: 8.8.8

      and a third
    digest: aaaa
    name: podinfo
    urls:
    - https://charts.example.com/podinfo-6.5.0.tgz
    - https://mirror.example.com/podinfo-6.5.0.tgz
    version: 6.5.0
  - version: 6.6.0-rc.1
    urls: [podinfo-6.6.0-rc.1.tgz]
    created: no time
  # An older one.
  - version: "6.4.1"   # quoted
    urls:
      - charts/podinfo-6.4.1.tgz
    appVersion: 1.10
  "with space":
    - urls:
        - w.tgz
      version: 1.0.0+b1
      created: 2023-01-01T00:00:00Z
    - {version: 1.0.0+b2, urls: [w2.tgz], created: "2024-01-01T00:00:00Z"}
    -
      version: 0.9.0
      urls: []
  nothing: []
  broken:
  - urls: [x.tgz]
generated: "2024-01-01T00:00:00Z"
serverInfo:
  version: 1.2.3
`

func parseIndex(t testing.TB, text string) *source.Index {
	t.Helper()
	x, err := source.ParseIndex(strings.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestParseIndex(t *testing.T) {
	x := parseIndex(t, indexYAML)
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(indexYAML))); x.Revision() != want {
		t.Errorf("revision %s, want %s", x.Revision(), want)
	}
	if diff := cmp.Diff([]string{"podinfo", "with space"}, x.Charts()); diff != "" {
		t.Errorf("charts (-want +got):\n%s", diff)
	}
	want := []source.ChartVersion{
		{
			Version: "6.5.0", AppVersion: "6.5.0", Digest: "aaaa", Created: time.Date(2023, 9, 1, 10, 0, 0, 123456789, time.UTC),
			URLs: []string{"https://charts.example.com/podinfo-6.5.0.tgz", "https://mirror.example.com/podinfo-6.5.0.tgz"},
		},
		{Version: "6.6.0-rc.1", URLs: []string{"podinfo-6.6.0-rc.1.tgz"}},
		{Version: "6.4.1", AppVersion: "1.10", URLs: []string{"charts/podinfo-6.4.1.tgz"}},
	}
	if diff := cmp.Diff(want, x.Versions("podinfo")); diff != "" {
		t.Errorf("podinfo (-want +got):\n%s", diff)
	}
	// What was written comes back, in JSON and with another digest but the revision that it had.
	data, err := x.JSON()
	if err != nil {
		t.Fatal(err)
	}
	back, err := source.ParseIndex(bytes.NewReader(data), x.Revision())
	if err != nil || back.Revision() != x.Revision() {
		t.Fatalf("revision %v: %v", back, err)
	}
	for _, chart := range x.Charts() {
		if diff := cmp.Diff(x.Versions(chart), back.Versions(chart)); diff != "" {
			t.Errorf("%s comes back (-want +got):\n%s", chart, diff)
		}
	}
}

func TestIndexFinds(t *testing.T) {
	x := parseIndex(t, indexYAML)
	for _, test := range []struct{ chart, constraint, want string }{
		{"podinfo", "", "6.5.0"},
		{"podinfo", "*", "6.5.0"},
		{"podinfo", ">=6.0.0-0", "6.6.0-rc.1"},
		{"podinfo", "6.6.0-rc.1", "6.6.0-rc.1"},
		{"podinfo", "6.4.x", "6.4.1"},
		{"podinfo", "<6.5", "6.4.1"},
		{"podinfo", ">7", ""},
		{"podinfo", "what?", ""},
		{"with space", "1.x", "1.0.0+b2"},
		{"with space", "1.0.0+b1", "1.0.0+b1"},
		{"nothing", "*", ""},
		{"gone", "*", ""},
	} {
		got, err := x.Find(test.chart, test.constraint)
		if got.Version != test.want || (test.want == "") != errors.Is(err, source.ErrReference) {
			t.Errorf("%s in %q: %q, %v; want %q", test.chart, test.constraint, got.Version, err, test.want)
		}
	}
}

func TestParseIndexRefuses(t *testing.T) {
	for reason, text := range map[string]string{
		"nothing":                  "",
		"blank lines":              "\n\n",
		"a page":                   "<html><body>Sign in</body></html>",
		"no apiVersion":            "entries: {}\n",
		"an empty apiVersion":      "apiVersion:\nentries: {}\n",
		"flow style":               "apiVersion: v1\nentries: {a: [{version: 1.0.0}]}\n",
		"a list":                   "- a\n",
		"a scalar for versions":    "apiVersion: v1\nentries:\n  a: b\n",
		"a version out of place":   "apiVersion: v1\nentries:\n  a:\n  - version: 1.0.0\n b: 1\n",
		"no list":                  "apiVersion: v1\nentries:\n  a:\n    version: 1.0.0\n",
		"broken YAML":              "apiVersion: v1\nentries:\n  a:\n  - version: [1\n",
		"a version that is a list": "apiVersion: v1\nentries:\n  a:\n  - version: [1]\n",
		"broken JSON":              `{"apiVersion":"v1","entries":{"a":[{"version":"1.0.0"`,
		"JSON with more":           `{"apiVersion":"v1","entries":{}} {}`,
		"JSON without apiVersion":  `{"entries":{}}`,
		"JSON with other entries":  `{"apiVersion":"v1","entries":[]}`,
		"a long line":              "apiVersion: v1\nx: " + strings.Repeat("a", 5<<20),
		"a large version":          "apiVersion: v1\nentries:\n  a:\n  - urls:\n" + strings.Repeat("    - "+strings.Repeat("a", 1000)+"\n", 2000),
	} {
		if x, err := source.ParseIndex(strings.NewReader(text), ""); !errors.Is(err, source.ErrIndex) {
			t.Errorf("%s: %v, %v", reason, x, err)
		}
	}
}

// FuzzParseIndex compares what is read line by line with what a parser of all of YAML reads.
func FuzzParseIndex(f *testing.F) {
	f.Add([]byte(indexYAML))
	f.Add([]byte(`{"apiVersion":"v1","entries":{"a":[{"version":"1.0.0","urls":["a"]}]}}`))
	f.Add([]byte("---\napiVersion: v1\nentries:\n    a:\n    - version: 1.0.0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := source.ParseIndex(bytes.NewReader(data), "")
		if err != nil {
			return
		}
		for _, chart := range x.Charts() {
			for _, v := range x.Versions(chart) {
				if v.Version == "" {
					t.Errorf("chart %q has a version without one", chart)
				}
			}
			_, _ = x.Find(chart, "*")
		}
		if _, err := x.JSON(); err != nil {
			t.Error(err)
		}
		compareIndex(t, data, x)
	})
}

func compareIndex(t *testing.T, data []byte, x *source.Index) {
	var whole struct {
		Entries map[string][]struct {
			Version string   `yaml:"version"`
			URLs    []string `yaml:"urls"`
		} `yaml:"entries"`
	}
	if yaml.Unmarshal(data, &whole) != nil || bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return
	}
	for chart, versions := range whole.Entries {
		var want, got []string
		for _, v := range versions {
			if v.Version != "" {
				want = append(want, v.Version+" "+strings.Join(v.URLs, " "))
			}
		}
		for _, v := range x.Versions(chart) {
			got = append(got, v.Version+" "+strings.Join(v.URLs, " "))
		}
		if diff := cmp.Diff(want, got); chart != "" && diff != "" {
			t.Errorf("chart %q of %q (-want +got):\n%s", chart, data, diff)
		}
	}
}

// bigIndex writes an index of at least size bytes as large repositories have it, and returns its length; it
// ends when the reader stops.
func bigIndex(w io.Writer, size int) int {
	b := bufio.NewWriterSize(w, 64<<10)
	total, versions := 0, 0
	var err error
	add := func(format string, args ...any) {
		var n int
		if n, err = fmt.Fprintf(b, format, args...); err == nil {
			total += n
		}
	}
	add("apiVersion: v1\nentries:\n")
	for chart := 0; total < size && err == nil; chart++ {
		add("  chart-%d:\n", chart)
		for v := range 200 {
			versions++
			add("  - annotations:\n      category: Database\n      images: |\n%s      licenses: Apache-2.0\n    apiVersion: v2\n    appVersion: %d.%d.0\n"+
				"    created: \"2023-09-%02dT10:00:00.000000000Z\"\n    dependencies:\n    - name: common\n      repository: oci://registry-1.docker.io/charts\n"+
				"      version: 2.x.x\n    description: %s\n    digest: %064x\n    home: https://example.com\n    keywords:\n    - database\n    - sql\n"+
				"    maintainers:\n    - name: Somebody\n      url: https://example.com/charts\n    name: chart-%d\n    sources:\n    - https://example.com/sources\n"+
				"    urls:\n    - https://charts.example.com/charts/chart-%d-%d.%d.0.tgz\n    version: %d.%d.0\n",
				strings.Repeat("        - name: image\n          image: docker.io/image:1.2.3\n", 8), v, chart, 1+v%28,
				strings.Repeat("It is a chart. ", 20), versions, chart, chart, v, chart, v, chart)
		}
	}
	add("generated: \"2024-01-01T00:00:00Z\"\n")
	_ = b.Flush()
	return total
}

// TestFetchIndexTakesLittleMemory fetches an index of 44 MB, the size at which others take half a gigabyte.
func TestFetchIndexTakesLittleMemory(t *testing.T) {
	const size = 44 << 20
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sent.Store(int64(bigIndex(w, size)))
	}))
	defer server.Close()
	heap := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse)
	}
	runtime.GC()
	before := heap()
	var peak atomic.Int64
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			peak.Store(max(peak.Load(), heap()))
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	got, err := source.FetchIndex(t.Context(), source.IndexOptions{URL: server.URL}, nil)
	close(done)
	<-stopped
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	kept := heap() - before
	t.Logf("an index of %d MB: %d MB at most, %d MB kept", sent.Load()>>20, (peak.Load()-before)>>20, kept>>20)
	if peak.Load()-before > 64<<20 || kept > 24<<20 {
		t.Errorf("an index of %d bytes takes %d bytes at most and keeps %d", sent.Load(), peak.Load()-before, kept)
	}
	if v, err := got.Index.Find("chart-7", "*"); err != nil || v.Version != "199.7.0" {
		t.Errorf("found %+v, %v", v, err)
	}
	runtime.KeepAlive(got)
}

func TestFetchIndex(t *testing.T) {
	text := indexYAML
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/charts/index.yaml" || r.URL.RawQuery != "token=hunter2" {
			http.NotFound(w, r)
			return
		}
		tag := fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(text)))
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent++
		_, _ = io.WriteString(w, text)
	}))
	defer server.Close()
	o := source.IndexOptions{URL: server.URL + "/charts/?token=hunter2"}
	first, err := source.FetchIndex(t.Context(), o, nil)
	if err != nil || first.Unchanged || first.Revision != first.Index.Revision() {
		t.Fatalf("first: %+v, %v", first, err)
	}
	again, err := source.FetchIndex(t.Context(), o, first.Index)
	if err != nil || !again.Unchanged || again.Index != first.Index || sent != 1 {
		t.Errorf("again: %+v, %v, sent %d times", again, err, sent)
	}
	text += "# more\n"
	changed, err := source.FetchIndex(t.Context(), o, first.Index)
	if err != nil || changed.Unchanged || changed.Revision == first.Revision {
		t.Errorf("changed: %+v, %v", changed, err)
	}
	// An index that was kept elsewhere is recognized by its digest, and requested by its tag from then on.
	same, err := source.FetchIndex(t.Context(), o, parseIndex(t, text))
	if err != nil || !same.Unchanged {
		t.Fatalf("kept: %+v, %v", same, err)
	}
	before := sent
	if _, err := source.FetchIndex(t.Context(), o, same.Index); err != nil || sent != before {
		t.Errorf("it was sent again: %v", err)
	}
}

func TestFetchIndexFails(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/cut/"):
			w.Header().Set("Content-Length", "100000")
			_, _ = io.WriteString(w, indexYAML)
		case strings.HasPrefix(r.URL.Path, "/secret/"):
			if _, password, _ := r.BasicAuth(); password != "right" {
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			_, _ = io.WriteString(w, indexYAML)
		case strings.HasPrefix(r.URL.Path, "/login/"):
			_, _ = io.WriteString(w, "<html>Sign in</html>")
		case strings.HasPrefix(r.URL.Path, "/broken/"):
			http.Error(w, "no", http.StatusBadGateway)
		case strings.HasPrefix(r.URL.Path, "/round/"):
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	address := strings.Replace(server.URL, "://", "://me:hunter2@", 1)
	for reason, test := range map[string]struct {
		url  string
		want []error
	}{
		"nothing there":   {address + "/", []error{source.ErrPull, source.ErrReference}},
		"cut off":         {address + "/cut", []error{source.ErrPull}},
		"wrong password":  {address + "/secret", []error{source.ErrPull, source.ErrAuth}},
		"right password":  {strings.Replace(address, "hunter2", "right", 1) + "/secret", nil},
		"a page":          {address + "/login", []error{source.ErrIndex}},
		"a broken server": {address + "/broken", []error{source.ErrPull}},
		"in circles":      {address + "/round", []error{source.ErrPull}},
		"another scheme":  {"ftp://me:hunter2@host/", []error{source.ErrURL}},
		"no host":         {"https:///x", []error{source.ErrURL}},
		"no URL":          {"https://me:hunter2@%zz", []error{source.ErrURL}},
		"nobody there":    {"http://me:hunter2@127.0.0.1:1/", []error{source.ErrPull}},
	} {
		_, err := source.FetchIndex(t.Context(), source.IndexOptions{URL: test.url}, nil)
		if (err == nil) != (test.want == nil) {
			t.Errorf("%s: error %v", reason, err)
		}
		for _, want := range test.want {
			if !errors.Is(err, want) {
				t.Errorf("%s: error %v, want %v", reason, err, want)
			}
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows a credential: %v", reason, err)
		}
	}
}
