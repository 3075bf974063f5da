package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// DeletionHold is the annotation of a unit that bounds how long its deletions wait for other units.
const DeletionHold = "headgate.dev/deletion-hold"

// HoldFor is how long deletions wait at most for other units where nothing else is said.
const HoldFor = 24 * time.Hour

// HoldBound reads how long the deletions of a unit wait at most: by its annotation, and otherwise as the engine is set.
func HoldBound(annotation string, otherwise time.Duration) (time.Duration, error) {
	if annotation == "" {
		return otherwise, nil
	}
	bound, err := time.ParseDuration(annotation)
	if err != nil || bound < 0 {
		return otherwise, fmt.Errorf("annotation %s: %q is not a duration, such as 1h, or 0s to delete at once", DeletionHold, annotation)
	}
	return bound, nil
}

// neighbourly is how long deletions wait at most for a unit that may be another tenant's.
const neighbourly = time.Minute

// Doomed are objects that a unit would delete.
type Doomed struct {
	Objects []ObjectID
	// Along are those that are deleted with one of them, which declares a unit.
	Along map[ObjectID][]ObjectID
	// Occupants are the other units with objects in one of them, which is a Namespace or a definition.
	Occupants map[ObjectID][]Occupant
	// Since is when objects were held first, and Now is the time.
	Since map[ObjectID]time.Time
	Now   time.Time
	// Bound is how long each of them is held at most.
	Bound time.Duration
	// Files is what the files of the revision mention that the unit has read, nil while that is unknown.
	Files *Mentions
}

// Hold is what deletions wait for.
type Hold struct {
	Waits []Wait
	// Objects are those that are held; Since is when each began to be, those included whose time is over.
	Objects map[ObjectID]bool
	Since   map[ObjectID]time.Time
	// Until is when the first of them is held no longer, and Ends how a person ends that before.
	Until time.Time
	Ends  string
	// Late are the units whose sources may be behind: these are to be fetched now. Failing reports that all of them could
	// not be fetched last.
	Late    []UnitID
	Failing bool
	// Occupied is set when everything that is held is so for the objects of others in it alone.
	Occupied bool
	// Stuck is set when nothing is in progress for any of the units.
	Stuck bool
}

// String says for whom deletions wait, and how that ends, in one line.
func (h Hold) String() string { return describeHolders(h.Waits) + h.Ends }

// Barrier says which objects a unit has to wait with before it deletes what it no longer declares, and for which other units:
// whatever moves between units in one revision is claimed by the unit that declares it now before another one deletes it.
//
// It waits for every unit that reads a repository which the unit itself reads: until the other one has read the same
// revision, or a later one, and has been rendered from that. A unit that itself waits for the one that deletes, that is
// about to be deleted, or that has nothing in this revision, is not waited for. One of which nothing comes without a change, such as
// one that cannot be rendered, holds only what it has to do with; one of another tenant holds nothing.
func Barrier(u Reader, others []Reader, doomed Doomed) Hold {
	h := Hold{Stuck: true, Failing: true, Objects: map[ObjectID]bool{}, Since: map[ObjectID]time.Time{}}
	if u.Expects != "" && !u.Idle {
		h.enter(Wait{On: u.ID, Reason: u.Expects}, doomed, doomed.Bound, doomed.Objects)
	}
	for _, x := range others {
		why, late := u.awaits(x)
		if why == "" {
			continue
		}
		held := u.mayLose(x, late, doomed)
		if !h.enter(Wait{On: x.ID, Reason: why + held.evidence()}, doomed, held.bound, held.objects) {
			continue
		}
		h.Stuck = h.Stuck && !x.Moving && (late == nil || late.Failure != "")
		if late != nil {
			h.Late = append(h.Late, x.ID)
			h.Failing = h.Failing && late.Failure != ""
		}
	}
	alone := len(h.Waits) == 0
	h.occupy(doomed)
	h.Occupied = alone && len(h.Waits) > 0
	h.Stuck, h.Failing = h.Stuck && len(h.Waits) > 0, h.Failing && len(h.Late) > 0
	slices.SortFunc(h.Waits, func(a, b Wait) int { return strings.Compare(a.Reason, b.Reason) })
	if len(h.Waits) > 0 {
		h.Ends = fmt.Sprintf("; to delete at once, annotate %s with %s: \"0s\"; otherwise they wait until %s at most",
			u.ID, DeletionHold, h.Until.UTC().Format(time.RFC3339))
	}
	return h
}

// enter has objects wait, unless they have for long enough; it is false when none does.
func (h *Hold) enter(w Wait, doomed Doomed, bound time.Duration, objects []ObjectID) bool {
	held := false
	for _, id := range objects {
		since, waited := doomed.Since[id]
		if !waited {
			since = doomed.Now
		}
		h.Since[id] = since
		end := since.Add(bound)
		if !end.After(doomed.Now) {
			continue
		}
		held, h.Objects[id] = true, true
		h.Until = earliest(h.Until, end)
	}
	if held {
		h.Waits = append(h.Waits, w)
	}
	return held
}

// held are objects that a unit has to wait with for another one, why for each, and how long.
type held struct {
	objects []ObjectID
	why     map[ObjectID]string
	bound   time.Duration
}

// mayLose are the objects that a unit has to wait with for another one, whose source is late or not.
func (x Reader) mayLose(other Reader, late *Reading, doomed Doomed) held {
	failing := late != nil && late.Failure != ""
	stands := failing || late == nil && other.Stands
	switch near := x.Tenant.near(other.Tenant); {
	case near == foreign, near == neighbour && stands:
		return held{}
	case near == neighbour:
		return held{objects: doomed.Objects, bound: min(doomed.Bound, neighbourly)}
	case !stands, failing && doomed.Files == nil:
		return held{objects: doomed.Objects, bound: doomed.Bound}
	}
	out := held{bound: doomed.Bound, why: map[ObjectID]string{}}
	for _, id := range doomed.Objects {
		for _, lost := range append([]ObjectID{id}, doomed.Along[id]...) {
			why := other.may(lost)
			if failing && why == Unmentioned && doomed.Files.Of(lost) != Unmentioned {
				why = ByRevision
			}
			if why != Unmentioned {
				out.objects, out.why[id] = append(out.objects, id), fmt.Sprintf("%s, %s", lost, why)
				break
			}
		}
	}
	return out
}

// may returns why a unit of which nothing more is known may claim an object.
func (x Reader) may(id ObjectID) Mention {
	if x.Had[id] {
		return ByRecord
	}
	return x.Mentions.Of(id)
}

// evidence names the first object for which there is a reason of its own, and that reason.
func (h held) evidence() string {
	if len(h.why) == 0 {
		return ""
	}
	text := " (" + h.why[slices.MinFunc(h.objects, ObjectID.Compare)]
	if more := len(h.objects) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text + ")"
}

// Tenant is on whose behalf a unit works.
type Tenant struct {
	// Account is the one that it acts as, empty for the engine's own; Project is that of an Application.
	Account, Project string
	// Namespace is that of the unit, and Refers are those of its source and of the units that declare it, one above the other.
	Namespace string
	Refers    []string
	// Confined is set where references to other namespaces are refused: each of these is a tenant of its own.
	Confined bool
}

// nearness is how much a unit has to expect of another one.
type nearness int

const (
	// foreign is another tenant's: it holds nothing.
	foreign nearness = iota
	// neighbour may be another tenant's: it holds for as long as it takes to read a revision.
	neighbour
	// kin is of the same tenant.
	kin
)

// near is how near two units are.
func (t Tenant) near(other Tenant) nearness {
	account := t.Account == other.Account && (t.Project == other.Project || t.Project == "" || other.Project == "")
	namespace := t.Namespace == other.Namespace
	refers := slices.Contains(t.Refers, other.Namespace) || slices.Contains(other.Refers, t.Namespace)
	switch {
	case account && (namespace || refers && !t.Confined):
		return kin
	case namespace, account && !t.Confined:
		return neighbour
	default:
		return foreign
	}
}
