package engine

// Action is what a plan does with an object, or what was done.
type Action string

// The actions.
const (
	Create    Action = "created"
	Configure Action = "configured"
	Unchanged Action = "unchanged"
	Skip      Action = "skipped"
	Delete    Action = "deleted"
)

// Live is what is known of an object in the cluster.
type Live struct {
	Exists bool
	UID    string
	// Version is the resourceVersion of the object.
	Version uint64
	// Owned is a digest of the fields that our field manager owns.
	Owned string
	// Stray is set when another manager's fields have to be taken over.
	Stray bool
	// Marks are those that it has in the cluster, which a user may have set there.
	Marks Marks
}

// Memory is what was recorded when an object was last applied.
type Memory struct {
	// Digest is that of the object as it was declared.
	Digest string
	UID    string
	Owned  string
	// Left is set when the object was not applied, since the live one is marked so. The digest is empty then.
	Left bool
}

// Drifted tells whether what is known of an object is no longer what was recorded: it went, its fields were
// changed, or it was left alone and is not to be any more. What was never applied has not drifted.
func (m Memory) Drifted(live Live) bool {
	switch {
	case m.Left:
		return !live.Marks.HandsOff
	case m.Digest == "":
		return false
	case !live.Exists:
		return true
	default:
		return !live.Marks.HandsOff && (live.UID != m.UID || live.Owned != m.Owned || live.Stray && !live.Marks.Merge)
	}
}

// Change is what a plan does with one object, and why.
type Change struct {
	Action Action
	Why    string
}

// Plan says what has to be done so that the cluster holds an object as it is declared, with its marks. An object
// is unchanged when it is declared as it was at the last apply and still owns what it owned then. Whether an
// object is to be left alone is said by what is declared or by the live object, whether it is applied once only
// by what is declared.
func Plan(digest string, declared Marks, live Live, memory Memory) Change {
	switch {
	case declared.HandsOff:
		return Change{Skip, "excluded by an annotation of its declaration"}
	case !live.Exists:
		return Change{Create, "it does not exist"}
	case live.Marks.HandsOff:
		return Change{Skip, "excluded by an annotation in the cluster"}
	case declared.Once:
		return Change{Skip, "it exists and its ssa annotation says IfNotPresent"}
	case memory.Digest == "":
		return Change{Configure, "not applied since the start"}
	case memory.Digest != digest:
		return Change{Configure, "its declaration changed"}
	case memory.UID != live.UID:
		return Change{Configure, "it was recreated by another manager"}
	case memory.Owned != live.Owned:
		return Change{Configure, "another manager changed its fields"}
	case live.Stray && !declared.Merge && !live.Marks.Merge:
		return Change{Configure, "kubectl added fields to it"}
	default:
		return Change{Unchanged, ""}
	}
}
