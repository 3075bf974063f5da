package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOwners(t *testing.T) {
	x, y := ObjectID{Kind: "ConfigMap", Name: "x"}, ObjectID{Kind: "ConfigMap", Name: "y"}
	a, b := unitNamed("a"), unitNamed("b")
	declare := func(o *Owners, unit UnitID, ids ...ObjectID) {
		var entries []Entry
		for _, id := range ids {
			entries = append(entries, Entry{ID: id})
		}
		o.Declare(unit, entries)
	}
	cases := map[string]struct {
		reason string
		do     func(o *Owners) string
		says   string
		// owner is who owns x then, others are those beside a.
		owner, others string
	}{
		"declared": {"a declaration owns nothing, and is known", func(o *Owners) string {
			declare(o, b, x)
			return fmt.Sprint(o.Declares(x, b), o.Declares(x, a))
		}, "true false", "", "b"},
		"declared by another first": {"who applies an object owns it, whoever declared it before", func(o *Owners) string {
			declare(o, b, x)
			return fmt.Sprint(o.Reserve(x, a), o.Hold(x, a), o.Reserve(x, b), o.Hold(x, b))
		}, "true true false false", "a", "b"},
		"recorded": {"a status alone owns nothing", func(o *Owners) string {
			o.Record(x, b)
			return fmt.Sprint(o.Recorded(x, a), o.Recorded(x, b), o.Reserve(x, a))
		}, "[Unit/ns/b] [] true", "a", "b"},
		"recorded and held": {"a status takes nothing from its unit", func(o *Owners) string {
			o.Hold(x, a)
			o.Record(x, a)
			return fmt.Sprint(o.Grip(x, a) == Held, o.Recorded(x, b))
		}, "true []", "a", ""},
		"given back": {"what was not applied in the end is free", func(o *Owners) string {
			declare(o, a, x)
			o.Reserve(x, a)
			heir, changed := o.Loosen(x, a, Loose)
			return fmt.Sprint(heir, changed, o.Declares(x, a))
		}, "// false true", "", ""},
		"given away": {"the next that declares it is the heir", func(o *Owners) string {
			declare(o, b, x)
			o.Hold(x, a)
			heir, changed := o.Loosen(x, a, Loose)
			return fmt.Sprint(heir, changed)
		}, "Unit/ns/b true", "", "b"},
		"recorded heirs": {"who does not declare it is none", func(o *Owners) string {
			o.Record(x, b)
			o.Hold(x, a)
			_, changed := o.Loosen(x, a, Loose)
			return fmt.Sprint(changed)
		}, "false", "", "b"},
		"named": {"what only a status named, and is let go, is free for who declares it", func(o *Owners) string {
			o.Record(x, a)
			declare(o, b, x)
			o.Record(x, b)
			heir, changed := o.Loosen(x, a, Loose)
			return fmt.Sprint(heir, changed)
		}, "Unit/ns/b true", "", "b"},
		"not its own": {"letting go of what another one owns gives nobody anything", func(o *Owners) string {
			declare(o, b, x)
			declare(o, a, x)
			o.Hold(x, b)
			_, changed := o.Loosen(x, a, Loose)
			return fmt.Sprint(changed)
		}, "false", "b", "b"},
		"withdrawn": {"what is withdrawn is declared no more", func(o *Owners) string {
			declare(o, a, x)
			declare(o, b, x)
			o.Reserve(x, a)
			heir, changed := o.Withdraw(x, a)
			return fmt.Sprint(heir, changed, o.Declares(x, a))
		}, "Unit/ns/b true false", "", "b"},
		"declared anew": {"a newer declaration takes the place of the one before, and keeps what is held", func(o *Owners) string {
			declare(o, a, x, y)
			o.Hold(x, a)
			declare(o, a, y)
			return fmt.Sprint(o.Declares(x, a), o.Declares(y, a), o.Of(a))
		}, "false true [ConfigMap/x ConfigMap/y]", "a", ""},
		"renamed": {"an identity that is corrected takes its claims along; what is owned there already stays", func(o *Owners) string {
			declare(o, b, y)
			o.Hold(y, b)
			declare(o, a, x)
			o.Hold(x, a)
			o.Rename(y, x)
			o.Rename(x, x)
			return fmt.Sprint(o.Recorded(x, a), o.Declares(x, b), o.Of(b))
		}, "[Unit/ns/b] true [ConfigMap/x]", "a", "b"},
		"renamed alone": {"whoever owned it by its former identity owns it", func(o *Owners) string {
			o.Hold(y, b)
			o.Rename(y, x)
			return fmt.Sprint(o.Of(b))
		}, "[ConfigMap/x]", "b", "b"},
		"joined": {"who joins owns it too, after whoever had it first, and whoever declared it before", func(o *Owners) string {
			declare(o, b, x)
			o.Reserve(x, a)
			o.Hold(x, a)
			o.Join(x, b)
			return fmt.Sprint(o.Owners(x), o.Hold(x, b), o.Reserve(x, a), o.Recorded(x, a))
		}, "[Unit/ns/a Unit/ns/b] true true []", "a", "b"},
		"joined and left": {"the other owner is left, in its place", func(o *Owners) string {
			declare(o, a, x)
			declare(o, b, x)
			o.Hold(x, a)
			o.Join(x, b)
			o.Hold(x, b)
			_, second := o.Withdraw(x, b)
			declare(o, b, x)
			o.Join(x, b)
			o.Hold(x, b)
			heir, first := o.Withdraw(x, a)
			marked, _ := o.Marked(x)
			return fmt.Sprint(second, heir, first, marked)
		}, "false Unit/ns/b true Unit/ns/a", "b", "b"},
		"marked": {"an object bears the name of the first owner that applied it, until nobody has anything of it", func(o *Owners) string {
			o.Hold(x, a)
			o.Join(x, b)
			o.Hold(x, b)
			before, _ := o.Marked(x)
			o.Loosen(x, a, Loose)
			o.Hold(x, b)
			now, _ := o.Marked(x)
			o.Loosen(x, b, Loose)
			_, known := o.Marked(x)
			return fmt.Sprint(before, now, known)
		}, "Unit/ns/a Unit/ns/b false", "", ""},
		"led": {"whoever is found to be the first comes first", func(o *Owners) string {
			o.Record(x, a)
			o.Join(x, b)
			o.Lead(x, a)
			return fmt.Sprint(o.Owners(x))
		}, "[Unit/ns/a Unit/ns/b]", "a", "b"},
		"writing": {"who writes an object is known until it ends, whatever it had before", func(o *Owners) string {
			o.Hold(x, a)
			o.Join(x, b)
			o.Reserve(x, a)
			both := fmt.Sprint(o.Writers(x, a), o.Writers(x, b))
			o.Written(x, b)
			return both + fmt.Sprint(o.Writers(x, a), o.Writers(x, b))
		}, "[Unit/ns/b] [Unit/ns/a][] [Unit/ns/a]", "a", "b"},
		"gone": {"nothing is left of a unit that has left", func(o *Owners) string {
			declare(o, a, x, y)
			o.Hold(x, a)
			declare(o, a)
			for _, id := range o.Of(a) {
				o.Loosen(id, a, Loose)
			}
			return fmt.Sprint(o.Of(a), len(o.claims), len(o.byUnit), len(o.marked))
		}, "[] 0 0 0", "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := NewOwners()
			said := c.do(o)
			owner, _ := o.Owner(x)
			var others []string
			for _, other := range o.Others(x, a) {
				others = append(others, other.Name)
			}
			want := []string{c.says, c.owner, c.others}
			if diff := cmp.Diff(want, []string{said, owner.Name, strings.Join(others, " ")}); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
}
