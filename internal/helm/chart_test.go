package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pack makes the archive of a chart from its files.
func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := tar.NewWriter(packed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &tar.Header{Name: "chart/" + name, Mode: 0o644, Size: int64(len(files[name]))}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func loaded(t *testing.T, files map[string]string) *Chart {
	t.Helper()
	c, err := LoadChart(pack(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const metadata = "apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: \"7\"\n"

func TestLoadChart(t *testing.T) {
	c := loaded(t, map[string]string{
		"Chart.yaml": metadata + "dependencies: [{name: db, version: 0.1.0}]\n", "values.yaml": "a: 1\n", "values-big.yaml": "a: 2\nb: {c: 1}\n",
		"charts/db/Chart.yaml": "apiVersion: v2\nname: db\nversion: 0.1.0\n",
	})
	if diff := cmp.Diff([]any{"web", "1.2.3", "7", []string{"db"}}, []any{c.Name(), c.Version(), c.AppVersion(), c.Dependencies()}); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(c.Digest(), "sha256:") || len(c.Digest()) != len("sha256:")+64 {
		t.Errorf("the digest is %q", c.Digest())
	}
	tagged := c.WithVersion("1.2.3+abc")
	if tagged.Version() != "1.2.3+abc" || c.Version() != "1.2.3" {
		t.Errorf("versions are %s and %s", tagged.Version(), c.Version())
	}
	for i := range 2 {
		again, err := tagged.load()
		if err != nil || again.Metadata.Version != "1.2.3+abc" || len(again.Dependencies()) != 1 {
			t.Errorf("load %d: %v, %+v", i, err, again)
		}
	}
	big, err := c.WithValuesFiles([]string{"values.yaml", "values-big.yaml"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"a": 2.0, "b": map[string]any{"c": 1.0}}, big.values); diff != "" {
		t.Error(diff)
	}
	if _, err := c.WithValuesFiles([]string{"none.yaml"}, false); err == nil || !strings.Contains(err.Error(), `"none.yaml"`) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := c.WithValuesFiles([]string{"none.yaml"}, true); err != nil {
		t.Error(err)
	}
}

func TestLoadChartErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		data []byte
		says string
	}{
		"no archive":         {[]byte("no"), "reading the chart: "},
		"too large":          {make([]byte, maxArchive+1), "more than"},
		"no Chart.yaml":      {pack(t, map[string]string{"values.yaml": "a: 1"}), "Chart.yaml"},
		"broken Chart.yaml":  {pack(t, map[string]string{"Chart.yaml": "{"}), "Chart.yaml"},
		"no version":         {pack(t, map[string]string{"Chart.yaml": "apiVersion: v2\nname: web\n"}), "version"},
		"broken values":      {pack(t, map[string]string{"Chart.yaml": metadata, "values.yaml": "- a"}), "values.yaml"},
		"out of itself":      {pack(t, map[string]string{"Chart.yaml": metadata, "../../etc/x": "a"}), "parent directory"},
		"missing dependency": {pack(t, map[string]string{"Chart.yaml": metadata + "dependencies: [{name: db, version: 1.0.0}]\n"}), "missing in charts/: db"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := LoadChart(tt.data); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("the error is %v, and does not say %q", err, tt.says)
			}
		})
	}
}
