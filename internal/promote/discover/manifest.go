package discover

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

const (
	// maxAnnotations bounds the annotations of an image, in bytes: they become part of a status.
	maxAnnotations = 16 << 10
	// maxPlatforms bounds the images of an index.
	maxPlatforms = 64
)

// dates are the labels and annotations that say when an image was created, the first one that is a time counts.
var dates = [...]string{"org.opencontainers.image.created", "org.label-schema.build-date"}

// platform is what an image runs on.
type platform struct{ os, architecture, variant string }

// parsePlatform reads OS/ARCHITECTURE or OS/ARCHITECTURE/VARIANT; nothing is nil, which every image meets.
func parsePlatform(text string) (*platform, error) {
	if text == "" {
		return nil, nil
	}
	parts := strings.SplitN(text, "/", 3)
	if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
		return nil, fmt.Errorf("platform: %q does not have the form OS/ARCHITECTURE or OS/ARCHITECTURE/VARIANT", text)
	}
	return &platform{parts[0], parts[1], strings.Join(parts[2:], "/")}, nil
}

// image is what a digest stands for.
type image struct {
	digest      string
	created     time.Time
	annotations map[string]string
	// platforms are those of the images of an index, or of the one image, with the annotations that the index has for them.
	platforms map[platform]map[string]string
}

// reference is the image that a tag names, or nil if it is for other platforms. What is known by its digest is not fetched again.
func (s *imageSearch) reference(ctx context.Context, tag string) (*v1alpha1.DiscoveredImageReference, error) {
	key := s.key(tag)
	last, has := s.finder.tags.Get(key)
	if before, had := s.before[tag]; had && !has {
		last, has = before.Digest, true
	}
	if !has {
		return s.fetchTag(ctx, tag)
	}
	known, _ := last.(string)
	if !s.spec.CacheByTag || s.spec.ImageSelectionStrategy == v1alpha1.ImageDigest {
		head, err := s.registry.puller.Head(ctx, s.registry.repo.Tag(tag))
		// A registry that does not answer HEAD as it should may answer GET.
		if err != nil || head.Digest.String() != known {
			return s.fetchTag(ctx, tag)
		}
	}
	if cached, is := s.finder.images.Get(s.key(known)); is {
		if i, is := cached.(*image); is {
			return i.as(tag, s.platform), nil
		}
	}
	if before, had := s.before[tag]; had && before.Digest == known {
		return &before, nil
	}
	return s.fetchTag(ctx, tag)
}

// key of a tag or digest: what one Project may read is unknown to another one.
func (s *imageSearch) key(what string) string {
	return s.project + "|" + s.registry.repo.Name() + "|" + what
}

// fetchTag asks for the manifest of a tag.
func (s *imageSearch) fetchTag(ctx context.Context, tag string) (*v1alpha1.DiscoveredImageReference, error) {
	got, err := s.registry.puller.Get(ctx, s.registry.repo.Tag(tag))
	if err != nil {
		return nil, err
	}
	i, err := s.known(got.Digest, func() (*image, error) { return s.describe(ctx, got) })
	if err != nil {
		return nil, err
	}
	s.finder.tags.Add(s.key(tag), i.digest)
	return i.as(tag, s.platform), nil
}

// known is the image with a digest, which is described if it is not remembered.
func (s *imageSearch) known(digest v1.Hash, describe func() (*image, error)) (*image, error) {
	if cached, is := s.finder.images.Get(s.key(digest.String())); is {
		if i, is := cached.(*image); is {
			return i, nil
		}
	}
	i, err := describe()
	if err != nil {
		return nil, err
	}
	i.digest = digest.String()
	if err := s.small(i); err != nil {
		return nil, err
	}
	s.finder.images.Add(s.key(i.digest), i)
	return i, nil
}

// small refuses annotations that a status has no room for.
func (s *imageSearch) small(i *image) error {
	size := 0
	count := func(annotations map[string]string) {
		for key, value := range annotations {
			size += len(key) + len(value)
		}
	}
	count(i.annotations)
	for _, annotations := range i.platforms {
		count(annotations)
	}
	if size > maxAnnotations {
		return fmt.Errorf("the annotations of %s have more than %d bytes", i.digest, maxAnnotations)
	}
	return nil
}

// describe reads a manifest, and what it refers to.
func (s *imageSearch) describe(ctx context.Context, got *remote.Descriptor) (*image, error) {
	switch got.MediaType {
	case types.OCIImageIndex, types.DockerManifestList:
		index, err := got.ImageIndex()
		if err != nil {
			return nil, err
		}
		return s.describeIndex(ctx, index)
	case types.OCIManifestSchema1, types.DockerManifestSchema2:
		one, err := got.Image()
		if err != nil {
			return nil, err
		}
		return describeImage(one)
	default:
		return nil, fmt.Errorf("its media type %q is not that of an image", got.MediaType)
	}
}

// describeIndex reads the images of an index: it is as old as the newest of them.
func (s *imageSearch) describeIndex(ctx context.Context, index v1.ImageIndex) (*image, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) > maxPlatforms {
		return nil, fmt.Errorf("its index has %d entries, more than %d", len(manifest.Manifests), maxPlatforms)
	}
	i := &image{annotations: manifest.Annotations, platforms: map[platform]map[string]string{}}
	for _, entry := range manifest.Manifests {
		p := entry.Platform
		// What is no image, such as an attestation, has no platform.
		if p == nil || p.OS == "" || p.OS == "unknown" || p.Architecture == "" || p.Architecture == "unknown" {
			continue
		}
		one, err := s.known(entry.Digest, func() (*image, error) { return s.byDigest(ctx, entry.Digest) })
		if err != nil {
			return nil, fmt.Errorf("fetching %s for %s: %w", entry.Digest, p, err)
		}
		if one.created.After(i.created) {
			i.created = one.created
		}
		i.platforms[platform{p.OS, p.Architecture, p.Variant}] = entry.Annotations
	}
	if len(i.platforms) == 0 {
		return nil, fmt.Errorf("its index has no image")
	}
	return i, nil
}

// byDigest fetches an image of an index; another index there is an error.
func (s *imageSearch) byDigest(ctx context.Context, digest v1.Hash) (*image, error) {
	got, err := s.registry.puller.Get(ctx, s.registry.repo.Digest(digest.String()))
	if err != nil {
		return nil, err
	}
	if !got.MediaType.IsImage() {
		return nil, fmt.Errorf("its media type %q is not that of an image", got.MediaType)
	}
	one, err := got.Image()
	if err != nil {
		return nil, err
	}
	return describeImage(one)
}

// describeImage reads the configuration of an image.
func describeImage(one v1.Image) (*image, error) {
	config, err := one.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	manifest, err := one.Manifest()
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	return &image{
		created: created(config.Created.Time, manifest.Annotations, config.Config.Labels), annotations: manifest.Annotations,
		platforms: map[platform]map[string]string{{config.OS, config.Architecture, config.Variant}: nil},
	}, nil
}

// created is when an image was created: what the first of its annotations and labels says, else what its configuration says.
func created(configured time.Time, sources ...map[string]string) time.Time {
	for _, source := range sources {
		for _, key := range dates {
			if t, err := time.Parse(time.RFC3339, source[key]); err == nil {
				return t
			}
		}
	}
	return configured
}

// as is the image as a subscription sees it by a tag, or nil if it is not for the platform.
func (i *image) as(tag string, only *platform) *v1alpha1.DiscoveredImageReference {
	found := &v1alpha1.DiscoveredImageReference{Tag: tag, Digest: i.digest, CreatedAt: stamp(i.created)}
	if len(i.annotations) > 0 {
		found.Annotations = maps.Clone(i.annotations)
	}
	if only == nil {
		return found
	}
	more, has := i.platforms[*only]
	if !has {
		return nil
	}
	if len(more) > 0 {
		if found.Annotations == nil {
			found.Annotations = map[string]string{}
		}
		maps.Copy(found.Annotations, more)
	}
	return found
}
