package dialect

import (
	"slices"
	"sync"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Grant reports whether the unit that declares an object may have Secrets of a namespace of its cluster be read for that object.
type Grant func(object engine.ObjectID, namespace string) bool

// Grants are what the units of all dialects permit the objects that they declare. They are safe for concurrent use; without any, nothing
// is permitted.
type Grants struct {
	mu      sync.RWMutex
	all     []Grant
	changed []func()
}

// Add has a dialect decide about what its units declare.
func (g *Grants) Add(grant Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = append(g.all, grant)
}

// Permit reports whether any unit permits that Secrets of a namespace are read for an object that it declares.
func (g *Grants) Permit(object engine.ObjectID, namespace string) bool {
	g.mu.RLock()
	all := slices.Clone(g.all)
	g.mu.RUnlock()
	return slices.ContainsFunc(all, func(grant Grant) bool { return grant(object, namespace) })
}

// OnChange has a function be called when something else may be permitted. It must not block.
func (g *Grants) OnChange(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changed = append(g.changed, do)
}

// Changed reports whether something else may be permitted.
func (g *Grants) Changed() {
	g.mu.RLock()
	all := slices.Clone(g.changed)
	g.mu.RUnlock()
	for _, do := range all {
		do()
	}
}
