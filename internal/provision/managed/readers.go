package managed

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// readers are the resources that follow objects, and which version of each object they know. What comes during a pass is judged when
// it ends: it may be older than what the pass reads, or what it has written itself.
type readers struct {
	mu sync.Mutex
	// of are the readers of an object, by those of a reader.
	of map[place]map[Key]*reading
	by map[Key]map[place]*reading
	// passing are the readers with a pass in progress.
	passing map[Key]bool
}

// place is an object of a cluster as an account sees it; that of a whole kind has AnyName.
type place struct {
	by *Edges
	engine.ObjectID
}

// reading is what a reader knows of an object.
type reading struct {
	// version is the one that was read; empty when there is not an object.
	version string
	// heard is the latest version that came during the pass in progress, or with which the object went.
	heard string
	gone  bool
	// read is set once the pass in progress has requested the object.
	read bool
}

func newReaders() *readers {
	return &readers{of: map[place]map[Key]*reading{}, by: map[Key]map[place]*reading{}, passing: map[Key]bool{}}
}

// begin starts a pass of a reader.
func (r *readers) begin(reader Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passing[reader] = true
	for _, one := range r.by[reader] {
		one.read, one.heard, one.gone = false, "", false
	}
}

// end ends a pass. One that is whole has read all that it depends on: what it has not read is not followed any more. It reports whether
// something was heard that the pass does not know.
func (r *readers) end(reader Key, whole bool) (outdated bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.passing, reader)
	for at, one := range r.by[reader] {
		if whole && !one.read {
			r.leave(reader, at)
			continue
		}
		outdated = outdated || one.heard != "" && one.news(one.heard, one.gone)
	}
	return outdated
}

// forget follows nothing any more for a reader.
func (r *readers) forget(reader Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.passing, reader)
	for at := range r.by[reader] {
		r.leave(reader, at)
	}
	delete(r.by, reader)
}

// enter has a reader follow an object. A pass whose resource is gone follows nothing.
func (r *readers) enter(reader Key, at place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.passing[reader] {
		return
	}
	one := r.of[at][reader]
	if one == nil {
		one = &reading{}
		if r.of[at] == nil {
			r.of[at] = map[Key]*reading{}
		}
		if r.by[reader] == nil {
			r.by[reader] = map[place]*reading{}
		}
		r.of[at][reader], r.by[reader][at] = one, one
	}
	one.read = true
}

// leave is the opposite. The caller holds the lock.
func (r *readers) leave(reader Key, at place) {
	delete(r.by[reader], at)
	delete(r.of[at], reader)
	if len(r.of[at]) == 0 {
		delete(r.of, at)
	}
}

// knows notes which version of an object a reader has read; none when there is not an object.
func (r *readers) knows(reader Key, at place, version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.of[at][reader]; one != nil {
		one.version = version
	}
}

// wrote notes what a reader made of a version of an object. One that does not know that version does not know the other either.
func (r *readers) wrote(reader Key, at place, before, after string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.of[at][reader]; one != nil && one.version == before {
		one.version = after
	}
}

// changed takes that an object came, changed or went, and returns the readers to which that is news and who have no pass in progress.
func (r *readers) changed(at place, version string, gone bool) []Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	here, anywhere := at, at
	here.Name, anywhere.Name, anywhere.Namespace = AnyName, AnyName, ""
	var awake []Key
	for _, one := range slices.Compact([]place{at, here, anywhere}) {
		for reader, known := range r.of[one] {
			switch {
			case r.passing[reader]:
				known.hear(version, gone)
			case known.news(version, gone):
				awake = append(awake, reader)
			}
		}
	}
	return awake
}

// at are the readers of an object.
func (r *readers) at(one place) []Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.of[one]))
}

// ofKind are the readers of objects of a kind, or of the kind as such.
func (r *readers) ofKind(by *Edges, gk schema.GroupKind) []Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Key
	for at, readers := range r.of {
		if at.by == by && at.GroupKind() == gk {
			all = slices.AppendSeq(all, maps.Keys(readers))
		}
	}
	return all
}

// hear remembers the latest version.
func (k *reading) hear(version string, gone bool) {
	if k.heard == "" || later(version, k.heard) {
		k.heard, k.gone = version, gone
	}
}

// news reports whether a version says something that the reader does not know.
func (k *reading) news(version string, gone bool) bool {
	if k.version == "" {
		return !gone
	}
	return later(version, k.version)
}

// later reports whether a resource version comes after another one. Of versions that are no numbers, any other one does.
func later(a, b string) bool {
	if !digits(a) || !digits(b) {
		return a != b
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) > 0
}

func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
