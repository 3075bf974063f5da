package helm

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/yaml"
)

// Bounds of what is fetched, in bytes and in time.
const (
	maxArchive   = 50 << 20
	maxIndex     = 200 << 20
	fetchTimeout = 5 * time.Minute
)

// fetch is the version that a reference leads to, and its archive.
func fetch(ref reference) (version string, data []byte, err error) {
	if strings.HasPrefix(ref.Repository, "oci://") {
		return fromRegistry(ref)
	}
	return fromRepository(ref)
}

// release is a version of a chart in the index of a repository.
type release struct {
	Version string   `json:"version"`
	URLs    []string `json:"urls"`
	Digest  string   `json:"digest"`
}

func fromRepository(ref reference) (string, []byte, error) {
	address := ref.Repository + "/index.yaml"
	data, err := get(address, ref, maxIndex)
	if err != nil {
		return "", nil, err
	}
	var index struct {
		Entries map[string][]release `json:"entries"`
	}
	if err := yaml.Unmarshal(data, &index); err != nil {
		return "", nil, fmt.Errorf("%s is not the index of a repository", address)
	}
	releases := index.Entries[ref.Chart]
	if len(releases) == 0 {
		return "", nil, fmt.Errorf("the repository %s has no chart %s", ref.Repository, ref.Chart)
	}
	versions := make([]string, len(releases))
	for i, r := range releases {
		versions[i] = r.Version
	}
	at, err := choose(versions, ref.Requested)
	if err != nil {
		return "", nil, err
	}
	chosen := releases[at]
	if len(chosen.URLs) == 0 {
		return "", nil, fmt.Errorf("%s has no address for version %s", address, chosen.Version)
	}
	from, err := relative(address, chosen.URLs[0])
	if err != nil {
		return "", nil, err
	}
	if strings.HasPrefix(from, "oci://") {
		_, archive, err := fromRegistry(reference{Repository: from[:strings.LastIndex(from, "/")], Chart: strings.TrimSuffix(from[strings.LastIndex(from, "/")+1:], ":"+chosen.Version), Requested: chosen.Version, login: ref.login})
		return chosen.Version, archive, err
	}
	archive, err := get(from, ref, maxArchive)
	if err != nil {
		return "", nil, err
	}
	if want := strings.TrimPrefix(chosen.Digest, "sha256:"); want != "" && "sha256:"+want != digestOf(archive) {
		return "", nil, fmt.Errorf("%s has the digest %s, and the index of the repository says sha256:%s", from, digestOf(archive), want)
	}
	return chosen.Version, archive, nil
}

// relative is an address that an index names.
func relative(index, address string) (string, error) {
	base, err := url.Parse(index)
	if err != nil {
		return "", err
	}
	to, err := base.Parse(address)
	if err != nil {
		return "", fmt.Errorf("%s names the address %q, which is none", index, address)
	}
	return to.String(), nil
}

// get fetches a file. The login goes to the host of the repository alone.
func get(address string, ref reference, limit int64) ([]byte, error) {
	request, err := http.NewRequest(http.MethodGet, address, nil) //nolint:noctx // a description has no context; the client has a time limit
	if err != nil {
		return nil, err
	}
	if own, err := url.Parse(ref.Repository); err == nil && ref.login != nil && own.Host == request.URL.Host && own.Scheme == request.URL.Scheme {
		request.SetBasicAuth(ref.login.Username, ref.login.Password)
	}
	response, err := (&http.Client{Timeout: fetchTimeout}).Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetching %s: %s", request.URL.Redacted(), response.Status)
	}
	return bounded(response.Body, request.URL.Redacted(), limit)
}

func bounded(from io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("fetching %s: it has more than %d bytes", name, limit)
	}
	return data, nil
}

// choose is the index of the version that is meant: that very one, else the newest in a range, without pre-releases unless the range
// has one.
func choose(versions []string, requested string) (int, error) {
	for i, one := range versions {
		if strings.TrimPrefix(one, "v") == strings.TrimPrefix(requested, "v") {
			return i, nil
		}
	}
	within, err := semver.NewConstraint(cmp.Or(requested, "*"))
	if err != nil {
		return 0, fmt.Errorf("the version %q is neither a version nor a range such as 6.x or ^6.1.0", requested)
	}
	best := -1
	var newest *semver.Version
	for i, one := range versions {
		version, err := semver.NewVersion(one)
		if err == nil && within.Check(version) && (newest == nil || version.GreaterThan(newest)) {
			best, newest = i, version
		}
	}
	switch {
	case best < 0 && len(versions) == 0:
		return 0, errors.New("there are no versions")
	case best < 0:
		return 0, fmt.Errorf("no version is %s; there are %s", cmp.Or(requested, "a release"), strings.Join(versions[:min(len(versions), 10)], ", "))
	}
	return best, nil
}
