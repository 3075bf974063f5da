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

// Mode says how an object may be applied, by the values that Flux gives its annotation.
type Mode string

// The modes.
const (
	ModeOverride     Mode = "Override"
	ModeMerge        Mode = "Merge"
	ModeIfNotPresent Mode = "IfNotPresent"
	ModeIgnore       Mode = "Ignore"
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
}

// Memory is what was recorded when an object was last applied.
type Memory struct {
	// Digest is that of the object as it was declared.
	Digest string
	UID    string
	Owned  string
}

// Change is what a plan does with one object, and why.
type Change struct {
	Action Action
	Why    string
}

// Plan says what has to be done so that the cluster holds an object as it is declared. An object
// is unchanged when it is declared as it was at the last apply and still owns what it owned then.
func Plan(digest string, mode Mode, live Live, memory Memory) Change {
	switch {
	case mode == ModeIgnore:
		return Change{Skip, "its ssa annotation says Ignore"}
	case !live.Exists:
		return Change{Create, "it does not exist"}
	case mode == ModeIfNotPresent:
		return Change{Skip, "it exists and its ssa annotation says IfNotPresent"}
	case memory.Digest == "":
		return Change{Configure, "it has not been applied since the start"}
	case memory.Digest != digest:
		return Change{Configure, "its declaration changed"}
	case memory.UID != live.UID:
		return Change{Configure, "it was recreated by someone else"}
	case memory.Owned != live.Owned:
		return Change{Configure, "someone else changed its fields"}
	case live.Stray && mode != ModeMerge:
		return Change{Configure, "kubectl added fields to it"}
	default:
		return Change{Unchanged, ""}
	}
}
