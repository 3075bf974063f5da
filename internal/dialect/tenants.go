package dialect

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// Tenancy is how the namespaces of a cluster are locked down. The zero value trusts every account that can declare something.
type Tenancy struct {
	// Account is the ServiceAccount that acts for objects that name none, in their namespace; empty for the engine itself.
	Account string
	// Isolated is set when objects may not refer to other namespaces.
	Isolated bool
}

// Locked reports whether there are tenants: what an object has done is done as an account of its namespace then.
func (t Tenancy) Locked() bool { return t != (Tenancy{}) }

// Tenanted is a Dialect that has objects act as accounts, and learns how a person has locked them down.
type Tenanted interface{ LockTenants(tenancy Tenancy) }

// Tenants are how the namespaces of a cluster are locked down, by all that request it: a person, and objects of the operator. They are
// safe for concurrent use; without any, nothing is locked down.
type Tenants struct {
	mu      sync.RWMutex
	asked   map[string]Tenancy
	changed []func()
}

// Ask enters a request, which replaces the previous one by that name.
func (t *Tenants) Ask(by string, tenancy Tenancy) {
	t.mu.Lock()
	before := t.now()
	if t.asked == nil {
		t.asked = map[string]Tenancy{}
	}
	t.asked[by] = tenancy
	changed := slices.Clone(t.changed)
	if t.now() == before {
		changed = nil
	}
	t.mu.Unlock()
	for _, do := range changed {
		do()
	}
}

// Now is what holds: all that is requested together.
func (t *Tenants) Now() Tenancy {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.now()
}

func (t *Tenants) now() Tenancy {
	var all Tenancy
	for _, by := range slices.Sorted(maps.Keys(t.asked)) {
		one := t.asked[by]
		all.Account, all.Isolated = cmp.Or(all.Account, one.Account), all.Isolated || one.Isolated
	}
	return all
}

// OnChange has a function be called when something else holds. It must not block.
func (t *Tenants) OnChange(do func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changed = append(t.changed, do)
}
