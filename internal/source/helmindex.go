package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/Masterminds/semver/v3"
)

// Index says which charts a Helm repository has: what is needed to choose one and to get it, and nothing
// else of index.yaml. It is immutable.
type Index struct {
	revision string
	charts   map[string][]ChartVersion

	// url, etag and modified ask the server for what is new only.
	url, etag, modified string
}

// ChartVersion is one version of a chart.
type ChartVersion struct {
	Version    string `json:"version"`
	AppVersion string `json:"appVersion,omitempty"`
	// Digest is the hex SHA-256 of the chart, or empty.
	Digest string `json:"digest,omitempty"`
	// URLs are absolute, or relative to that of the repository.
	URLs    []string  `json:"urls"`
	Created time.Time `json:"created,omitzero"`
}

// Revision is "sha256:" and the digest of index.yaml.
func (x *Index) Revision() string { return x.revision }

// Charts returns the names of the charts, sorted.
func (x *Index) Charts() []string { return slices.Sorted(maps.Keys(x.charts)) }

// Versions returns the versions of a chart as the index lists them. The caller must not change them.
func (x *Index) Versions(chart string) []ChartVersion { return x.charts[chart] }

// Find returns the newest version of a chart in a range: "*", or nothing, is the newest that is no
// pre-release. A version that is spelled like the range goes before all others. Of versions that differ
// in their build only, the one that was created last is the newest. What does not exist is an
// ErrReference.
func (x *Index) Find(chart, text string) (ChartVersion, error) {
	all, ok := x.charts[chart]
	if !ok {
		return ChartVersion{}, fmt.Errorf("%w: the index has no chart %q", ErrReference, chart)
	}
	for _, v := range all {
		if text != "" && v.Version == text {
			return v, nil
		}
	}
	constraint, err := parseRange(text)
	if err != nil {
		return ChartVersion{}, fmt.Errorf("chart %q: %w", chart, err)
	}
	var best *semver.Version
	var found ChartVersion
	for _, candidate := range all {
		v, err := parseVersion(candidate.Version)
		if err != nil || !constraint.Check(v) {
			continue
		}
		if best == nil || v.GreaterThan(best) || v.Equal(best) && candidate.Created.After(found.Created) {
			best, found = v, candidate
		}
	}
	if best == nil {
		return ChartVersion{}, fmt.Errorf("%w: chart %q has no version in the range %q", ErrReference, chart, text)
	}
	return found, nil
}

// JSON is the index in a form that ParseIndex and Helm read.
func (x *Index) JSON() ([]byte, error) {
	type named struct {
		Name string `json:"name"`
		ChartVersion
	}
	entries := make(map[string][]named, len(x.charts))
	for name, versions := range x.charts {
		for _, v := range versions {
			entries[name] = append(entries[name], named{name, v})
		}
	}
	data, err := json.Marshal(struct {
		APIVersion string             `json:"apiVersion"`
		Entries    map[string][]named `json:"entries"`
	}{"v1", entries})
	if err != nil {
		return nil, fmt.Errorf("encoding an index: %w", err)
	}
	return data, nil
}
