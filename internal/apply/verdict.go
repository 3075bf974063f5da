package apply

import (
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// verdict is what is remembered of an ordered object: how it stood, and by which signs that still holds.
type verdict struct {
	// digest is that of the declaration, empty for an object of which nothing is known.
	digest string
	uid    string
	inSync bool
	// missing is set when there was no object.
	missing bool
	// made is the UID of the object that is, or was, as one of our writes made it; empty for none.
	made string
	// settled is set when a write would find nothing to do.
	settled bool
	// held is set when our manager owns every declared field: a manager that changes one of them takes it out of
	// owned or updated. Otherwise any other version of the object may stand otherwise.
	held           bool
	owned, updated string
	version        uint64
	// fields and refused are why it is not in sync.
	fields  []string
	refused error
}

// holds tells whether the object still stands as it did, given its record.
func (v verdict) holds(rec cluster.Record, exists bool) bool {
	if v.missing {
		return !exists
	}
	if !exists || string(rec.UID) != v.uid {
		return false
	}
	if v.inSync && v.held {
		return rec.Owned == v.owned && rec.Updated == v.updated
	}
	return rec.ResourceVersion == v.version
}

func (a *Applier) verdict(id engine.ObjectID) verdict {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.verdicts[id]
}

func (a *Applier) note(id engine.ObjectID, v verdict) {
	a.mu.Lock()
	a.verdicts[id] = v
	a.mu.Unlock()
}

// stands tells whether the memory is of this declaration, and still holds.
func (s *scribe) stands() bool {
	return !s.Fresh && s.known.digest == s.digest && s.known.holds(s.record, s.live.Exists)
}

// settled tells whether a write would find nothing to do.
func (s *scribe) settled() bool { return s.stands() && s.known.settled }

// madeBefore reports whether one of our writes has made the object as declared, before whatever happened.
func (s *scribe) madeBefore() bool { return s.known.digest == s.digest && s.known.made != "" }

// drift describes what a write reverted, given the object as it was before.
func (s *scribe) drift() *Drift {
	if !s.madeBefore() || s.stands() && s.known.inSync {
		return nil
	}
	switch {
	case s.before == nil && (s.asked || !s.live.Exists):
		return &Drift{ID: s.id}
	case s.before == nil:
		return nil
	case string(s.before.GetUID()) != s.known.made:
		return &Drift{ID: s.id}
	}
	desired := s.Object
	if left, err := s.left(s.before); err == nil {
		desired = keeping(desired, left)
	}
	fields := differing(desired.Object, s.before.Object, nil)
	if len(fields) == 0 && (!s.known.held || s.Ignored != nil) {
		return nil // some other version, which is as declared
	}
	return &Drift{ID: s.id, Manager: culprit(s.before, s.applier.names.Manager, fields), Fields: texts(fields)}
}
