package engine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/engine"
)

func TestGrouped(t *testing.T) {
	several := func(kind string, n int, reason string) []engine.Wait {
		var all []engine.Wait
		for i := range n {
			name := fmt.Sprintf("a%d", i)
			all = append(all, engine.Wait{On: engine.ObjectID{Kind: kind, Namespace: "ns", Name: name}, Reason: fmt.Sprintf(reason, name)})
		}
		return all
	}
	one := func(kind string) engine.ObjectID { return engine.ObjectID{Kind: kind, Name: "1"} }
	const same = "refused as invalid: spec.eventSources[0].kind: unsupported%.0s"
	cases := map[string]struct {
		reason string
		waits  []engine.Wait
		want   string
	}{
		"Nothing": {reason: "there is nothing to say"},
		"One":     {reason: "one is named as it is", waits: several("Alert", 1, same), want: "Alert/ns/a0: refused as invalid: spec.eventSources[0].kind: unsupported"},
		"Named": {
			reason: "an object that the reason names is not named twice", waits: []engine.Wait{{On: engine.ObjectID{Kind: "Alert", Namespace: "ns", Name: "a"}, Reason: `Alert.notification.toolkit.fluxcd.io "a" is invalid: spec: Required value`}},
			want: `Alert.notification.toolkit.fluxcd.io "a" is invalid: spec: Required value`,
		},
		"Two": {
			reason: "what is said of two is said once", waits: several("Policy", 2, same),
			want: "2 Policies (ns/a0, ns/a1): refused as invalid: spec.eventSources[0].kind: unsupported",
		},
		"Twelve": {
			reason: "a few are named", waits: several("Alert", 12, same),
			want: "12 Alerts (ns/a0, ns/a1, ns/a2 and 9 more): refused as invalid: spec.eventSources[0].kind: unsupported",
		},
		"Names": {
			reason: "the name in the reason makes no other reason", waits: several("Ingress", 2, `ingresses %q is forbidden`),
			want: `2 Ingresses (ns/a0, ns/a1): ingresses "a0" is forbidden`,
		},
		"Kinds": {
			reason: "objects of several kinds have theirs before their names", waits: append(several("Alert", 1, same), several("Endpoints", 2, same)...),
			want: "3 objects (Alert/ns/a0, Endpoints/ns/a0, Endpoints/ns/a1): refused as invalid: spec.eventSources[0].kind: unsupported",
		},
		"Reasons": {
			reason: "other reasons stay others", waits: append(several("Alert", 1, same), several("Alert", 2, "namespace \"x\" does not exist%.0s")...),
			want: `Alert/ns/a0: refused as invalid: spec.eventSources[0].kind: unsupported; 2 Alerts (ns/a0, ns/a1): namespace "x" does not exist`,
		},
		"Many": {
			reason: "and what is more is counted",
			waits: append(append([]engine.Wait{{On: one("A"), Reason: "a"}, {On: one("B"), Reason: "b"}, {On: one("C"), Reason: "c"}, {On: one("D"), Reason: "d"}, {On: one("E"), Reason: "e"}},
				several("F", 3, "f%.0s")...), engine.Wait{On: one("G"), Reason: "g"}),
			want: "A/1: a; B/1: b; C/1: c; D/1: d; E/1: e; and 4 more",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, engine.Grouped(c.waits)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}
