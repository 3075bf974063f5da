package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	ggcr "github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// ociScheme begins the URLs of repositories in registries.
const ociScheme = "oci://"

// RegistryAccess says how a registry is reached, and as whom.
type RegistryAccess struct {
	Access
	// DockerConfig is the content of .dockerconfigjson. Username and Password go before it.
	DockerConfig []byte
	// Insecure allows plain http, and https with any certificate when there is no CAFile. Registries on this
	// machine and at private addresses (RFC 1918) are asked by plain http without it when they do not answer
	// by https, as Flux does.
	Insecure bool
}

// registry is a repository in a registry.
type registry struct {
	url     string
	repo    name.Repository
	options []ggcr.Option
	puller  *ggcr.Puller
	secrets redactor
	close   func()
}

// newRegistry makes no connection yet.
func newRegistry(ctx context.Context, address string, a RegistryAccess) (*registry, error) {
	repo, err := parseRepository(address, a.Insecure)
	if err != nil {
		return nil, err
	}
	t, err := a.transport()
	if err != nil {
		return nil, err
	}
	if a.Insecure && len(a.CAFile) == 0 {
		t.TLSClientConfig.InsecureSkipVerify = true
	}
	r := &registry{url: address, repo: repo, secrets: a.secrets(), close: t.CloseIdleConnections}
	login := authn.Anonymous
	switch {
	case a.Username != "" || a.Password != "":
		login = authn.FromConfig(authn.AuthConfig{Username: a.Username, Password: a.Password})
	case len(a.DockerConfig) > 0:
		config, err := readDockerConfig(a.DockerConfig)
		if err != nil {
			return nil, err
		}
		r.secrets.hide(config.secrets()...)
		if login, err = config.Resolve(repo); err != nil {
			return nil, err
		}
	}
	options := []ggcr.Option{
		ggcr.WithTransport(t), ggcr.WithAuth(login), ggcr.WithUserAgent(userAgent), ggcr.WithContext(ctx),
		// The caller retries, with a backoff.
		ggcr.WithRetryBackoff(ggcr.Backoff{Steps: 1}),
	}
	if r.puller, err = ggcr.NewPuller(options...); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	r.options = append(options, ggcr.Reuse(r.puller))
	return r, nil
}

// userAgent is how Headgate calls itself.
const userAgent = "headgate"

func parseRepository(address string, insecure bool) (name.Repository, error) {
	rest, ok := strings.CutPrefix(address, ociScheme)
	switch {
	case !ok:
		return name.Repository{}, fmt.Errorf("%w: want the form oci://HOST/REPOSITORY", ErrURL)
	case strings.Contains(rest, "@"):
		return name.Repository{}, fmt.Errorf("%w: it must contain neither a digest nor credentials", ErrURL)
	}
	var options []name.Option
	if insecure {
		options = append(options, name.Insecure)
	}
	repo, err := name.NewRepository(strings.TrimSuffix(rest, "/"), options...)
	if err != nil {
		if _, last, tagged := strings.Cut(rest[strings.LastIndex(rest, "/")+1:], ":"); tagged {
			return repo, fmt.Errorf("%w: it must contain no tag; remove %q", ErrURL, ":"+last)
		}
		return repo, fmt.Errorf("%w: %w", ErrURL, err)
	}
	return repo, nil
}

// explain words an error of the library, without any credential; kind says what was done.
func (r *registry) explain(ctx context.Context, kind error, what string, err error) error {
	var answer *transport.Error
	if errors.As(err, &answer) && ctx.Err() == nil {
		switch answer.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden:
			return fmt.Errorf("%w: %s of %q: %w", kind, what, r.url, ErrAuth)
		case http.StatusNotFound:
			return fmt.Errorf("%w: %s of %q: %w", kind, what, r.url, ErrReference)
		}
	}
	return fmt.Errorf("%w: %s of %q: %s", kind, what, r.url, r.secrets.text(ctx, err))
}

func (r *registry) tags(ctx context.Context) ([]string, error) {
	tags, err := r.puller.List(ctx, r.repo)
	if err != nil {
		return nil, r.explain(ctx, ErrPull, "listing the tags", err)
	}
	return tags, nil
}

// digest asks for the digest that a tag has now.
func (r *registry) digest(ctx context.Context, tag name.Tag) (v1.Hash, error) {
	found, err := r.puller.Head(ctx, tag)
	if err == nil {
		return found.Digest, nil
	}
	if !worthGet(ctx, err) {
		return v1.Hash{}, r.explain(ctx, ErrPull, fmt.Sprintf("requesting tag %q", tag.TagStr()), err)
	}
	got, err := r.puller.Get(ctx, tag)
	if err != nil {
		return v1.Hash{}, r.explain(ctx, ErrPull, fmt.Sprintf("requesting tag %q", tag.TagStr()), err)
	}
	return got.Digest, nil
}

// worthGet reports whether a server that does not answer HEAD as it should may answer GET.
func worthGet(ctx context.Context, err error) bool {
	var unreached *url.Error
	if ctx.Err() != nil || errors.As(err, &unreached) {
		return false
	}
	var answer *transport.Error
	return !errors.As(err, &answer) || answer.StatusCode == http.StatusMethodNotAllowed || answer.StatusCode == http.StatusBadRequest
}

// image returns the image with a digest; of several for platforms that for linux/amd64.
func (r *registry) image(ctx context.Context, digest v1.Hash) (v1.Image, *v1.Manifest, error) {
	what := fmt.Sprintf("reading the manifest %s", digest)
	got, err := r.puller.Get(ctx, r.repo.Digest(digest.String()))
	if err != nil {
		return nil, nil, r.explain(ctx, ErrPull, what, err)
	}
	image, err := got.Image()
	if err != nil {
		return nil, nil, r.explain(ctx, ErrPull, what, err)
	}
	manifest, err := image.Manifest()
	if err != nil {
		return nil, nil, r.explain(ctx, ErrLayer, what, err)
	}
	return image, manifest, nil
}

// layer is one that is being downloaded.
type layer struct {
	io.ReadCloser
	digest v1.Hash
	size   int64
}

// layer begins the download of the first layer that has a media type, or of the first one.
func (r *registry) layer(ctx context.Context, image v1.Image, manifest *v1.Manifest, mediaType string, most int64) (*layer, error) {
	for _, l := range manifest.Layers {
		if mediaType != "" && string(l.MediaType) != mediaType {
			continue
		}
		if l.Size > most {
			return nil, fmt.Errorf("%w: a layer of %q has %d bytes, more than %d", ErrLayer, r.url, l.Size, most)
		}
		what := fmt.Sprintf("reading the layer %s", l.Digest)
		found, err := image.LayerByDigest(l.Digest)
		if err != nil {
			return nil, r.explain(ctx, ErrLayer, what, err)
		}
		body, err := found.Compressed()
		if err != nil {
			return nil, r.explain(ctx, ErrLayer, what, err)
		}
		return &layer{ReadCloser: body, digest: l.Digest, size: l.Size}, nil
	}
	if mediaType == "" {
		return nil, fmt.Errorf("%w: the artifact of %q has no layers", ErrLayer, r.url)
	}
	return nil, fmt.Errorf("%w: the artifact of %q has no layer of media type %q", ErrLayer, r.url, mediaType)
}

// copy returns a layer as it is.
func (l *layer) copy() ([]byte, error) {
	data := make([]byte, l.size)
	if _, err := io.ReadFull(l, data); err != nil {
		return nil, err
	}
	return data, l.rest()
}

// rest reads a layer to its end, where its digest is checked.
func (l *layer) rest() error {
	_, err := io.Copy(io.Discard, l)
	return err
}
