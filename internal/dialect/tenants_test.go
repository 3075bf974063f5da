package dialect

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTenants has what holds be the strictest of all requests, and changes of it be announced, and nothing else.
func TestTenants(t *testing.T) {
	var tenants Tenants
	changes := 0
	tenants.OnChange(func() { changes++ })
	for _, step := range []struct {
		reason  string
		by      string
		tenancy Tenancy
		want    Tenancy
		locked  bool
		changes int
	}{
		{"nothing is requested", "flags", Tenancy{}, Tenancy{}, false, 0},
		{"an object of the operator requests an account", "flux", Tenancy{Account: "tenant"}, Tenancy{Account: "tenant"}, true, 1},
		{"a person requests isolation beside it", "flags", Tenancy{Isolated: true}, Tenancy{Account: "tenant", Isolated: true}, true, 2},
		{"once more", "flags", Tenancy{Isolated: true}, Tenancy{Account: "tenant", Isolated: true}, true, 2},
		{"the object goes", "flux", Tenancy{}, Tenancy{Isolated: true}, true, 3},
		{"and the flag", "flags", Tenancy{}, Tenancy{}, false, 4},
	} {
		tenants.Ask(step.by, step.tenancy)
		if diff := cmp.Diff(step.want, tenants.Now()); diff != "" || tenants.Now().Locked() != step.locked || changes != step.changes {
			t.Errorf("%s: %d changes, locked %t (-want +got):\n%s", step.reason, changes, tenants.Now().Locked(), diff)
		}
	}
}
