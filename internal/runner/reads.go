package runner

import (
	"time"

	"github.com/headgate-dev/headgate/internal/engine"
)

// reads are the repositories that the source of a unit reads. Whatever it is, what it has is a line of its own as well.
func (r *Runner) reads(u *unit) []engine.Reading {
	id := r.kin(u)
	if id == (engine.SourceID{}) {
		return nil
	}
	fact, _ := r.sources.Source(id)
	own := engine.Reading{Repository: engine.Repository{Address: addressOf(id)}, Revision: fact.Revision}
	return append([]engine.Reading{own}, r.sources.Readings(id)...)
}

// addressOf stands for a source among the addresses of repositories.
func addressOf(id engine.SourceID) string { return "source " + id.Group + "/" + id.String() }

// readsForDeletion are the repositories whose readers may claim what a unit releases. Those that a driver
// deletes follow from its declaration as much as from its source.
func (r *Runner) readsForDeletion(u *unit) []engine.Reading {
	reads := r.reads(u)
	if parent := r.parentOf(u); !u.traits.Prunes && parent != nil && parent != u {
		reads = append(reads, r.reads(parent)...)
	}
	return reads
}

// readersOf are the units that read one of several repositories.
func (r *Runner) readersOf(reads []engine.Reading) []*unit {
	if r.readers == nil {
		r.readers = index[string]{}
		for source, ids := range r.bySource {
			r.enterReaders(source, ids)
		}
	}
	var found []*unit
	seen := map[engine.UnitID]bool{}
	for _, one := range reads {
		for id := range r.readers[one.Address] {
			if u := r.units[id]; u != nil && !seen[id] {
				seen[id] = true
				found = append(found, u)
			}
		}
	}
	return found
}

// declaredUnder are the units that prune on their own, of those that the readers of what another one reads declare, and whose
// source is elsewhere: what their declaration says comes with the same commit, such as the values of a release.
func (r *Runner) declaredUnder(readers []*unit) []*unit {
	seen := map[engine.UnitID]bool{}
	for _, u := range readers {
		seen[u.ID] = true
	}
	var found []*unit
	for under := readers; len(under) > 0; {
		var sets []*unit
		for _, u := range under {
			for _, id := range u.declaredUnits() {
				c := r.units[id]
				if c == nil || seen[id] {
					continue
				}
				seen[id] = true
				switch {
				case !c.traits.Prunes:
					found = append(found, c)
				case c.sourceless():
					sets = append(sets, c)
				}
			}
		}
		under = sets
	}
	return found
}

// declaredUnits are the units that a unit declares.
func (u *unit) declaredUnits() []engine.UnitID {
	if u.rendering == nil {
		return nil
	}
	return u.rendering.children
}

func (r *Runner) enterReaders(source engine.SourceID, ids map[engine.UnitID]bool) {
	addresses := []string{addressOf(source)}
	for _, one := range r.sources.Readings(source) {
		addresses = append(addresses, one.Address)
	}
	for id := range ids {
		for _, address := range addresses {
			r.readers.add(address, id)
		}
	}
}

// fetchFor has the source of a unit fetched that may be behind what another one has read: once for each revision, since a
// fetch that fails is tried again on its own.
func (r *Runner) fetchFor(reader engine.Reader, late *unit) {
	known := time.Time{}
	for _, one := range reader.Reads {
		if one.Known.After(known) {
			known = one.Known
		}
	}
	if late.fetched.After(known) {
		return
	}
	late.fetched = time.Now()
	r.sources.Fetch(r.kin(late))
}
