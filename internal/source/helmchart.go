package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"go.yaml.in/yaml/v3"
)

// ErrChart is what a server gives for a chart and is none, or not the one that the index means.
var ErrChart = errors.New("not the chart")

const (
	// maxChart bounds a packed chart, maxChartRead what is read of it to find its name.
	maxChart     = 32 << 20
	maxChartRead = 256 << 20
	maxChartFile = 1 << 20
	chartLayer   = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// ChartOptions say which chart is fetched, and how.
type ChartOptions struct {
	// RegistryAccess is about repositories in registries; of others its Access.
	RegistryAccess
	// URL is that of the repository: http, https, or oci without the name of the chart.
	URL string
	// Chart is its name, Version a range of versions. Empty means "*", the newest that is no pre-release.
	Chart, Version string
	// PassCredentials gives the credentials also to servers other than that of the repository. Without it
	// those with its scheme, host and port alone get them.
	PassCredentials bool
	// Index is that of a repository that is no registry; without it the index is fetched first.
	Index *Index
	// Rewrites are applied to the URLs of charts in the index. That of the repository is fetched as it is.
	Rewrites Rewrites
	// Verify, when set, refuses a chart that is not signed as it says. It is for charts in registries.
	Verify *OCIVerification
}

// ChartResult is what a fetch found.
type ChartResult struct {
	// Name is that of the chart, and Version the one that was selected, as the repository spells it: that
	// is the revision.
	Name, Version string
	// Data is the packed chart as it came, Digest its hex SHA-256.
	Data   []byte
	Digest string
	// Metadata are the annotations of the manifest of a chart in a registry.
	Metadata map[string]string
	// Verified says by which keys a signature was verified.
	Verified []string
	// Unchanged is set when the version is the previous one; nothing was downloaded then.
	Unchanged bool
}

// FetchChart fetches the newest version of a chart in a range, unless that is the previous one: a caller
// gives one only when the options are those of then. A version in a registry that is no range is not
// looked up before it is fetched. A download that does not have the digest of the index is an ErrChart. No
// error holds a credential.
func FetchChart(ctx context.Context, o ChartOptions, previousVersion string) (*ChartResult, error) {
	ctx, cancel := o.bound(ctx)
	defer cancel()
	if !chartName.MatchString(o.Chart) || slices.Contains(strings.Split(o.Chart, "/"), "..") {
		return nil, fmt.Errorf("%w: %q is not a chart name", ErrReference, o.Chart)
	}
	if strings.HasPrefix(o.URL, ociScheme) {
		return fetchChartOCI(ctx, o, previousVersion)
	}
	if o.Verify != nil {
		return nil, fmt.Errorf("%w: signatures of charts outside a registry", ErrUnsupported)
	}
	return fetchChartHTTP(ctx, o, previousVersion)
}

// chartName is what the name of a chart may be; in a registry it may be a path.
var chartName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

func fetchChartHTTP(ctx context.Context, o ChartOptions, previousVersion string) (*ChartResult, error) {
	w, err := newWeb(o.URL, o.Access, o.PassCredentials)
	if err != nil {
		return nil, err
	}
	defer w.close()
	x := o.Index
	if x == nil {
		if x, err = w.index(ctx, nil); err != nil {
			return nil, err
		}
	}
	v, err := x.Find(o.Chart, o.Version)
	if err != nil {
		return nil, err
	}
	if previousVersion != "" && v.Version == previousVersion {
		return &ChartResult{Name: o.Chart, Version: v.Version, Unchanged: true}, nil
	}
	if len(v.URLs) == 0 {
		return nil, fmt.Errorf("%w: the index has no URL of chart %q %s", ErrIndex, o.Chart, v.Version)
	}
	address := o.Rewrites.Apply(v.URLs[0])
	at, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%w: the URL of chart %q %s in the index cannot be parsed", ErrURL, o.Chart, v.Version)
	}
	result := &ChartResult{Version: v.Version}
	if at.Scheme == "oci" {
		err = w.elsewhere(ctx, o, address, result)
	} else {
		result.Data, err = w.chart(ctx, at)
	}
	if err != nil {
		return nil, fmt.Errorf("chart %q %s: %w", o.Chart, v.Version, err)
	}
	if err := result.check(o.Chart, v.Digest); err != nil {
		return nil, err
	}
	return result, nil
}

// chart downloads from a URL of an index.
func (w *web) chart(ctx context.Context, at *url.URL) ([]byte, error) {
	if !at.IsAbs() {
		base := *w.base
		if !strings.HasSuffix(base.Path, "/") {
			base.Path, base.RawPath = base.Path+"/", ""
		}
		query := at.RawQuery
		at = base.ResolveReference(at)
		// A token in the URL of the repository is for its charts too, but not for another server.
		if query == "" && sameServer(at, &base) {
			at.RawQuery = base.RawQuery
		}
	}
	if at.Scheme != "http" && at.Scheme != "https" || at.Hostname() == "" || at.User != nil {
		return nil, fmt.Errorf("%w: the URL of the index must be http, https or oci, name a host and contain no credentials", ErrURL)
	}
	answer, err := w.get(ctx, at, http.Header{})
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxChart+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %s", ErrPull, w.secrets.text(ctx, err))
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: the server returns %q", ErrPull, answer.Status)
	case len(data) > maxChart:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrChart, maxChart)
	}
	return data, nil
}

// elsewhere downloads a chart that the index of a repository has in a registry.
func (w *web) elsewhere(ctx context.Context, o ChartOptions, address string, into *ChartResult) error {
	colon := strings.LastIndex(address, ":")
	if colon < strings.LastIndex(address, "/") {
		return fmt.Errorf("%w: the URL in the index has no tag", ErrURL)
	}
	a := o.RegistryAccess
	if !w.everywhere {
		a.Username, a.Password = "", ""
	}
	r, err := newRegistry(ctx, address[:colon], a)
	if err != nil {
		return err
	}
	defer r.close()
	return r.chart(ctx, address[colon+1:], nil, into)
}

func fetchChartOCI(ctx context.Context, o ChartOptions, previousVersion string) (*ChartResult, error) {
	if err := o.Verify.check(); err != nil {
		return nil, err
	}
	r, err := newRegistry(ctx, strings.TrimSuffix(o.URL, "/")+"/"+o.Chart, o.RegistryAccess)
	if err != nil {
		return nil, err
	}
	defer r.close()
	version := o.Version
	if _, err := parseVersion(version); err != nil {
		if version, err = r.newestChart(ctx, o.Version); err != nil {
			return nil, err
		}
	}
	if previousVersion != "" && version == previousVersion {
		return &ChartResult{Name: path.Base(o.Chart), Version: version, Unchanged: true}, nil
	}
	result := &ChartResult{Version: version}
	if err := r.chart(ctx, versionTag(version), o.Verify, result); err != nil {
		return nil, err
	}
	if err := result.check(o.Chart, ""); err != nil {
		return nil, err
	}
	return result, nil
}

// versionTag is the tag of a version: a tag cannot hold a "+".
func versionTag(version string) string { return strings.ReplaceAll(version, "+", "_") }

// newestChart selects the newest version in a range.
func (r *registry) newestChart(ctx context.Context, text string) (string, error) {
	if _, err := parseRange(text); err != nil {
		return "", err
	}
	tags, err := r.tags(ctx)
	if err != nil {
		return "", err
	}
	for i, tag := range tags {
		tags[i] = strings.ReplaceAll(tag, "_", "+")
	}
	version, err := newestVersion(tags, text)
	if err != nil {
		return "", fmt.Errorf("%q: %w", r.url, err)
	}
	return version, nil
}

// chart downloads the chart at a tag.
func (r *registry) chart(ctx context.Context, text string, verify *OCIVerification, into *ChartResult) error {
	tag, err := r.tag(text)
	if err != nil {
		return err
	}
	digest, err := r.digest(ctx, tag)
	if err != nil {
		return err
	}
	if into.Verified, err = r.verify(ctx, digest, verify); err != nil {
		return err
	}
	into.Data, into.Metadata, err = r.copyChart(ctx, digest)
	return err
}

func (r *registry) copyChart(ctx context.Context, digest v1.Hash) ([]byte, map[string]string, error) {
	image, manifest, err := r.image(ctx, digest)
	if err != nil {
		return nil, nil, err
	}
	l, err := r.layer(ctx, image, manifest, chartLayer, maxChart)
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	data, err := l.copy()
	if err != nil {
		return nil, nil, r.explain(ctx, ErrLayer, fmt.Sprintf("reading the layer %s", l.digest), err)
	}
	return data, manifest.Annotations, nil
}

// check demands that what came is a chart and has the digest of the index, if that has one.
func (c *ChartResult) check(chart, digest string) error {
	sum := sha256.Sum256(c.Data)
	c.Digest = hex.EncodeToString(sum[:])
	if want := strings.ToLower(strings.TrimPrefix(digest, "sha256:")); want != "" && want != c.Digest {
		return fmt.Errorf("%w: %q %s has the digest %s, but the index says %s", ErrChart, chart, c.Version, c.Digest, want)
	}
	var err error
	if c.Name, err = chartNameOf(c.Data); err != nil {
		return fmt.Errorf("%w: %q %s: %w", ErrChart, chart, c.Version, err)
	}
	return nil
}

// chartNameOf reads the name in Chart.yaml of a packed chart.
func chartNameOf(data []byte) (string, error) {
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", errors.New("not a tar.gz")
	}
	for tr := tar.NewReader(&capped{r: gz, left: maxChartRead}); ; {
		h, err := tr.Next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("no Chart.yaml in it")
			}
			return "", err
		}
		dir, base := path.Split(path.Clean(h.Name))
		if base != "Chart.yaml" || strings.Count(dir, "/") != 1 || h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(tr, maxChartFile))
		if err != nil {
			return "", err
		}
		var chart struct {
			Name    string `yaml:"name"`
			Version string `yaml:"version"`
		}
		if err := yaml.Unmarshal(text, &chart); err != nil {
			return "", fmt.Errorf("its Chart.yaml: %w", err)
		}
		if !fileName.MatchString(chart.Name) || chart.Version == "" {
			return "", errors.New("its Chart.yaml lacks a name or a version")
		}
		return chart.Name, nil
	}
}
