package engine

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is the health of one object.
type Verdict string

// The verdicts, by the names of the kstatus library, which is their source.
const (
	Current     Verdict = "Current"
	InProgress  Verdict = "InProgress"
	Failed      Verdict = "Failed"
	Terminating Verdict = "Terminating"
	NotFound    Verdict = "NotFound"
	Unknown     Verdict = "Unknown"
)

// ObjectHealth is the verdict over one object, and why.
type ObjectHealth struct {
	ID      ObjectID
	Verdict Verdict
	Message string
	// Status is the dialect's own word for it, where it has one.
	Status string
}

// String is "Kind/ns/name status: 'InProgress'", with the message where there is one.
func (h ObjectHealth) String() string {
	if h.Message == "" {
		return fmt.Sprintf("%s status: '%s'", h.ID, h.Verdict)
	}
	return fmt.Sprintf("%s status: '%s': %s", h.ID, h.Verdict, h.Message)
}

// UnitHealth rolls up the health of the objects that count for a unit.
type UnitHealth struct {
	// Verdict is Failed when one object failed, InProgress when one is not there yet, else Current.
	Verdict Verdict
	// Pending and Broken are the objects that are not Current, in a stable order.
	Pending, Broken []ObjectHealth
}

// RollUp returns the health of a unit from that of its objects.
func RollUp(objects []ObjectHealth) UnitHealth {
	h := UnitHealth{Verdict: Current}
	for _, o := range objects {
		switch o.Verdict {
		case Current:
		case Failed:
			h.Broken = append(h.Broken, o)
		case InProgress, Terminating, NotFound, Unknown:
			h.Pending = append(h.Pending, o)
		}
	}
	order := func(a, b ObjectHealth) int { return CompareOrder(a.ID, b.ID) }
	slices.SortFunc(h.Pending, order)
	slices.SortFunc(h.Broken, order)
	switch {
	case len(h.Broken) > 0:
		h.Verdict = Failed
	case len(h.Pending) > 0:
		h.Verdict = InProgress
	}
	return h
}

// Describe lists objects for a message, at most a handful of them by name.
func Describe(objects []ObjectHealth) string {
	const named = 8
	parts := make([]string, 0, named+1)
	for i, o := range objects {
		if i == named {
			parts = append(parts, fmt.Sprintf("and %d more", len(objects)-named))
			break
		}
		parts = append(parts, o.String())
	}
	return strings.Join(parts, ", ")
}
