package engine

import (
	"fmt"
	"strings"
)

// Reader is a unit as the prune barrier sees it.
type Reader struct {
	ID UnitID
	// Cluster is where it works; in the engine's own, which has no name, it may declare units that work anywhere.
	Cluster string
	// Tenant is on whose behalf it works.
	Tenant Tenant
	// Reads are the repositories that its source reads.
	Reads []Reading
	// Idle is set for a unit that comes to claim nothing: it is suspended, being deleted, or refused as declared.
	// Condemned is set for one that is about to be deleted, and Absent for one whose path is not in the revision.
	Idle, Condemned, Absent bool
	// Current is set once it has been rendered as declared, from Revision, which its source has now. A unit that
	// is Sourceless is rendered from its declaration alone.
	Current, Sourceless bool
	Revision            string
	// Moving is set while something is in progress for it; Message is what it says of itself otherwise.
	Moving  bool
	Message string
	// Broken is why it cannot be rendered.
	Broken string
	// Expects is why something is unknown yet of what it declares, or of what becomes of that.
	Expects string
	// Stands is set when what is unknown of it does not become known without a change: it holds what it is known to have to do
	// with alone. Had are the objects that it has or had, and Mentions is what its files name.
	Stands   bool
	Had      map[ObjectID]bool
	Mentions Mentions
	// Whole is set for a unit that waits with everything that it does, and not with its deletions alone: it waits for what
	// comes on its own only, and not for units that are broken.
	Whole bool
	// Follows is set when it cannot come further before the unit that deletes has come to its end.
	Follows bool
}

// Unread says why it is unknown what a unit declares at the revision that its source has.
func (x Reader) Unread() string {
	switch {
	case x.Idle:
		return ""
	case !x.Current && x.Sourceless:
		return fmt.Sprintf("%s has not been rendered yet as declared", x.ID)
	case !x.Current && x.Moving:
		return fmt.Sprintf("%s has not read revision %q yet", x.ID, x.Revision)
	case !x.Current:
		return fmt.Sprintf("%s has not read revision %q yet", x.ID, x.Revision) + because(x.Message)
	case x.Broken != "" && !x.Absent:
		return fmt.Sprintf("%s cannot be rendered at this revision and may claim what would be deleted", x.ID) + because(x.Broken)
	default:
		return ""
	}
}

// Unsettled says why it is unknown yet what a unit claims of the revision that its source has; it is empty when that
// is known, or when the unit claims nothing more.
func (x Reader) Unsettled() string {
	switch why := x.Unread(); {
	case x.Condemned:
		return ""
	case why == "" && !x.Idle && !x.Absent:
		return x.Expects
	default:
		return why
	}
}

// Awaits says why a unit has to wait with its deletions for another one; it is empty when it need not. The other one
// reads a repository that this one reads, and may be about to claim what would be deleted.
func (x Reader) Awaits(other Reader) string {
	why, _ := x.awaits(other)
	return why
}

// Late reports whether the source of another unit has to be fetched before it is known what that one claims.
func (x Reader) Late(other Reader) bool {
	_, late := x.awaits(other)
	return late != nil
}

// LosesTo reports whether the source of another unit cannot be fetched, which may claim something of the revision.
func (x Reader) LosesTo(other Reader) bool {
	_, late := x.awaits(other)
	return late != nil && late.Failure != ""
}

// awaits is Awaits, and returns what the source of the other one has when it has to be fetched.
func (x Reader) awaits(other Reader) (why string, late *Reading) {
	if other.ID == x.ID || other.Cluster != "" && other.Cluster != x.Cluster {
		return "", nil
	}
	shared := false
	for _, mine := range x.Reads {
		for i, theirs := range other.Reads {
			if !theirs.follows(mine) {
				continue
			}
			if !other.Idle && !other.Condemned && theirs.lags(mine) && theirs.expected() && (!x.Whole || theirs.Failure == "") {
				return fmt.Sprintf("%s has not read revision %q yet", other.ID, mine.Revision) + because(theirs.Failure), &other.Reads[i]
			}
			shared = true
		}
	}
	if !shared || other.Follows && other.Unread() == "" || x.Whole && (other.Broken != "" || other.Stands) {
		return "", nil
	}
	return other.Unsettled(), nil
}

// expected reports whether anything is to come of a source: one that never had anything and cannot be fetched could be
// made by anybody to hold others for ever.
func (x Reading) expected() bool { return x.Revision != "" || x.Failure == "" }

// becauseLength bounds how much of the cause of another unit a message quotes.
const becauseLength = 200

// because adds a cause to a message, in one line.
func because(cause string) string {
	cause = strings.Join(strings.Fields(cause), " ")
	if runes := []rune(cause); len(runes) > becauseLength {
		cause = string(runes[:becauseLength]) + "…"
	}
	if cause == "" {
		return ""
	}
	return ": " + cause
}
