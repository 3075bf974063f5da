package text

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

func TestWhen(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, condition string
		want              bool
		refused           string
	}{
		"None":      {"without a condition, it is executed", "", true, ""},
		"Words":     {"words are strings", "Succeeded == Succeeded", true, ""},
		"Different": {"which may differ", "heads == tails", false, ""},
		"Mixed":     {"with and without quotes", "'a' == a", true, ""},
		"Quoted":    {"other characters need quotes", "'a-b' == 'a-b'", true, ""},
		"Numbers":   {"numbers compare as such", "10 > 9", true, ""},
		"Logic":     {"and, or, not", "!(a == b) && (1 == 2 || true)", true, ""},
		"Truth":     {"an expression tag leaves true or false", "true", true, ""},
		"Pattern":   {"a regular expression", "abc =~ '^a'", true, ""},
		"Hyphen":    {"a hyphen without quotes is a subtraction", "a-b == a-b", false, "modifier '-'"},
		"Empty":     {"an empty value leaves nothing to compare", " == x", false, "Invalid 'when' expression"},
		"Braces":    {"a tag that was not replaced", "{x} == y", false, "wrapping the affected expression in quotes"},
		"NoTruth":   {"a text is not a condition", "'yes'", false, "Expected boolean evaluation"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := When(tc.condition)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("%s: %v does not say %q", tc.reason, err, tc.refused)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("%s: %v, %v", tc.reason, got, err)
			}
		})
	}
}

func TestConditionHasNoWords(t *testing.T) {
	if got, err := Condition("2 > 1"); err != nil || !got {
		t.Errorf("a condition over numbers: %v, %v", got, err)
	}
	if _, err := Condition("a == a"); err == nil {
		t.Error("a word without quotes has no meaning in the condition of a schedule")
	}
}

func FuzzWhen(f *testing.F) {
	for _, seed := range []string{"a == b", "1 > 2 || !(x =~ 'y')", "'a-b' == c", "{x}"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, condition string) {
		_, _ = When(condition)
		_, _ = Condition(condition)
	})
}

func TestDependencies(t *testing.T) {
	done, failed, skipped := Result{Succeeded: true}, Result{Failed: true}, Result{Skipped: true}
	for name, tc := range map[string]struct {
		reason  string
		task    v1alpha1.DAGTask
		results map[string]Result
		tasks   []string
		want    bool
	}{
		"Bare":      {"a name alone is success", v1alpha1.DAGTask{Depends: "A"}, map[string]Result{"A": done}, []string{"A"}, true},
		"Skipped":   {"or a skipped task", v1alpha1.DAGTask{Depends: "A"}, map[string]Result{"A": skipped}, []string{"A"}, true},
		"Failed":    {"not a failure", v1alpha1.DAGTask{Depends: "A"}, map[string]Result{"A": failed}, []string{"A"}, false},
		"Asked":     {"unless it is named", v1alpha1.DAGTask{Depends: "A.Failed"}, map[string]Result{"A": failed}, []string{"A"}, true},
		"Hyphens":   {"names have hyphens, and begin with digits", v1alpha1.DAGTask{Depends: "(my-a || 2nd.Failed) && my_a"}, map[string]Result{"my-a": done, "2nd": done, "my_a": done}, []string{"my-a", "2nd", "my_a"}, true},
		"Not":       {"negation", v1alpha1.DAGTask{Depends: "!A.Succeeded"}, map[string]Result{"A": failed}, []string{"A"}, true},
		"Older":     {"the older spelling is a conjunction", v1alpha1.DAGTask{Dependencies: []string{"A", "B"}}, map[string]Result{"A": done, "B": failed}, []string{"A", "B"}, false},
		"Continues": {"which a dependency with continueOn widens", v1alpha1.DAGTask{Dependencies: []string{"C"}}, map[string]Result{"C": failed}, []string{"C"}, true},
		"None":      {"nothing to wait for", v1alpha1.DAGTask{}, nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			others := map[string]*v1alpha1.DAGTask{"C": {Execution: v1alpha1.Execution{ContinueOn: &v1alpha1.ContinueOn{Failed: true}}}}
			d, err := ParseDependencies(&tc.task, others)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.tasks, d.Tasks); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got, err := d.Met(tc.results); err != nil || got != tc.want {
				t.Errorf("%s: %v, %v", tc.reason, got, err)
			}
		})
	}
}

func TestDependenciesRefused(t *testing.T) {
	for reason, depends := range map[string]string{"an unknown result": "A.Done", "a mistake": "A &&", "a number": "(A) + 1"} {
		d, err := ParseDependencies(&v1alpha1.DAGTask{Depends: depends}, nil)
		if err == nil {
			err = d.Check()
		}
		if err == nil {
			t.Errorf("%s: %q was accepted", reason, depends)
		}
	}
}

func TestPossible(t *testing.T) {
	failed := map[string]Result{"A": {Failed: true}}
	for depends, want := range map[string]bool{
		"A": false, "A && B": false, "A || B": true, "A.Failed && B": true, "B": true, "A.Succeeded || A.Errored": false, "!A.Succeeded && B.Failed": true,
	} {
		d, err := ParseDependencies(&v1alpha1.DAGTask{Depends: depends}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Possible(failed); got != want {
			t.Errorf("after A failed, %q may still be met: %v, want %v", depends, got, want)
		}
	}
}

func FuzzDependencies(f *testing.F) {
	for _, seed := range []string{"A && (B.Failed || !C-d.Succeeded)", "A.", "1.Failed", "A.Failed ? B : C"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, depends string) {
		d, err := ParseDependencies(&v1alpha1.DAGTask{Depends: depends}, nil)
		if err == nil {
			_, _ = d.Met(nil)
			d.Possible(nil)
		}
	})
}
