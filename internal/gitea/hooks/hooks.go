// Package hooks delivers events to the webhooks that users have set, in the words of Gitea: payloads, headers, signatures.
//
// Each hook has a queue of its own, bounded in number and bytes, and one delivery in progress, so that a slow receiver delays
// only itself. As in Gitea, a delivery that fails is recorded and not repeated. The room refuses to know how hooks are
// stored, to follow redirects or reach addresses that its client does not permit, and to show a secret, a URL or the body of
// an answer in a record or a log.
package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/patterns"
)

// The types of events that are delivered.
const (
	TypePush            = "push"
	TypeCreate          = "create"
	TypeDelete          = "delete"
	TypeRepository      = "repository"
	TypePullRequest     = "pull_request"
	TypePullRequestSync = "pull_request_sync"
	TypeRelease         = "release"
	TypePackage         = "package"
)

// Types are those of events that hooks may have.
var Types = []string{TypePush, TypeCreate, TypeDelete, TypeRepository, TypePullRequest, TypePullRequestSync, TypeRelease, TypePackage}

// The formats of requests.
const (
	JSON = "json"
	// Form has the payload in the field payload of a form. Its signature is that of the payload, as in Gitea.
	Form = "form"
)

// Hook is a receiver of events.
type Hook struct {
	// ID tells hooks apart.
	ID int64
	// Target is what the hook was set for: repository, organization, user, or system.
	Target string
	// URL is where events go. It may have credentials in it.
	URL string
	// ContentType is JSON or Form; empty is JSON.
	ContentType string
	// Secret signs payloads; Authorization, when set, is sent as the header of that name.
	Secret, Authorization string
	// Events are the types that are delivered; without any it is TypePush.
	Events []string
	// BranchFilter is a glob of the branches whose events are delivered; empty is all.
	BranchFilter string
	// Active is false for a hook that gets nothing.
	Active bool
}

// Source is what an event happened to.
type Source struct {
	// Owner is the user or organisation; Repository may be empty.
	Owner, Repository string
}

// Event is something that happened.
type Event struct {
	// Type is one of Types.
	Type string
	// Ref is the full name of the branch or tag that it is about, for branch filters; it may be empty.
	Ref string
	// Source is what it happened to.
	Source Source
	// Payload is one of the payloads of this room, or what else JSON is made of.
	Payload any
}

// Directory knows the hooks that there are.
type Directory interface {
	// Hooks are those of a repository, of its owner and of the system.
	Hooks(ctx context.Context, of Source) ([]Hook, error)
}

// Config is what a Dispatcher needs.
type Config struct {
	Directory Directory
	// Client sends requests; its timeout bounds a delivery. Gitea waits for five seconds.
	Client *http.Client
	Guard  guard.Guard
	Log    logr.Logger
}

const (
	// maxQueued and maxBytes bound what waits for one hook, in deliveries and in bytes of payloads.
	maxQueued = 100
	maxBytes  = 4 << 20
	// maxPayload bounds one payload, in bytes.
	maxPayload = 1 << 20
	// maxFilter bounds a branch filter, in bytes.
	maxFilter = 250
)

// Dispatcher delivers events.
type Dispatcher struct {
	cfg Config
	ctx context.Context // deliveries outlive the requests that cause them

	mu     sync.Mutex
	queues map[int64]*queue
}

// New returns a Dispatcher, whose deliveries end with the context.
func New(ctx context.Context, cfg Config) *Dispatcher {
	return &Dispatcher{cfg: cfg, ctx: ctx, queues: map[int64]*queue{}}
}

// Notify queues an event for the hooks that it concerns, and waits for none. An error says that hooks could not be read or
// that the payload is too long; then nothing is delivered.
func (d *Dispatcher) Notify(ctx context.Context, event Event) error {
	found, err := d.cfg.Directory.Hooks(ctx, event.Source)
	if err != nil {
		return fmt.Errorf("reading the hooks of %s/%s: %w", event.Source.Owner, event.Source.Repository, err)
	}
	concerned := slices.DeleteFunc(slices.Clone(found), func(h Hook) bool { return !h.Active || !h.Wants(event.Type) || !h.Filters(event.Ref) })
	return d.queueAll(concerned, event)
}

// Deliver queues an event for one hook, whatever events it has, as a test delivery.
func (d *Dispatcher) Deliver(hook Hook, event Event) error { return d.queueAll([]Hook{hook}, event) }

func (d *Dispatcher) queueAll(to []Hook, event Event) error {
	if len(to) == 0 {
		return nil
	}
	// All hooks share the bytes.
	payload, err := json.MarshalIndent(event.Payload, "", "  ")
	if err != nil {
		return fmt.Errorf("making the payload of an event %q of %s/%s: %w", event.Type, event.Source.Owner, event.Source.Repository, err)
	}
	if len(payload) > maxPayload {
		return fmt.Errorf("the payload of an event %q of %s/%s has %d bytes, and %d are delivered at most",
			event.Type, event.Source.Owner, event.Source.Repository, len(payload), maxPayload)
	}
	for _, hook := range to {
		d.enqueue(delivery{hook: hook, kind: event.Type, payload: payload, at: time.Now()})
	}
	return nil
}

// Wants reports whether a hook has a type among its events. One of pull requests stands for all types of these.
func (h Hook) Wants(kind string) bool {
	events := h.Events
	if len(events) == 0 {
		events = []string{TypePush}
	}
	return slices.ContainsFunc(events, func(one string) bool {
		return strings.EqualFold(one, kind) || strings.EqualFold(one, TypePullRequest) && kind == TypePullRequestSync
	})
}

// Filters reports whether events of a ref pass the branch filter. It is a glob of names of branches, or of full names of refs;
// one that is malformed lets nothing pass. An event without a ref always passes.
func (h Hook) Filters(ref string) bool {
	if ref == "" || h.BranchFilter == "" || h.BranchFilter == "*" || h.BranchFilter == "**" {
		return true
	}
	if CheckFilter(h.BranchFilter) != nil {
		return false
	}
	pattern, err := patterns.NewGlob(h.BranchFilter)
	if err != nil {
		return false
	}
	branch, is := strings.CutPrefix(ref, "refs/heads/")
	return is && pattern.Match(branch) || pattern.Match(ref)
}

// CheckFilter says what is wrong with a branch filter.
func CheckFilter(filter string) error {
	if len(filter) > maxFilter {
		return fmt.Errorf("branch_filter has %d bytes, and %d are allowed", len(filter), maxFilter)
	}
	if _, err := patterns.NewGlob(filter); err != nil {
		return fmt.Errorf("branch_filter %q is not a glob: %w", filter, err)
	}
	return nil
}
