package resourceset_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/resourceset"
)

func provider(kind, name string, sets ...map[string]any) resourceset.Provider {
	return resourceset.Provider{APIVersion: "g/v1", Kind: kind, Namespace: "apps", Name: name, UID: name, Sets: sets}
}

func reference(kind, name string) map[string]any {
	return map[string]any{"apiVersion": "g/v1", "kind": kind, "name": name, "namespace": "apps"}
}

func TestFlatten(t *testing.T) {
	got, err := resourceset.Flatten([]resourceset.Provider{
		provider("ResourceSet", "a", map[string]any{"id": "own", "x": "1", "provider": "mine"}), provider("P", "b", map[string]any{"id": "7"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []resourceset.Input{
		{Values: map[string]any{"id": "own", "x": "1", "provider": reference("ResourceSet", "a")}, From: "input own of ResourceSet/apps/a"},
		{Values: map[string]any{"id": "7", "provider": reference("P", "b")}, From: "input 7 of P/apps/b"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestIDsTellSetsApart(t *testing.T) {
	got, err := resourceset.Flatten([]resourceset.Provider{provider("R", "a", nil, nil), provider("R", "b", nil)})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[any]bool{}
	for _, in := range got {
		if seen[in.Values["id"]] {
			t.Errorf("id %v stands twice", in.Values["id"])
		}
		seen[in.Values["id"]] = true
	}
}

func TestPermute(t *testing.T) {
	cases := map[string]struct {
		reason      string
		providers   []resourceset.Provider
		want        []map[string]any
		wantProblem string
	}{
		"every way": {
			reason: "Each set stands below the name of its provider, in a form that templates can use.",
			providers: []resourceset.Provider{
				provider("R", "my-set", map[string]any{"id": "1"}, map[string]any{"id": "2"}), provider("P", "git.Tag", map[string]any{"id": "3"}),
			},
			want: []map[string]any{
				{"my_set": map[string]any{"id": "1", "provider": reference("R", "my-set")}, "git_tag": map[string]any{"id": "3", "provider": reference("P", "git.Tag")}},
				{"my_set": map[string]any{"id": "2", "provider": reference("R", "my-set")}, "git_tag": map[string]any{"id": "3", "provider": reference("P", "git.Tag")}},
			},
		},
		"one without sets": {
			reason:    "There is no way to take one of none.",
			providers: []resourceset.Provider{provider("R", "a", map[string]any{"id": "1"}), provider("P", "b")},
		},
		"none": {reason: "Without providers there is nothing to take."},
		"one name": {
			reason:      "Two that would be called the same cannot be told apart.",
			providers:   []resourceset.Provider{provider("P", "a-b", map[string]any{}), provider("P", "a.b", map[string]any{})},
			wantProblem: `the inputs of P/apps/a-b and of P/apps/a.b would both be named "a_b"`,
		},
		"too many": {
			reason:      "The number of ways is bounded.",
			providers:   []resourceset.Provider{provider("P", "a", make([]map[string]any, 101)...), provider("P", "b", make([]map[string]any, 100)...)},
			wantProblem: "more than 10000 combinations",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := resourceset.Permute(tc.providers)
			if (err != nil) != (tc.wantProblem != "") || err != nil && !strings.Contains(err.Error(), tc.wantProblem) {
				t.Fatalf("%s\ngot error %v, want %q", tc.reason, err, tc.wantProblem)
			}
			var values []map[string]any
			ids := map[any]bool{}
			for _, in := range got {
				if id := in.Values["id"]; ids[id] {
					t.Errorf("id %v stands twice", id)
				}
				ids[in.Values["id"]] = true
				delete(in.Values, "id")
				values = append(values, in.Values)
			}
			if diff := cmp.Diff(tc.want, values); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{"My-App.1": "my_app_1", "--a--b": "a_b", "é": "", "postgres-web": "postgres_web"} {
		if got := resourceset.Normalise(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestStaticID(t *testing.T) {
	if got, want := resourceset.StaticID("Wikipedia"), "300286872"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
