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
	// Evaluating is set while this version of the object is being evaluated, outside the loop. The message is then what an earlier
	// version was on its way for, or none.
	Evaluating bool
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
	// Pending and Broken are the objects that are not Current, in a stable order. Objects of which nothing is known yet, since they
	// are being evaluated, are pending where no others are.
	Pending, Broken []ObjectHealth
	// Evaluating is set where all that is not Current is being evaluated: what it is will be known in a moment.
	Evaluating bool
}

// RollUp returns the health of a unit from that of its objects.
func RollUp(objects []ObjectHealth) UnitHealth {
	h := UnitHealth{Verdict: Current}
	var unknown []ObjectHealth
	evaluating := 0
	for _, o := range objects {
		switch o.Verdict {
		case Current:
		case Failed:
			h.Broken = append(h.Broken, o)
		case InProgress, Terminating, NotFound, Unknown:
			if o.Evaluating {
				evaluating++
			}
			if o.Evaluating && o.Message == "" {
				unknown = append(unknown, o)
			} else {
				h.Pending = append(h.Pending, o)
			}
		}
	}
	h.Evaluating = evaluating > 0 && evaluating == len(unknown)+len(h.Pending) && len(h.Broken) == 0
	if len(h.Pending) == 0 {
		h.Pending = unknown
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
