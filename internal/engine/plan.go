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
	// Owned is a digest of the fields that our field manager applied and owns, Updated of those that it wrote otherwise.
	Owned, Updated string
	// Stray is set when another manager's fields have to be taken over.
	Stray bool
	// Marks are those that it has in the cluster, which a user may have set there.
	Marks Marks
	// Owner is the unit that its labels name, as namespace/name. Another one is no drift: the next pass names the right one again.
	Owner string
}

// Memory is what was recorded when an object was last applied, or compared with what is declared.
type Memory struct {
	// Digest is that of the declaration, with what says how it is written. It is empty when nothing is known.
	Digest string
	// UID, Owned, Updated and Version are those of the object then; Signs say which of them show that it is as it was.
	UID, Owned, Updated string
	Version             uint64
	Signs               Signs
	// Left is set when the object was not applied, since the live one is marked so. The digest is empty then.
	Left bool
	// Missing is set when there was no object.
	Missing bool
	// InSync is set when it was as declared, Settled when a write would find nothing to do.
	InSync, Settled bool
	// Made is the UID of the object that is, or was, as one of our writes made it; empty for none.
	Made string
	// Fields and Refused are why it was not in sync.
	Fields  []string
	Refused error
}

// Signs are those by which an object is known to be as it was.
type Signs int

// The signs.
const (
	// SignsBeside are those of an object that is applied beside other managers: our manager owns what it applied, and kubectl
	// has nothing.
	SignsBeside Signs = iota
	// SignsHeld are those of an object of which our manager holds every declared field: while it is in sync, who changes one of
	// them takes it from us.
	SignsHeld
	// SignsVersion is that of any other object: any other version may stand otherwise.
	SignsVersion
)

// Stands reports whether an object is as it was recorded. One that was left alone stands as long as it is to be.
func (m Memory) Stands(live Live) bool {
	switch {
	case m.Left:
		return live.Marks.HandsOff
	case m.Missing:
		return !live.Exists
	case !live.Exists:
		return false
	case m.Signs == SignsBeside:
		return live.Marks.HandsOff || live.UID == m.UID && live.Owned == m.Owned && (!live.Stray || live.Marks.Merge)
	case m.Signs == SignsHeld && m.InSync:
		return live.UID == m.UID && live.Owned == m.Owned && live.Updated == m.Updated
	default:
		return live.UID == m.UID && live.Version == m.Version
	}
}

// Drifted reports whether what is known of an object is no longer what was recorded. What was never applied has not drifted.
func (m Memory) Drifted(live Live) bool { return (m.Left || m.Digest != "") && !m.Stands(live) }

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
