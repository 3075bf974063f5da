package engine

import (
	"strings"
	"testing"
)

// FuzzPointer reads pointers into objects: they read back the same, and what is replaced there is found there.
func FuzzPointer(f *testing.F) {
	for _, seed := range []string{"/spec/replicas", "/spec/a~1b/0", "", "/", "spec", "/list/-", "/list/01", "/~2", "/list/99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePointer(text)
		if err != nil {
			return
		}
		again, err := ParsePointer(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%q is read as %q, and that as %q (%v)", text, p, again, err)
		}
		object := func() map[string]any {
			return map[string]any{"spec": map[string]any{"replicas": int64(1), "a/b": []any{"x"}}, "list": []any{map[string]any{"k": "v"}, "y"}, "": "z"}
		}
		o := object()
		_, there := p.Lookup(o)
		p.Replace(o, "new")
		if value, found := p.Lookup(o); there && text != "" && (!found || value != "new") {
			t.Errorf("%q: replaced, it is %v (%t)", text, value, found)
		}
		p.Remove(object())
	})
}

// FuzzParseDependsOn reads annotations: every item names a kind and an object.
func FuzzParseDependsOn(f *testing.F) {
	for _, seed := range []string{"Kustomization/apps/a, argoproj.io/Application/b", "a", "a//b", ",,", "x.y/Kind/name", "x.y/Kind/ns/name/more", "Kind/ /x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		deps, err := ParseDependsOn(text, "apps")
		if err != nil {
			return
		}
		if len(deps) > strings.Count(text, ",")+1 {
			t.Errorf("%q: %d dependencies", text, len(deps))
		}
		for _, d := range deps {
			id := d.Object
			if d.Unit != (UnitID{}) {
				id = d.Unit.Object()
			}
			if id.Kind == "" || id.Name == "" {
				t.Errorf("%q: %+v", text, d)
			}
		}
	})
}
