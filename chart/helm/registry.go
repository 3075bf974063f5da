package helm

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// archiveType is the media type of a packed chart in a registry.
const archiveType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// fromRegistry pulls a chart. A tag cannot have a plus sign: an underscore stands for it.
func fromRegistry(ref reference) (string, []byte, error) {
	repository, err := name.NewRepository(strings.TrimPrefix(ref.String(), "oci://"))
	if err != nil {
		return "", nil, err
	}
	login := remote.WithAuthFromKeychain(authn.DefaultKeychain)
	if ref.login != nil {
		login = remote.WithAuth(&authn.Basic{Username: ref.login.Username, Password: ref.login.Password})
	}
	version := ref.Requested
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v")); err != nil {
		tags, err := remote.List(repository, login)
		if err != nil {
			return "", nil, fmt.Errorf("listing the versions of %s: %w", ref, err)
		}
		for i := range tags {
			tags[i] = strings.ReplaceAll(tags[i], "_", "+")
		}
		at, err := choose(tags, version)
		if err != nil {
			return "", nil, err
		}
		version = tags[at]
	}
	image, err := remote.Image(repository.Tag(strings.ReplaceAll(version, "+", "_")), login)
	if err != nil {
		return "", nil, fmt.Errorf("pulling %s:%s: %w", ref, version, err)
	}
	layers, err := image.Layers()
	if err != nil {
		return "", nil, fmt.Errorf("pulling %s:%s: %w", ref, version, err)
	}
	for _, layer := range layers {
		if kind, err := layer.MediaType(); err != nil || kind != archiveType {
			continue
		}
		content, err := layer.Compressed()
		if err != nil {
			return "", nil, fmt.Errorf("pulling %s:%s: %w", ref, version, err)
		}
		defer content.Close()
		data, err := bounded(content, ref.String(), maxArchive)
		return version, data, err
	}
	return "", nil, fmt.Errorf("%s:%s is no chart of Helm: it has no layer of type %s", ref, version, archiveType)
}
