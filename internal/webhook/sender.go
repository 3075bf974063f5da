package webhook

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// sender is how a kind of forge or registry proves who it is, and how it names its events. One without any
// proof is known by the path alone, which is made from the token.
type sender struct {
	// secret is the header that carries the token itself.
	secret string
	// signatures are the headers that may sign the body, the strongest first: the first that is there counts.
	signatures []signature
	// events are the headers that may name the event.
	events []string
	// object is set when the body must be a JSON object; check validates it further.
	object bool
	check  func(fields map[string]any) error
	// other is set for a type that Flux does not have.
	other bool
}

var hub = []signature{{header: "X-Hub-Signature-256"}, {header: "X-Hub-Signature"}}

// senders are the types that are served, by their names with Flux.
var senders = map[string]sender{
	"generic":      {},
	"generic-hmac": {signatures: []signature{{header: "X-Signature"}}},
	// Gitea and Forgejo speak as GitHub does, and in their own words beside it.
	"github": {
		signatures: append(slices.Clone(hub),
			signature{"X-Forgejo-Signature", "sha256"}, signature{"X-Gitea-Signature", "sha256"}, signature{"X-Gogs-Signature", "sha256"}),
		events: []string{"X-GitHub-Event", "X-Forgejo-Event", "X-Gitea-Event", "X-Gogs-Event"},
	},
	"gitlab":      {secret: "X-Gitlab-Token", events: []string{"X-Gitlab-Event"}},
	"bitbucket":   {signatures: hub, events: []string{"X-Event-Key"}},
	"harbor":      {secret: "Authorization"},
	"dockerhub":   {object: true},
	"quay":        {object: true},
	"nexus":       {signatures: []signature{{"X-Nexus-Webhook-Signature", "sha1"}}, object: true},
	"acr":         {object: true},
	"artifactory": {signatures: []signature{{"X-JFrog-Event-Auth", "sha256"}}, object: true, other: true},
	"cdevents":    {events: []string{"Ce-Type"}, object: true, check: cdEvent},
}

// Types are the types of senders that Receivers of Flux may have.
func Types() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(senders)), func(kind string) bool { return senders[kind].other })
}

// NamesEvents reports whether requests of a type name their event.
func NamesEvents(kind string) bool { return senders[kind].named() }

func (s sender) named() bool { return len(s.events) > 0 }

// announced reports what is wrong with a request as far as its header shows.
func (s sender) announced(h http.Header, token string) error {
	if s.secret != "" && !same(h.Get(s.secret), token) {
		return fmt.Errorf("its header %s does not match the token", s.secret)
	}
	if len(s.signatures) > 0 {
		if _, there := s.signature(h); !there {
			return fmt.Errorf("it has no header %s", s.signatures[0].header)
		}
	}
	return nil
}

// signature is the first that a request has.
func (s sender) signature(h http.Header) (signature, bool) {
	i := slices.IndexFunc(s.signatures, func(sig signature) bool { return h.Get(sig.header) != "" })
	if i < 0 {
		return signature{}, false
	}
	return s.signatures[i], true
}

// verify reports what is wrong with a request that was announced.
func (s sender) verify(d Delivery, token string) error {
	if sig, signed := s.signature(d.header); signed {
		if err := sig.verify(d.header.Get(sig.header), d.body, token); err != nil {
			return err
		}
	}
	if !s.object {
		return nil
	}
	fields, err := object(d.body)
	if err != nil || s.check == nil {
		return err
	}
	return s.check(fields)
}

// event is what a request reports.
func (s sender) event(h http.Header) string {
	for _, name := range s.events {
		if event := h.Get(name); event != "" {
			return event
		}
	}
	return ""
}

// cdEvent reports what an event lacks that every one of CDEvents has.
func cdEvent(fields map[string]any) error {
	about, _ := fields["context"].(map[string]any)
	for _, name := range []string{"version", "id", "source", "type", "timestamp"} {
		if text, _ := about[name].(string); text == "" {
			return fmt.Errorf("%w: it has no context.%s", ErrMalformed, name)
		}
	}
	if kind, _ := about["type"].(string); !strings.HasPrefix(kind, "dev.cdevents") {
		return fmt.Errorf("%w: its context.type is not a type of CDEvents", ErrMalformed)
	}
	subject, _ := fields["subject"].(map[string]any)
	if id, _ := subject["id"].(string); id == "" {
		return fmt.Errorf("%w: it has no subject.id", ErrMalformed)
	}
	return nil
}
