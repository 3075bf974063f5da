package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestContains(t *testing.T) {
	ns := ObjectID{Kind: "Namespace", Name: "shop"}
	definition := ObjectID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets.example.dev"}
	widget := ObjectID{Group: "example.dev", Kind: "Widget", Namespace: "shop", Name: "w"}
	for name, tc := range map[string]struct {
		reason         string
		of, is         ObjectID
		plural         string
		encloses, want bool
	}{
		"namespaced": {"it is in the Namespace", ns, widget, "", true, true},
		"elsewhere":  {"it is in another one", ns, ObjectID{Kind: "ConfigMap", Namespace: "blog", Name: "x"}, "", true, false},
		"cluster":    {"that of another cluster has the same name", ns, widget.In("remote"), "", true, false},
		"itself":     {"a Namespace is not in itself", ns, ns, "", true, false},
		"kind":       {"it is of the kind", definition, widget, "widgets", true, true},
		"other kind": {"it is of another kind of the group", definition, ObjectID{Group: "example.dev", Kind: "Gear", Name: "g"}, "gears", true, false},
		"group":      {"it is of a kind of the same name", definition, ObjectID{Group: "other.dev", Kind: "Widget", Name: "w"}, "widgets", true, false},
		"neither":    {"nothing is in a ConfigMap", ObjectID{Kind: "ConfigMap", Namespace: "shop", Name: "shop"}, widget, "widgets", false, false},
	} {
		if got := tc.of.Contains(tc.is, tc.plural); got != tc.want || tc.of.Encloses() != tc.encloses {
			t.Errorf("%s: %s: got %t, and %t", name, tc.reason, got, tc.of.Encloses())
		}
	}
}

// TestBarrierOfOccupants has a Namespace wait for the objects of others in it, beside what is free, until its time is over.
func TestBarrierOfOccupants(t *testing.T) {
	ns, x, now := ObjectID{Kind: "Namespace", Name: "shop"}, ObjectID{Kind: "ConfigMap", Namespace: "default", Name: "x"}, time.Unix(1000, 0)
	u := Reader{ID: UnitID{Kind: "K", Namespace: "n", Name: "a"}, Current: true}
	several := Occupant{Unit: UnitID{Kind: "K", Namespace: "n", Name: "c"}, Objects: []ObjectID{
		{Kind: "Secret", Namespace: "shop", Name: "s"}, {Kind: "ConfigMap", Namespace: "shop", Name: "y"},
	}}
	doomed := Doomed{Objects: []ObjectID{ns, x}, Now: now, Bound: time.Hour, Occupants: map[ObjectID][]Occupant{ns: {
		OccupantOf(UnitID{Kind: "K", Namespace: "n", Name: "b"}, []Entry{{ID: ObjectID{Kind: "Secret", Namespace: "shop", Name: "pay"}}}), several,
	}}}
	h := Barrier(u, nil, doomed)
	if diff := cmp.Diff(map[ObjectID]bool{ns: true}, h.Objects); diff != "" || !h.Stuck || !h.Occupied {
		t.Errorf("the Namespace waits, and nothing else: %s", diff)
	}
	const text = `deletions wait: Namespace/shop still holds 2 objects (Secret/shop/s, ConfigMap/shop/y) of K/n/c; ` +
		`Namespace/shop still holds Secret/shop/pay of K/n/b; to delete at once, annotate K/n/a with headgate.dev/deletion-hold: "0s"; ` +
		`otherwise they wait until 1970-01-01T01:16:40Z at most`
	if diff := cmp.Diff(text, h.String()); diff != "" {
		t.Error(diff)
	}
	doomed.Since, doomed.Now = h.Since, now.Add(time.Hour)
	if over := Barrier(u, nil, doomed); len(over.Objects)+len(over.Waits) > 0 {
		t.Errorf("its time is over: got %+v", over)
	}
}
