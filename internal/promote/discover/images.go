package discover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/guard"
)

const (
	// atOnce bounds the requests to one registry at a time.
	atOnce = 8
	// maxBuilds bounds the tags that NewestBuild compares, each of which it has to fetch.
	maxBuilds = 10_000
)

// imageSearch is the search of one subscription to images.
type imageSearch struct {
	finder   *Finder
	project  string
	spec     *v1alpha1.ImageSubscription
	registry *registry
	filter   *tagFilter
	platform *platform
	limit    int
	// before are images that the last search found, by tag.
	before map[string]v1alpha1.DiscoveredImageReference
}

// image searches a repository of images.
func (f *Finder) image(
	ctx context.Context, project string, s *v1alpha1.ImageSubscription, before v1alpha1.ImageDiscoveryResult,
) (v1alpha1.ImageDiscoveryResult, error) {
	result := v1alpha1.ImageDiscoveryResult{RepoURL: s.RepoURL, Platform: s.Platform, References: []v1alpha1.DiscoveredImageReference{}}
	search := &imageSearch{finder: f, project: project, spec: s, limit: limited(s.DiscoveryLimit)}
	var err error
	if search.platform, err = parsePlatform(s.Platform); err != nil {
		return result, err
	}
	rules := tagRules{allowTags: s.AllowTags, allowTagsRegexes: s.AllowTagsRegexes, ignoreTags: s.IgnoreTags, ignoreTagsRegexes: s.IgnoreTagsRegexes}
	if search.filter, err = rules.filter(); err != nil {
		return result, err
	}
	choose, err := search.strategy()
	if err != nil {
		return result, err
	}
	if search.registry, err = f.registry(ctx, project, v1alpha1.ImageCredentials, s.RepoURL, s.InsecureSkipTLSVerify); err != nil {
		return result, err
	}
	if before.RepoURL == s.RepoURL && before.Platform == s.Platform {
		search.before = make(map[string]v1alpha1.DiscoveredImageReference, len(before.References))
		for _, one := range before.References {
			search.before[one.Tag] = one
		}
	}
	found, err := choose(ctx)
	if err != nil {
		return result, err
	}
	result.References = append(result.References, found[:min(len(found), search.limit)]...)
	return result, nil
}

type chooser func(ctx context.Context) ([]v1alpha1.DiscoveredImageReference, error)

// strategy is how images are chosen; it checks the fields that matter for it.
func (s *imageSearch) strategy() (chooser, error) {
	constraint, field := s.spec.Constraint, "constraint"
	if constraint == "" && s.spec.SemverConstraint != "" {
		constraint, field = s.spec.SemverConstraint, "semverConstraint"
	}
	switch s.spec.ImageSelectionStrategy {
	case "", v1alpha1.ImageSemVer:
		return s.byName, s.filter.onlyVersions(field, constraint, s.spec.StrictSemvers)
	case v1alpha1.ImageLexical:
		return s.byName, nil
	case v1alpha1.ImageNewestBuild:
		return s.byDate, nil
	case v1alpha1.ImageDigest:
		if constraint == "" {
			return nil, fmt.Errorf("constraint: the strategy %s follows one tag, which this field has to name", v1alpha1.ImageDigest)
		}
		return func(ctx context.Context) ([]v1alpha1.DiscoveredImageReference, error) {
			return s.byTag(ctx, constraint)
		}, nil
	default:
		return nil, fmt.Errorf("imageSelectionStrategy: %q is not one of Digest, Lexical, NewestBuild, SemVer", s.spec.ImageSelectionStrategy)
	}
}

// byName takes the tags in the order of their names, until there are enough for the platform.
func (s *imageSearch) byName(ctx context.Context) ([]v1alpha1.DiscoveredImageReference, error) {
	tags, err := s.registry.list(ctx, s.filter.takes)
	if err != nil {
		return nil, err
	}
	sorted(tags, s.filter, func(tag string) string { return tag })
	var found []v1alpha1.DiscoveredImageReference
	for len(tags) > 0 && len(found) < s.limit {
		next := tags[:min(len(tags), s.limit-len(found))]
		tags = tags[len(next):]
		some, err := s.fetch(ctx, next)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	return found, nil
}

// byDate fetches all tags, since their dates are in what they name.
func (s *imageSearch) byDate(ctx context.Context) ([]v1alpha1.DiscoveredImageReference, error) {
	tags, err := s.registry.list(ctx, s.filter.takes)
	if err != nil {
		return nil, err
	}
	if len(tags) > maxBuilds {
		return nil, fmt.Errorf("imageSelectionStrategy: %s compares at most %d tags, and %d match: limit them with allowTagsRegexes",
			v1alpha1.ImageNewestBuild, maxBuilds, len(tags))
	}
	found, err := s.fetch(ctx, tags)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b v1alpha1.DiscoveredImageReference) int {
		return cmp.Or(compareTimes(b.CreatedAt, a.CreatedAt), strings.Compare(b.Tag, a.Tag))
	})
	return found, nil
}

// compareTimes compares two times; none is before all others.
func compareTimes(a, b *metav1.Time) int {
	var none metav1.Time
	return cmp.Or(a, &none).Compare(cmp.Or(b, &none).Time)
}

// byTag fetches the one tag that is followed. There is nothing where the registry does not have it.
func (s *imageSearch) byTag(ctx context.Context, tag string) ([]v1alpha1.DiscoveredImageReference, error) {
	one, err := s.reference(ctx, tag)
	switch {
	case missing(err) && s.registry.visit.reason() == nil:
		return nil, nil
	case err != nil:
		return nil, s.registry.failed(ctx, fmt.Sprintf("fetching tag %q", tag), err)
	case one == nil:
		return nil, nil
	}
	return []v1alpha1.DiscoveredImageReference{*one}, nil
}

// fetch returns the images of tags, in their order, without those for other platforms. The first failure ends it.
func (s *imageSearch) fetch(ctx context.Context, tags []string) ([]v1alpha1.DiscoveredImageReference, error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	all := make([]*v1alpha1.DiscoveredImageReference, len(tags))
	var once sync.Once
	var failed error
	guard.Each(tags, atOnce, func(i int, tag string) {
		if within.Err() != nil {
			return
		}
		one, err := s.reference(within, tag)
		if err != nil {
			once.Do(func() { failed = s.registry.failed(ctx, fmt.Sprintf("fetching tag %q", tag), err) })
			cancel()
			return
		}
		all[i] = one
	})
	if failed != nil {
		return nil, failed
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var found []v1alpha1.DiscoveredImageReference
	for _, one := range all {
		if one != nil {
			found = append(found, *one)
		}
	}
	return found, nil
}
