package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func unitNamed(name string) UnitID { return UnitID{Kind: "Unit", Namespace: "ns", Name: name} }

func objectNamed(kind, name string) ObjectID {
	return ObjectID{Kind: kind, Namespace: "ns", Name: name}
}

// declared makes a unit: what it depends on, whose health it waits for, and what it applies.
func declared(name string, depends []string, checks, objects []ObjectID) Declared {
	u := &Unit{ID: unitNamed(name)}
	for _, d := range depends {
		u.Dependencies = append(u.Dependencies, Dependency{Unit: unitNamed(d)})
	}
	for _, c := range checks {
		u.Health.Checks = append(u.Health.Checks, Entry{ID: c})
	}
	return Declared{Unit: u, Objects: objects}
}

func TestKnots(t *testing.T) {
	thing := schema.GroupKind{Group: "example.com", Kind: "Thing"}
	defining := declared("definer", []string{"user"}, nil, nil)
	defining.Defines = []schema.GroupKind{thing}
	using := declared("user", nil, nil, nil)
	using.Uses = []schema.GroupKind{thing}
	needing := func(name string, depends ...string) Declared {
		d := declared(name, depends, nil, nil)
		d.Needs = []ObjectID{objectNamed("Namespace", "space")}
		return d
	}
	waiting := declared("parent", nil, nil, []ObjectID{objectNamed("Unit", "child"), objectNamed("Unit", "other")})
	waiting.Unit.Health.Wait = true
	illegible := declared("illegible", nil, nil, nil)
	illegible.Illegible = true
	sharing := func(name string, depends ...string) Declared {
		d := declared(name, depends, nil, []ObjectID{objectNamed("ConfigMap", "both")})
		d.Unit.Health.Wait = true
		return d
	}
	definingToo := declared("another", nil, nil, nil)
	definingToo.Defines = []schema.GroupKind{thing}
	for name, tt := range map[string]struct {
		units []Declared
		want  []string
	}{
		"a line": {[]Declared{declared("a", nil, nil, nil), declared("b", []string{"a"}, nil, nil)}, nil},
		"a cycle": {
			[]Declared{declared("a", []string{"b"}, nil, nil), declared("b", []string{"a"}, nil, nil)},
			[]string{"Unit/ns/a depends on Unit/ns/b; Unit/ns/b depends on Unit/ns/a"},
		},
		"a namespace that comes later": {
			[]Declared{needing("a"), declared("b", []string{"a"}, nil, []ObjectID{objectNamed("Namespace", "space")})},
			[]string{"Unit/ns/a applies objects that need Namespace/ns/space of Unit/ns/b; Unit/ns/b depends on Unit/ns/a"},
		},
		"a namespace that comes in time": {
			[]Declared{needing("a", "b"), declared("b", nil, nil, []ObjectID{objectNamed("Namespace", "space")})}, nil,
		},
		"a namespace of several": {
			[]Declared{
				needing("a"), declared("b", []string{"a"}, nil, []ObjectID{objectNamed("Namespace", "space")}),
				declared("c", nil, nil, []ObjectID{objectNamed("Namespace", "space")}),
			}, nil,
		},
		"nobody": {[]Declared{declared("a", []string{"gone"}, nil, nil)}, []string{"Unit/ns/a depends on Unit/ns/gone, which no unit declares"}},
		"somebody who cannot be read": {
			[]Declared{illegible, declared("a", []string{"gone"}, nil, nil), declared("b", nil, []ObjectID{objectNamed("Unit", "gone")}, nil)},
			[]string{
				"Unit/ns/a depends on Unit/ns/gone, which no unit declares; unless Unit/ns/gone",
				"Unit/ns/b waits for the health of Unit/ns/gone, which no unit declares; unless Unit/ns/gone",
			},
		},
		"an object of several that wait for their own": {
			[]Declared{sharing("before"), sharing("after", "before")}, nil,
		},
		"a health check of what several declare": {
			[]Declared{
				declared("a", nil, []ObjectID{objectNamed("ConfigMap", "both")}, nil),
				declared("b", []string{"a"}, nil, []ObjectID{objectNamed("ConfigMap", "both")}), declared("c", nil, nil, []ObjectID{objectNamed("ConfigMap", "both")}),
			}, nil,
		},
		"a kind that several define": {[]Declared{defining, definingToo, using}, nil},
		"a health check of what comes after": {
			[]Declared{
				declared("a", nil, []ObjectID{objectNamed("Deployment", "web")}, nil),
				declared("b", []string{"a"}, nil, []ObjectID{objectNamed("Deployment", "web")}),
			},
			[]string{"Unit/ns/a waits for the health of Deployment/ns/web of Unit/ns/b; Unit/ns/b depends on Unit/ns/a"},
		},
		"a health check of what is its own": {
			[]Declared{declared("a", nil, []ObjectID{objectNamed("Deployment", "web")}, []ObjectID{objectNamed("Deployment", "web")})}, nil,
		},
		"a health check of what a controller may make": {[]Declared{declared("a", nil, []ObjectID{objectNamed("Deployment", "web")}, nil)}, nil},
		"a kind that comes after": {
			[]Declared{defining, using},
			[]string{"Unit/ns/definer depends on Unit/ns/user; Unit/ns/user applies objects of Thing.example.com, which Unit/ns/definer defines"},
		},
		"a parent that waits for its children, one of which waits for it": {
			[]Declared{waiting, declared("child", []string{"parent"}, nil, nil), declared("other", nil, nil, nil)},
			[]string{"Unit/ns/child depends on Unit/ns/parent; Unit/ns/parent waits for the health of Unit/ns/child"},
		},
		"a unit that nobody declares": {
			[]Declared{declared("a", nil, []ObjectID{objectNamed("Unit", "gone")}, nil)},
			[]string{"Unit/ns/a waits for the health of Unit/ns/gone, which no unit declares"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, k := range Knots(tt.units, map[schema.GroupKind]bool{{Kind: "Unit"}: true}) {
				text := k.String()
				if alone := !slices.ContainsFunc(k.Steps, func(s string) bool { return !strings.Contains(s, " depends on ") }); k.Declared != (alone && len(k.Units) > 1) {
					t.Errorf("%s: declared is %v", k, k.Declared)
				}
				if k.Lacks != (ObjectID{}) {
					text += "; unless " + k.Lacks.String()
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(strings.Join(got, ""), "\x00") {
				t.Error("a moment shows")
			}
		})
	}
}
