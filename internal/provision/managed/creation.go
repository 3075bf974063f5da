package managed

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Creation is what is stored of creations.
type Creation struct {
	// Pending, Succeeded and Failed are the times of the upstream's annotations, in whole seconds.
	Pending, Succeeded, Failed time.Time
	// Last is the last one that was begun here.
	Last Intent
	// Open is set while Last has no result.
	Open bool
}

// CreationOf reads what an object says of creations.
func CreationOf(o *unstructured.Unstructured) Creation {
	a := o.GetAnnotations()
	c := Creation{Pending: stamp(a[annotationPending]), Succeeded: stamp(a[annotationSucceeded]), Failed: stamp(a[annotationFailed])}
	number, rest, _ := strings.Cut(a[annotationAttempt], " ")
	began, state, _ := strings.Cut(rest, " ")
	c.Last.Attempt, _ = strconv.Atoi(number)
	c.Last.Began, _ = time.Parse(time.RFC3339Nano, began)
	c.Open = state == stateOpen
	return c
}

// stamp reads a time of the upstream, zero when there is none.
func stamp(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// The states of a creation in its annotation.
const (
	stateOpen  = "open"
	stateEnded = "ended"
)

// attempt is the annotation that stores a creation.
func (i Intent) attempt(state string) string {
	return fmt.Sprintf("%d %s %s", i.Attempt, i.Began.UTC().Format(time.RFC3339Nano), state)
}

// Incomplete reports whether a creation was begun whose result is not stored. A person who removes the annotation of the upstream
// says that it is safe to proceed. What was begun by another controller has whole seconds alone.
func (c Creation) Incomplete() bool {
	if c.Pending.IsZero() {
		return false
	}
	if ours := !c.Last.Began.IsZero() && !c.Last.Began.Truncate(time.Second).Before(c.Pending); ours {
		return c.Open
	}
	return c.Pending.After(c.Succeeded) && c.Pending.After(c.Failed)
}

// Unresolved is the creation whose result is unknown.
func (c Creation) Unresolved() Intent {
	if c.Open {
		return c.Last
	}
	return Intent{Attempt: c.Last.Attempt, Began: c.Pending}
}

// begun are the annotations of a creation that is about to be requested.
func begun(i Intent) map[string]string {
	return map[string]string{
		annotationAttempt: i.attempt(stateOpen), annotationPending: i.Began.UTC().Format(time.RFC3339),
	}
}

// succeeded are those of one that created something; failed those of one that certainly created nothing.
func succeeded(i Intent, name string, now time.Time) map[string]string {
	a := map[string]string{annotationAttempt: i.attempt(stateEnded), annotationSucceeded: now.UTC().Format(time.RFC3339)}
	if name != "" {
		a[AnnotationExternalName] = name
	}
	return a
}

func failed(i Intent, now time.Time) map[string]string {
	return map[string]string{annotationAttempt: i.attempt(stateEnded), annotationFailed: now.UTC().Format(time.RFC3339)}
}
