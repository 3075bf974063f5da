package helm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/chartutil"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// maxArchive bounds a packed chart, in bytes. What it unpacks to is bounded by Helm: 100 MiB in all
// and 5 MiB for a file.
const maxArchive = 50 << 20

// Chart is a chart as it was packed. It does not change, and is safe for concurrent use.
type Chart struct {
	files    []*archive.BufferedFile
	metadata chartv2.Metadata
	digest   string
	version  string
	values   map[string]any
}

// LoadChart reads a packed chart. It fails when the archive is too large, is none, or lacks a
// dependency that its Chart.yaml names; the error says in which file.
func LoadChart(data []byte) (*Chart, error) {
	setUp()
	if len(data) > maxArchive {
		return nil, fmt.Errorf("reading the chart: the archive has %d bytes, more than %d", len(data), maxArchive)
	}
	files, err := archive.LoadArchiveFiles(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("reading the chart: %w", err)
	}
	sum := sha256.Sum256(data)
	c := &Chart{files: files, digest: "sha256:" + hex.EncodeToString(sum[:])}
	loaded, err := c.load()
	if err != nil {
		return nil, fmt.Errorf("reading the chart: %w", err)
	}
	if err := dependenciesPresent(loaded); err != nil {
		return nil, fmt.Errorf("reading the chart %s: %w", loaded.Name(), err)
	}
	c.metadata = *loaded.Metadata
	return c, nil
}

// load makes a chart that Helm may change, as it does when it works off dependencies.
func (c *Chart) load() (*chartv2.Chart, error) {
	// The loader renames the files of charts within the chart.
	files := make([]*archive.BufferedFile, len(c.files))
	for i, f := range c.files {
		file := *f
		files[i] = &file
	}
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return nil, err
	}
	if c.version != "" {
		loaded.Metadata.Version = c.version
	}
	if c.values != nil {
		loaded.Values = deepCopy(c.values)
	}
	// The files are there once more, unread, and would be stored with nothing.
	loaded.Raw = nil
	return loaded, nil
}

// dependenciesPresent reports which dependencies are named and not packed.
func dependenciesPresent(c *chartv2.Chart) error {
	var missing []string
	for _, wanted := range c.Metadata.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(d *chartv2.Chart) bool { return d.Metadata.Name == wanted.Name }) {
			missing = append(missing, wanted.Name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("Chart.yaml: dependencies missing in charts/: %s", strings.Join(missing, ", "))
	}
	return nil
}

// Name is the name of the chart.
func (c *Chart) Name() string { return c.metadata.Name }

// Version is the version of the chart.
func (c *Chart) Version() string {
	if c.version != "" {
		return c.version
	}
	return c.metadata.Version
}

// AppVersion is the version of what the chart installs; it may be empty.
func (c *Chart) AppVersion() string { return c.metadata.AppVersion }

// Annotation returns one of Chart.yaml, empty when it has none of that name.
func (c *Chart) Annotation(name string) string { return c.metadata.Annotations[name] }

// Digest is that of the archive: "sha256:" and 64 hexadecimal digits.
func (c *Chart) Digest() string { return c.digest }

// Dependencies are the names of the charts that this one names as its dependencies.
func (c *Chart) Dependencies() []string {
	names := make([]string, 0, len(c.metadata.Dependencies))
	for _, d := range c.metadata.Dependencies {
		names = append(names, d.Name)
	}
	return names
}

// WithVersion returns the chart under another version, which releases carry then. Flux adds the
// digest of an OCI artifact so.
func (c *Chart) WithVersion(version string) *Chart {
	out := *c
	out.version = version
	return &out
}

// WithValuesFiles returns the chart with other defaults: the named files of the chart, merged in
// order. A file that is missing is an error unless ignoreMissing.
func (c *Chart) WithValuesFiles(names []string, ignoreMissing bool) (*Chart, error) {
	merged := map[string]any{}
	for _, name := range names {
		data, ok := c.File(name)
		if !ok {
			if ignoreMissing {
				continue
			}
			return nil, fmt.Errorf("reading values of chart %s: no such file %q", c.Name(), name)
		}
		values, err := common.ReadValues(data)
		if err != nil {
			return nil, fmt.Errorf("reading values of chart %s: file %q: %w", c.Name(), name, errNotValues)
		}
		merged = chartutil.MergeMaps(merged, values)
	}
	out := *c
	out.values = merged
	return &out, nil
}

// errNotValues stands in for the error of a YAML parser, which may quote what it read.
var errNotValues = errors.New("not a YAML map")

// File returns a file of the chart by its path in it.
func (c *Chart) File(name string) ([]byte, bool) {
	for _, f := range c.files {
		if f.Name == strings.TrimPrefix(name, "./") {
			return f.Data, true
		}
	}
	return nil, false
}

// FileNames are the paths of the files of the chart, in the order of the archive.
func (c *Chart) FileNames() []string {
	names := make([]string, 0, len(c.files))
	for _, f := range c.files {
		names = append(names, f.Name)
	}
	return names
}

// deepCopy copies values: maps and lists are new, scalars are shared.
func deepCopy(values map[string]any) map[string]any {
	out := maps.Clone(values)
	for k, v := range out {
		out[k] = deepCopyValue(v)
	}
	return out
}

func deepCopyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		return deepCopy(v)
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = deepCopyValue(out[i])
		}
		return out
	}
	return value
}
