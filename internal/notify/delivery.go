package notify

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Delivery is an event on its way to a Provider. It is what the queue writes down: neither the address of
// the receiver nor a login is part of it.
type Delivery struct {
	Provider Ref `json:"provider"`
	Alert    Ref `json:"alert"`
	// Kind is the type of the Provider, for the counters.
	Kind  string `json:"kind"`
	Event Event  `json:"event"`
}

// sequence keeps deliveries in order that have a receiver and an object in common.
type sequence struct {
	alert  Ref
	object string
}

// item is a delivery in the queue.
type item struct {
	Delivery
	name     string
	size     int
	created  time.Time
	attempts int
	// due is when the next attempt may be made; flying is set during one. woken is set when the success of another delivery has brought it forward.
	due    time.Time
	flying bool
	woken  bool
}

func (i *item) sequence() sequence { return sequence{i.Alert, i.Event.InvolvedObject.String()} }

func (i *item) informs() bool { return i.Event.Severity != SeverityError }

// fileName says when an item was made, and sorts by that.
func fileName(created time.Time, number int) string {
	return fmt.Sprintf("%020d-%06d%s", created.UnixNano(), number, fileEnd)
}

// parseItem reads a file of the queue.
func parseItem(name string, data []byte) (*item, error) {
	i := &item{name: name, size: len(data)}
	nanos, _, _ := strings.Cut(strings.TrimSuffix(name, fileEnd), "-")
	n, err := strconv.ParseInt(nanos, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("reading the name of %q: %w", name, err)
	}
	i.created = time.Unix(0, n)
	if err := json.Unmarshal(data, &i.Delivery); err != nil {
		return nil, fmt.Errorf("decoding %q: %w", name, err)
	}
	if i.Provider.Name == "" || i.Event.InvolvedObject.Kind == "" {
		return nil, fmt.Errorf("decoding %q: not a delivery", name)
	}
	return i, nil
}
