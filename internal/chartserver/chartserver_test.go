package chartserver_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/chartserver"
	"github.com/headgate-dev/headgate/internal/source"
)

func TestServe(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0+build\n")
	write(t, dir, "web/templates/web.yaml", "kind: ConfigMap\n")
	write(t, dir, "README.md", "no chart")
	s, err := chartserver.Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop(t.Context()) }()
	options := source.ChartOptions{URL: "oci://" + s.At, Chart: "web"}
	first, err := source.FetchChart(t.Context(), options, "")
	if err != nil {
		t.Fatal(err)
	}
	if first.Version != "1.0.0+build" || first.Name != "web" {
		t.Errorf("got %s %s", first.Name, first.Version)
	}
	again, err := source.FetchChart(t.Context(), options, "")
	if err != nil || !bytes.Equal(again.Data, first.Data) {
		t.Errorf("what did not change was packed differently: %v", err)
	}
	// A change is served at once.
	write(t, dir, "web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.1.0\n")
	write(t, dir, "other/Chart.yaml", "apiVersion: v2\nname: other\nversion: 0.1.0\n")
	for chart, want := range map[string]string{"web": "1.1.0", "other": "0.1.0"} {
		options.Chart = chart
		if got, err := source.FetchChart(t.Context(), options, ""); err != nil || got.Version != want {
			t.Errorf("%s: %v, want %s: %v", chart, got, want, err)
		}
	}
	host, path, _ := strings.Cut(s.At, "/")
	for name, c := range map[string]struct {
		method, path, host string
		want               int
	}{
		"The chart":          {http.MethodGet, "/v2/" + path + "/web/manifests/1.1.0", host, http.StatusOK},
		"A push":             {http.MethodPost, "/v2/" + path + "/web/blobs/uploads/", host, http.StatusMethodNotAllowed},
		"Without the path":   {http.MethodGet, "/v2/web/manifests/1.1.0", host, http.StatusNotFound},
		"Below another one":  {http.MethodGet, "/v2/" + path + "x/web/manifests/1.1.0", host, http.StatusNotFound},
		"The list of all":    {http.MethodGet, "/v2/_catalog", host, http.StatusNotFound},
		"Under another name": {http.MethodGet, "/v2/" + path + "/web/manifests/1.1.0", "evil.example", http.StatusMisdirectedRequest},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+host+c.path, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = c.host
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s: %s, want %d", name, answer.Status, c.want)
		}
	}
}

func TestRefuse(t *testing.T) {
	empty := t.TempDir()
	bad := t.TempDir()
	write(t, bad, "web/Chart.yaml", "apiVersion: v2\nname: web\nversion: what?\n")
	for dir, want := range map[string]string{
		empty: "no chart in", filepath.Join(empty, "none"): "no such file", bad: "web",
	} {
		if _, err := chartserver.Start(t.Context(), dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", dir, err, want)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
