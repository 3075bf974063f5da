package notify

import (
	"context"
	"maps"
	"regexp"
	"strings"
)

// Ref names an object.
type Ref struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

func (r Ref) String() string { return r.Namespace + "/" + r.Name }

// Source selects the objects whose events concern an Alert.
type Source struct {
	Kind, Namespace string
	// Name may be * for all of them.
	Name string
	// MatchLabels, when not empty, are labels that the object must have.
	MatchLabels map[string]string
}

// Alert says which events go to which Provider.
type Alert struct {
	Ref      Ref
	Provider Ref
	// Forge is set when the Provider takes the status of commits and nothing else.
	Forge bool
	// Kind is the type of the Provider.
	Kind string
	// Severity is the lowest that is sent: info or error.
	Severity         string
	Sources          []Source
	Include, Exclude []*regexp.Regexp
	Metadata         map[string]string
	Summary          string
}

// Fact is an event, with what is known beside it.
type Fact struct {
	Event Event
	// Labels are those of the object; they are read when an Alert selects by labels.
	Labels func(ctx context.Context) (map[string]string, error)
	// Failing is set when the event says that the object is not ready, Ready when it says that it is.
	Failing, Ready bool
}

// Outside reads what an event says that another controller sent.
func Outside(e Event) Fact {
	ready := strings.HasSuffix(e.Reason, "Succeeded") && e.Reason != "UninstallSucceeded" && e.Reason != "RollbackSucceeded"
	return Fact{Event: e, Failing: e.Severity == SeverityError, Ready: e.Severity == SeverityInfo && ready}
}

// selects reports whether an event is about an object of the Alert.
func (a *Alert) selects(ctx context.Context, f *Fact) (bool, error) {
	o := f.Event.InvolvedObject
	for _, s := range a.Sources {
		if s.Kind != o.Kind || s.Namespace != o.Namespace || s.Name != "*" && s.Name != o.Name {
			continue
		}
		if len(s.MatchLabels) == 0 {
			return true, nil
		}
		if f.Labels == nil {
			continue
		}
		labels, err := f.Labels(ctx)
		if err != nil {
			return false, err
		}
		if contains(labels, s.MatchLabels) {
			return true, nil
		}
	}
	return false, nil
}

func contains(labels, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, there := labels[k]; !there || got != v {
			return false
		}
	}
	return true
}

// severe reports whether an event is severe enough.
func (a *Alert) severe(severity string) bool {
	return a.Severity != SeverityError || severity == SeverityError
}

func (a *Alert) included(message string) bool {
	return len(a.Include) == 0 || anyMatches(a.Include, message)
}

func (a *Alert) excluded(message string) bool { return anyMatches(a.Exclude, message) }

func anyMatches(list []*regexp.Regexp, text string) bool {
	for _, r := range list {
		if r.MatchString(text) {
			return true
		}
	}
	return false
}

// forForge reports whether an event says something about a commit: that it is done, or that it failed.
func forForge(f *Fact) bool {
	e := &f.Event
	if e.Metadata[EventGroup+"/"+metaCommit] != "" || e.own(metaCommitStatus) == commitStatusUpdate {
		return true
	}
	if !f.Failing {
		return false
	}
	for _, key := range []string{metaOriginRevision, metaRevision} {
		if _, err := commitOf(e.own(key)); err == nil {
			return true
		}
	}
	return false
}

// prepared is the event as it is sent to the Provider of an Alert: with the metadata of both, in the order of
// precedence that Flux has.
func (a *Alert) prepared(e Event) Event {
	merged := map[string]string{}
	for k, v := range e.Metadata {
		if key, ours := strings.CutPrefix(k, EventGroup+"/"); ours {
			merged[key] = v
		}
	}
	maps.Copy(merged, a.Metadata)
	if a.Summary != "" {
		merged[metaSummary] = a.Summary
	}
	group := e.InvolvedObject.Group() + "/"
	for k, v := range e.Metadata {
		// The token distinguishes events, and reveals nothing.
		if key, ours := strings.CutPrefix(k, group); ours && key != metaToken {
			merged[key] = v
		}
	}
	e.Metadata = merged
	return e
}
