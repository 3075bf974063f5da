package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/steps"
	"github.com/headgate-dev/headgate/internal/source"
)

// maxIndex bounds the index of a chart repository, in bytes.
const maxIndex = 256 << 20

// versions of a chart as an index had them, and how a server is asked whether it has another one.
type versions struct {
	etag, modified string
	all            []string
}

// chart searches a chart.
func (f *Finder) chart(ctx context.Context, project string, s *v1alpha1.ChartSubscription) (v1alpha1.ChartDiscoveryResult, error) {
	result := v1alpha1.ChartDiscoveryResult{RepoURL: s.RepoURL, Name: s.Name, SemverConstraint: s.SemverConstraint, Versions: []string{}}
	constraint, err := constraintOf("semverConstraint", s.SemverConstraint)
	if err != nil {
		return result, err
	}
	var names []string
	read := semver.NewVersion
	if strings.HasPrefix(s.RepoURL, "oci://") {
		// A tag cannot have the sign before the build; Helm writes another one.
		read = func(tag string) (*semver.Version, error) {
			return semver.StrictNewVersion(strings.ReplaceAll(tag, "_", "+"))
		}
		names, err = f.ociVersions(ctx, project, s.RepoURL)
	} else {
		names, err = f.indexVersions(ctx, project, s)
	}
	if err != nil {
		return result, err
	}
	var found []*semver.Version
	for _, text := range names {
		if v, err := read(text); err == nil && (constraint == nil || constraint.Check(v)) {
			found = append(found, v)
		}
	}
	slices.SortFunc(found, func(a, b *semver.Version) int {
		return cmp.Or(b.Compare(a), strings.Compare(b.Original(), a.Original()))
	})
	for _, v := range found[:min(len(found), limited(s.DiscoveryLimit))] {
		result.Versions = append(result.Versions, v.Original())
	}
	return result, nil
}

// ociVersions are the tags of a chart in a registry.
func (f *Finder) ociVersions(ctx context.Context, project, repoURL string) ([]string, error) {
	r, err := f.registry(ctx, project, v1alpha1.HelmCredentials, repoURL, false)
	if err != nil {
		return nil, err
	}
	return r.list(ctx, func(string) bool { return true })
}

// indexVersions are the versions of a chart that the index of a repository lists. What the server has not changed is not sent again.
func (f *Finder) indexVersions(ctx context.Context, project string, s *v1alpha1.ChartSubscription) ([]string, error) {
	address, err := url.Parse(s.RepoURL)
	switch {
	case err != nil, address.Scheme != "http" && address.Scheme != "https", address.Hostname() == "":
		return nil, errors.New("repoURL: want an address that begins with https://, http:// or oci://")
	case address.User != nil:
		return nil, errors.New("repoURL: the address contains credentials: put them into a Secret that is labelled for it")
	case s.Name == "":
		return nil, errors.New("name: the repository has several charts: name one")
	}
	login, err := f.reach(ctx, project, v1alpha1.HelmCredentials, s.RepoURL, s.RepoURL)
	if err != nil {
		return nil, err
	}
	v, err := f.visit(false, maxIndex)
	if err != nil {
		return nil, err
	}
	key := project + "|" + s.RepoURL + "|" + s.Name
	last := versions{}
	if cached, is := f.charts.Get(key); is {
		last, _ = cached.(versions)
	}
	now, err := f.index(ctx, v, address.JoinPath("index.yaml"), s.Name, login, last)
	if err != nil {
		return nil, fmt.Errorf("repoURL: reading the index of %s: %w", s.RepoURL, v.failed(ctx, login, err))
	}
	f.charts.Add(key, now)
	return now.all, nil
}

// index asks for the index of a repository.
func (f *Finder) index(ctx context.Context, v *visit, address *url.URL, chart string, login steps.Login, last versions) (versions, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return last, errors.New("the address is not valid")
	}
	if login != (steps.Login{}) {
		q.SetBasicAuth(login.Username, login.Password)
	}
	q.Header.Set("User-Agent", "headgate")
	if last.etag != "" {
		q.Header.Set("If-None-Match", last.etag)
	}
	if last.modified != "" {
		q.Header.Set("If-Modified-Since", last.modified)
	}
	response, err := v.client(f).Do(q)
	if err != nil {
		return last, err
	}
	defer func() { _ = response.Body.Close() }()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotModified:
		return last, nil
	case http.StatusUnauthorized, http.StatusForbidden:
		return last, fmt.Errorf("the server responds %s: label a Secret with credentials for the repository", response.Status)
	default:
		if location := response.Header.Get("Location"); location != "" {
			return last, fmt.Errorf("the server responds %s, and redirects to %.200q: if that is the repository, name it in repoURL", response.Status, location)
		}
		return last, fmt.Errorf("the server responds %s", response.Status)
	}
	index, err := source.ParseIndex(response.Body, "unread")
	if err != nil {
		return last, err
	}
	now := versions{etag: response.Header.Get("ETag"), modified: response.Header.Get("Last-Modified")}
	for _, one := range index.Versions(chart) {
		now.all = append(now.all, one.Version)
	}
	return now, nil
}
