package apply

import (
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/managedfields"
)

// memoryOf is what is remembered of an object as a record has it. Held is set when our manager holds every declared field.
func memoryOf(rec cluster.Record, held bool) engine.Memory {
	m := engine.Memory{UID: string(rec.UID), Owned: rec.Owned, Updated: rec.Updated, Version: rec.ResourceVersion, Signs: engine.SignsVersion}
	if held {
		m.Signs = engine.SignsHeld
	}
	return m
}

// stands reports whether the memory is of this declaration, and still holds.
func (s *scribe) stands() bool {
	return !s.Fresh && s.known.Digest == s.digest && s.known.Stands(s.live)
}

// settled reports whether a write would find nothing to do.
func (s *scribe) settled() bool { return s.stands() && s.known.Settled }

// madeBefore reports whether one of our writes has made the object as declared, before whatever happened.
func (s *scribe) madeBefore() bool { return s.known.Digest == s.digest && s.known.Made != "" }

// drift describes what a write reverted, given the object as it was before.
func (s *scribe) drift() *Drift {
	if !s.madeBefore() || s.stands() && s.known.InSync {
		return nil
	}
	switch {
	case s.before == nil && (s.asked || !s.live.Exists):
		return &Drift{ID: s.id}
	case s.before == nil:
		return nil
	case string(s.before.GetUID()) != s.known.Made:
		return &Drift{ID: s.id}
	}
	desired := s.Object
	if left, err := s.left(s.before); err == nil {
		desired = keeping(desired, left)
	}
	fields := differing(desired.Object, s.before.Object, nil)
	if len(fields) == 0 && (s.known.Signs != engine.SignsHeld || s.Ignored != nil) {
		return nil // some other version, which is as declared
	}
	return &Drift{ID: s.id, Manager: managedfields.Culprit(s.before, s.applier.names.Manager, fields), Fields: texts(fields)}
}
