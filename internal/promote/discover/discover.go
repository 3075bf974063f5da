// Package discover searches the subscriptions of Warehouses as Kargo does: tags of images with their digests and dates, versions of charts, commits of
// branches and tags. What it finds is a value, the best first; what does not change between two searches is not fetched again.
//
// It refuses other protocols than HTTP, requests by another client than the one that it is given, credentials in clear, and answers, lists and
// histories beyond a bound. It knows nothing of Freight, writes nothing, and keeps nothing on disk.
package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/steps"
	"github.com/headgate-dev/headgate/internal/redaction"
)

const (
	// defaultLimit is how many artifacts of one subscription are kept where it says nothing, mostLimit how many at most.
	defaultLimit, mostLimit = 20, 100
	// patience bounds the search of one subscription.
	patience = 5 * time.Minute
	// maxCached bounds how many images, tags, charts and subscriptions are remembered, each.
	maxCached = 8192
)

// Options say how repositories are searched.
type Options struct {
	// Login is what a Project has for a repository; credType is a type of credentials of Kargo: git, image or helm. A nil function is none.
	Login func(ctx context.Context, project, credType, repoURL string) (steps.Login, error)
	// Allow refuses addresses that a tenant may not reach, such as https://HOST/REPOSITORY; those of registries are given in the same form. A nil
	// function refuses all.
	Allow func(ctx context.Context, address string) error
	// HTTP sends every request; its transport restricts the addresses of connections. Without a client, nothing is searched.
	HTTP *http.Client
	// Insecure is the transport for subscriptions that accept any certificate; without one, they are refused.
	Insecure http.RoundTripper
	// ClearText permits credentials without encryption for other hosts than this machine.
	ClearText bool
}

// Finder searches Warehouses, several at a time. It remembers what images were, by their digests.
type Finder struct {
	options Options
	// images are by Project, repository and digest; tags are the digests that they had, by Project, repository and tag; charts are by Project,
	// repository and name; searched are results of Git subscriptions, by Warehouse and index.
	images, tags, charts, searched *lru.Cache
}

// New returns a Finder.
func New(o Options) *Finder {
	return &Finder{options: o, images: lru.New(maxCached), tags: lru.New(maxCached), charts: lru.New(maxCached), searched: lru.New(maxCached)}
}

// Find searches the subscriptions of a Warehouse in their order, and returns what they give in that order, by type. Before is what the last search
// found, or nil: what it says of an image whose digest is the same is not fetched again. An error names the subscription and the field; one with a
// method RetryAfter says when the server accepts requests again.
func (f *Finder) Find(ctx context.Context, w *v1alpha1.Warehouse, before *v1alpha1.DiscoveredArtifacts) (*v1alpha1.DiscoveredArtifacts, error) {
	if before == nil {
		before = &v1alpha1.DiscoveredArtifacts{}
	}
	found := &v1alpha1.DiscoveredArtifacts{DiscoveredAt: metav1.Unix(time.Now().Unix(), 0)}
	for i := range w.Spec.Subscriptions {
		if err := f.subscription(ctx, w, i, before, found); err != nil {
			return nil, fmt.Errorf("spec.subscriptions[%d].%w", i, err)
		}
	}
	return found, nil
}

// subscription adds what one subscription gives. Its errors begin with the type of the subscription.
func (f *Finder) subscription(ctx context.Context, w *v1alpha1.Warehouse, i int, before, found *v1alpha1.DiscoveredArtifacts) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the search took longer than %s", patience))
	defer cancel()
	s := w.Spec.Subscriptions[i]
	switch {
	case s.Image != nil && s.Git == nil && s.Chart == nil:
		result, err := f.image(ctx, w.Namespace, s.Image, at(before.Images, len(found.Images)))
		if err != nil {
			return fmt.Errorf("image.%w", err)
		}
		found.Images = append(found.Images, result)
	case s.Git != nil && s.Image == nil && s.Chart == nil:
		key := fmt.Sprintf("%s/%s/%s/%d", w.Namespace, w.Name, w.UID, i)
		result, err := f.git(ctx, w.Namespace, key, s.Git)
		if err != nil {
			return fmt.Errorf("git.%w", err)
		}
		found.Git = append(found.Git, result)
	case s.Chart != nil && s.Git == nil && s.Image == nil:
		result, err := f.chart(ctx, w.Namespace, s.Chart)
		if err != nil {
			return fmt.Errorf("chart.%w", err)
		}
		found.Charts = append(found.Charts, result)
	default:
		return errors.New("image, git, chart: exactly one of these has to be set")
	}
	return nil
}

// at is the item at an index, or nothing.
func at[T any](items []T, i int) T {
	if i < len(items) {
		return items[i]
	}
	var none T
	return none
}

// limited is how many artifacts a subscription keeps.
func limited(limit int64) int {
	return int(min(cmp.Or(max(limit, 0), defaultLimit), mostLimit))
}

// reach checks that an address is permitted, and says how to log in there.
func (f *Finder) reach(ctx context.Context, project, credType, repoURL, address string) (steps.Login, error) {
	if f.options.HTTP == nil || f.options.Allow == nil {
		return steps.Login{}, errors.New("repoURL: repositories are not searched here")
	}
	if err := f.options.Allow(ctx, address); err != nil {
		return steps.Login{}, fmt.Errorf("repoURL: %w", err)
	}
	if f.options.Login == nil {
		return steps.Login{}, nil
	}
	login, err := f.options.Login(ctx, project, credType, repoURL)
	if err != nil {
		return steps.Login{}, fmt.Errorf("repoURL: reading the credentials of %s: %w", repoURL, err)
	}
	return login, nil
}

// failed words why a request failed: an exceeded rate or another refusal of our own goes before what a library makes of it. No credential is shown.
func (v *visit) failed(ctx context.Context, login steps.Login, err error) error {
	if reason := v.reason(); reason != nil {
		return reason
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.New(redaction.NewValues(login.Password).Text(err.Error()))
}

// stamp is a time as the API stores it: in seconds; none is nil.
func stamp(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	stored := metav1.Unix(t.Unix(), 0)
	return &stored
}
