package discover

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/headgate-dev/headgate/internal/promote/steps"
)

const (
	// maxResponse bounds a response of a registry, in bytes.
	maxResponse = 8 << 20
	// maxTags bounds the tags of a repository, and maxPages the requests for them.
	maxTags, maxPages = 100_000, 1000
)

// registry is a repository in a registry, for one search.
type registry struct {
	repo   name.Repository
	puller *remote.Puller
	visit  *visit
	login  steps.Login
}

// registry prepares for a repository in a registry; nothing is sent yet.
func (f *Finder) registry(ctx context.Context, project, credType, repoURL string, insecure bool) (*registry, error) {
	repo, err := name.NewRepository(strings.TrimSuffix(strings.TrimPrefix(repoURL, "oci://"), "/"), name.WeakValidation)
	if err != nil {
		return nil, fmt.Errorf("repoURL: %q is not a repository of a registry, such as ghcr.io/team/app without a tag: %w", repoURL, err)
	}
	login, err := f.reach(ctx, project, credType, repoURL, "https://"+repo.Name())
	if err != nil {
		return nil, err
	}
	v, err := f.visit(insecure, maxResponse)
	if err != nil {
		return nil, err
	}
	auth := authn.Anonymous
	if login != (steps.Login{}) {
		auth = authn.FromConfig(authn.AuthConfig{Username: login.Username, Password: login.Password})
	}
	// The caller tries again, later.
	puller, err := remote.NewPuller(remote.WithTransport(v), remote.WithAuth(auth), remote.WithUserAgent("headgate"), remote.WithContext(ctx),
		remote.WithRetryBackoff(remote.Backoff{Steps: 1}))
	if err != nil {
		return nil, fmt.Errorf("repoURL: %w", err)
	}
	return &registry{repo: repo, puller: puller, visit: v, login: login}, nil
}

// list returns the tags of the repository that are wanted.
func (r *registry) list(ctx context.Context, wanted func(tag string) bool) ([]string, error) {
	pages, err := r.puller.Lister(ctx, r.repo)
	if err != nil {
		return nil, r.failed(ctx, "listing the tags", err)
	}
	var tags []string
	seen := 0
	for range maxPages {
		if !pages.HasNext() {
			return tags, nil
		}
		page, err := pages.Next(ctx)
		if err != nil {
			return nil, r.failed(ctx, "listing the tags", err)
		}
		if seen += len(page.Tags); seen > maxTags {
			return nil, fmt.Errorf("repoURL: %s has more than %d tags", r.repo, maxTags)
		}
		for _, tag := range page.Tags {
			if wanted(tag) {
				tags = append(tags, tag)
			}
		}
	}
	return nil, fmt.Errorf("repoURL: %s lists its tags in more than %d responses", r.repo, maxPages)
}

// failed words an error of the library; what is what was done.
func (r *registry) failed(ctx context.Context, what string, err error) error {
	var answer *transport.Error
	if errors.As(err, &answer) && r.visit.reason() == nil && ctx.Err() == nil {
		for _, d := range answer.Errors {
			if d.Code == transport.TooManyRequestsErrorCode {
				return fmt.Errorf("repoURL: %s of %s: %w", what, r.repo, &RateLimit{Host: r.repo.RegistryStr(), After: defaultRetry})
			}
		}
		switch answer.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden:
			return fmt.Errorf("repoURL: %s of %s: the registry does not permit it: label a Secret with credentials for the repository", what, r.repo)
		case http.StatusNotFound:
			return fmt.Errorf("repoURL: %s of %s: the registry does not have it", what, r.repo)
		}
	}
	return fmt.Errorf("repoURL: %s of %s: %w", what, r.repo, r.visit.failed(ctx, r.login, err))
}

// missing reports whether a registry does not have something.
func missing(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}
