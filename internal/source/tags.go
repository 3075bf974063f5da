package source

import (
	"context"
	"fmt"
	"strings"
)

// CanonicalImage is the name of a repository of images with all that it implies: its registry, and the path
// there. A scheme, a tag and a digest are errors: the repository is named without.
func CanonicalImage(image string, insecure bool) (string, error) {
	if scheme, _, found := strings.Cut(image, "://"); found {
		return "", fmt.Errorf("%w: .spec.image value should not start with URL scheme; remove '%s://'", ErrURL, scheme)
	}
	repo, err := parseRepository(ociScheme+image, insecure)
	if err != nil {
		return "", fmt.Errorf(".spec.image value %q: %w", image, err)
	}
	return repo.Name(), nil
}

// ListTags lists the tags of a repository in a registry: oci://HOST/REPOSITORY. No error holds a credential.
func ListTags(ctx context.Context, url string, a RegistryAccess) ([]string, error) {
	ctx, cancel := a.bound(ctx)
	defer cancel()
	r, err := newRegistry(ctx, url, a)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.tags(ctx)
}

// TagDigest asks for the digest of the manifest that a tag names now.
func TagDigest(ctx context.Context, url, tag string, a RegistryAccess) (string, error) {
	ctx, cancel := a.bound(ctx)
	defer cancel()
	r, err := newRegistry(ctx, url, a)
	if err != nil {
		return "", err
	}
	defer r.close()
	digest, err := r.digest(ctx, r.repo.Tag(tag))
	if err != nil {
		return "", err
	}
	return digest.String(), nil
}
