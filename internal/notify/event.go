// Package notify turns events into messages for people and programs: which Alerts an event concerns, what
// each kind of Provider is sent, and a queue on disk that delivers it though a receiver is slow, broken or
// away, and though this process is killed.
//
// It knows no cluster: who embeds it hands it the Alerts, and resolves a Provider to an address and a login
// at the time of a delivery. No secret and no address is written to disk, and none is in an error.
package notify

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The severities of an Event.
const (
	SeverityTrace = "trace"
	SeverityInfo  = "info"
	SeverityError = "error"
)

// EventGroup is the API group of events: annotations of an object below it become metadata.
const EventGroup = "event.toolkit.fluxcd.io"

// The keys of metadata that have a meaning here.
const (
	metaRevision       = "revision"
	metaOriginRevision = "originRevision"
	metaCommit         = "commit"
	metaToken          = "token"
	metaCommitStatus   = "commit_status"
	metaSummary        = "summary"
	// commitStatusUpdate marks an event that is only sent to forges.
	commitStatusUpdate = "update"
)

// reasonProgressing is the reason of an event that says how far something is.
const reasonProgressing = "Progressing"

// Object is what an Event is about.
type Object struct {
	Kind            string `json:"kind,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	UID             string `json:"uid,omitempty"`
	APIVersion      string `json:"apiVersion,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	FieldPath       string `json:"fieldPath,omitempty"`
}

// Group is the API group of the object.
func (o Object) Group() string {
	group, _, there := strings.Cut(o.APIVersion, "/")
	if !there {
		return ""
	}
	return group
}

func (o Object) String() string { return o.Kind + "/" + o.Namespace + "/" + o.Name }

// title is how chats name the object.
func (o Object) title() string { return strings.ToLower(o.Kind) + "/" + o.Name + "." + o.Namespace }

// Event is something that happened to an object, in the form in which the controllers of Flux send it.
type Event struct {
	InvolvedObject      Object            `json:"involvedObject"`
	Severity            string            `json:"severity"`
	Timestamp           time.Time         `json:"timestamp"`
	Message             string            `json:"message"`
	Reason              string            `json:"reason"`
	Metadata            map[string]string `json:"metadata,omitempty"`
	ReportingController string            `json:"reportingController"`
	ReportingInstance   string            `json:"reportingInstance,omitempty"`
}

// maxMessage is the longest message that the wire form allows.
const maxMessage = 39000

// Check reports what an event lacks that came from elsewhere.
func (e *Event) Check() error {
	switch {
	case e.InvolvedObject.Kind == "" || e.InvolvedObject.Name == "" || e.InvolvedObject.Namespace == "":
		return fmt.Errorf("involvedObject: kind, namespace and name are needed")
	case !slices.Contains([]string{SeverityTrace, SeverityInfo, SeverityError}, e.Severity):
		return fmt.Errorf("severity: %q is not one of trace, info and error", e.Severity)
	case e.Message == "":
		return fmt.Errorf("message: empty")
	case len(e.Message) > maxMessage:
		return fmt.Errorf("message: longer than %d bytes", maxMessage)
	}
	return nil
}

// Bounded is a message as the wire form allows it.
func Bounded(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-3], "") + "..."
}

// own returns a value of the metadata that the controller of the object gave.
func (e *Event) own(key string) string { return e.Metadata[e.InvolvedObject.Group()+"/"+key] }

// Revision is the one that the event is about, once its metadata is that of an Alert.
func (e *Event) Revision() string {
	for _, key := range []string{metaCommit, metaOriginRevision, metaRevision} {
		if v := e.Metadata[key]; v != "" {
			return v
		}
	}
	return ""
}

// description is the reason in words.
func (e *Event) description() string {
	return strings.ToLower(strings.Join(words(e.Reason), " "))
}

// facts is the metadata in an order that does not change, the summary first.
func (e *Event) facts() []fact {
	keys := slices.Sorted(maps.Keys(e.Metadata))
	list := make([]fact, 0, len(keys))
	if summary, ok := e.Metadata[metaSummary]; ok {
		list = append(list, fact{metaSummary, summary})
	}
	for _, k := range keys {
		if k != metaSummary {
			list = append(list, fact{k, e.Metadata[k]})
		}
	}
	return list
}

type fact struct{ key, value string }

// fields is the event as expressions see it.
func (e *Event) fields() (map[string]any, error) {
	data, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encoding an event: %w", err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("decoding an event: %w", err)
	}
	return m, nil
}

// words takes a name in camel case apart.
func words(name string) []string {
	var list []string
	begin := 0
	runes := []rune(name)
	upper := func(i int) bool { return i < len(runes) && runes[i] >= 'A' && runes[i] <= 'Z' }
	for i := 1; i <= len(runes); i++ {
		// A word begins with a capital after a small letter, or with the last capital before a small one.
		if i == len(runes) || upper(i) && (!upper(i-1) || i+1 < len(runes) && !upper(i+1)) {
			list = append(list, string(runes[begin:i]))
			begin = i
		}
	}
	return list
}
