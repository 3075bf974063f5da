package engine

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Subject is what a wait is for: an ObjectID, a UnitID or a SourceID.
type Subject interface {
	fmt.Stringer
	GroupKind() schema.GroupKind
}

// UnitIn is the unit that a subject may be: the unit itself, or the one that an object of the engine's own cluster would declare.
func UnitIn(s Subject) (UnitID, bool) {
	switch on := s.(type) {
	case UnitID:
		return on, true
	case ObjectID:
		return UnitOf(on), on.Cluster == ""
	default:
		return UnitID{}, false
	}
}

// Wait is one thing that a unit waits for.
type Wait struct {
	On Subject
	// Reason says what is missing, for people: nothing is decided by it.
	Reason string
	// Stage names the step of a sequence that the wait is part of, such as a wave; it is empty where there is only one.
	Stage string
	// Since is when the wait began; Until when it is given up, if ever.
	Since, Until time.Time
}

// String is the wait in one line, without times.
func (w Wait) String() string { return w.On.String() + ": " + w.Reason }

// nameIn is the name of a subject without its kind.
func nameIn(s Subject) string { return strings.TrimPrefix(s.String(), s.GroupKind().Kind+"/") }

// lastName is the name of a subject without its kind and its namespace.
func lastName(s Subject) string {
	name := s.String()
	return name[strings.LastIndex(name, "/")+1:]
}
