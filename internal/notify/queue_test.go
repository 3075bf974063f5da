package notify

import (
	"testing"
	"time"
)

// TestSuccessWakes has a delivery that succeeds bring forward what waits for the same receiver, and each once: what fails again waits for its time.
func TestSuccessWakes(t *testing.T) {
	q := &queue{limits: Limits{Retry: time.Hour, MaxRetry: 24 * time.Hour}, lines: map[Ref]*line{}}
	made := func(name string) *item {
		it := &item{name: name}
		it.Event.InvolvedObject.Name = name
		return it
	}
	waiting, poison := made("waiting"), made("poison")
	l := &line{items: []*item{waiting, poison}}
	for _, it := range l.items {
		q.failed(l, it, 0)
	}
	turn := func() string {
		it, _, _ := q.next(l, time.Now())
		if it == nil {
			return ""
		}
		return it.name
	}
	if got := turn(); got != "" {
		t.Fatalf("%q is tried at once after a failure", got)
	}
	q.succeeded(l)
	if got := turn(); got != "waiting" {
		t.Fatalf("after a success it is the turn of %q", got)
	}
	l.items = l.items[1:]
	q.succeeded(l)
	if got := turn(); got != "poison" {
		t.Fatalf("then it is the turn of %q", got)
	}
	q.failed(l, poison, 0)
	q.succeeded(l)
	if got := turn(); got != "" {
		t.Errorf("%q is tried with each success, although it failed when it was brought forward", got)
	}
	// At its own time it is tried again, and the next outage brings it forward again.
	poison.due = time.Now().Add(-time.Second)
	if got := turn(); got != "poison" {
		t.Fatalf("at its time it is the turn of %q", got)
	}
	q.failed(l, poison, 0)
	q.succeeded(l)
	if got := turn(); got != "poison" {
		t.Errorf("after another outage it is the turn of %q", got)
	}
}
