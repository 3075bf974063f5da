package appset

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestBudget(t *testing.T) {
	cases := map[string]struct {
		reason string
		// there are Applications with the names app-0 and so on, of which the first few are still generated.
		there, generated int
		annotations      map[string]string
		spec             string
		previous         int
		refused          string
	}{
		"One":        {reason: "one may always go", there: 2, generated: 1},
		"Renamed":    {reason: "the only one too, when there is another", there: 1, spec: planSpec("", "other")},
		"Half":       {reason: "half of them may go", there: 4, generated: 2},
		"More":       {reason: "more may not", there: 5, generated: 2, refused: "3 of 5 Applications would be deleted, and the limit is 2 at once (app-2, app-3, app-4)"},
		"Nothing":    {reason: "a set that gives nothing", there: 1, refused: "the generators produce nothing, and there are 1 Applications"},
		"Share":      {reason: "a share of their number", there: 8, generated: 5, annotations: map[string]string{DeletionBudgetAnnotation: "25%"}, refused: "3 of 8 Applications would be deleted, and the limit is 2 at once"},
		"ShareFits":  {reason: "what fits in it", there: 8, generated: 6, annotations: map[string]string{DeletionBudgetAnnotation: "25%"}},
		"Number":     {reason: "a number", there: 8, generated: 4, annotations: map[string]string{DeletionBudgetAnnotation: "3"}, refused: "4 of 8 Applications would be deleted, and the limit is 3 at once"},
		"NumberFits": {reason: "what fits in it", there: 4, generated: 1, annotations: map[string]string{DeletionBudgetAnnotation: "3"}},
		"NumberNone": {reason: "a number does not stand for an empty generator", there: 2, annotations: map[string]string{DeletionBudgetAnnotation: "5"}, refused: "the generators produce nothing"},
		"None":       {reason: "none at all", there: 3, generated: 2, annotations: map[string]string{DeletionBudgetAnnotation: "0"}, refused: "1 of 3 Applications would be deleted, and the limit is 0 at once"},
		"All":        {reason: "everything", there: 9, annotations: map[string]string{DeletionBudgetAnnotation: "100%"}},
		"Bad":        {reason: "an annotation that says nothing holds all", there: 3, generated: 2, annotations: map[string]string{DeletionBudgetAnnotation: "some"}, refused: `annotation headgate.dev/deletion-budget: write a number such as "3"`},
		"TooMuch":    {reason: "more than all", there: 3, generated: 2, annotations: map[string]string{DeletionBudgetAnnotation: "101%"}, refused: "write a number"},
		"Recent":     {reason: "a time of the last hour agrees", there: 2, annotations: map[string]string{DeletionApprovedAnnotation: "2026-11-21T11:30:00Z"}},
		"Old":        {reason: "an older one does not", there: 2, annotations: map[string]string{DeletionApprovedAnnotation: "2026-11-21T10:30:00Z"}, refused: "2026-11-21T10:30:00Z is not within the last hour"},
		"Future":     {reason: "nor one that is still to come", there: 2, annotations: map[string]string{DeletionApprovedAnnotation: "2026-11-21T12:30:00Z"}, refused: "is not within the last hour"},
		"Other":      {reason: "nor what names other deletions", there: 2, annotations: map[string]string{DeletionApprovedAnnotation: "abcdef"}, refused: `"abcdef" approves other deletions`},
		"DriedUp":    {reason: "a generator that produced parameters before", there: 9, generated: 8, previous: 1, spec: `two`, refused: "a generator that produced parameters before produces nothing (app-8)"},
		"AlwaysDry":  {reason: "one that never did", there: 9, generated: 8, spec: `two`},
		"BadName":    {reason: "a name that is none may stand for anything", there: 9, generated: 8, spec: `bad`, refused: "nothing is deleted while the name of an Application is invalid"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var names []string
			for i := range c.generated {
				names = append(names, fmt.Sprintf("app-%d", i))
			}
			spec := planSpec("", names...)
			switch c.spec {
			case "two":
				spec = strings.Replace(spec, "generators: [", "generators: [{list: {elements: []}}, ", 1)
			case "bad":
				spec = strings.Replace(spec, "generators: [", "generators: [{list: {elements: [{name: Bad_Name}]}}, ", 1)
			case "":
			default:
				spec = c.spec
			}
			set := setOf(t, spec)
			set.Annotations = c.annotations
			var existing []*unstructured.Unstructured
			for i := range c.there {
				existing = append(existing, liveApp(t, fmt.Sprintf("app-%d", i), ""))
			}
			options := everything()
			if c.spec == "two" {
				options.Previous = map[string]int{digestOf(set.generators[0]): c.previous, digestOf(set.generators[1]): 9, "gone": 5}
			}
			plan := planOf(t, set, existing, options)
			if (plan.Refused == "") != (c.refused == "") || !strings.Contains(plan.Refused, c.refused) {
				t.Fatalf("%s: refused %q, want %q", c.reason, plan.Refused, c.refused)
			}
			gone := c.there - c.generated
			if c.refused == "" && (len(plan.Delete) != gone || len(plan.Keep) != 0) || c.refused != "" && (len(plan.Delete) != 0 || len(plan.Keep) != gone) {
				t.Errorf("%s: %d deleted, %d kept, of %d", c.reason, len(plan.Delete), len(plan.Keep), gone)
			}
			if plan.Digest == "" {
				return
			}
			options.Previous = plan.Yields
			if again := planOf(t, set, existing, options); again.Refused != plan.Refused {
				t.Errorf("%s: the next pass says %q", c.reason, again.Refused)
			}
			set.Annotations = map[string]string{DeletionApprovedAnnotation: plan.Digest, DeletionBudgetAnnotation: c.annotations[DeletionBudgetAnnotation]}
			if agreed := planOf(t, set, existing, options); len(agreed.Delete) != gone || !strings.Contains(plan.Refused, DeletionApprovedAnnotation+"="+plan.Digest) {
				t.Errorf("%s: the digest agrees: %+v", c.reason, agreed)
			}
			more := append(existing, liveApp(t, "another", ""))
			if other := planOf(t, set, more, options); len(other.Delete) != 0 {
				t.Errorf("%s: and to these deletions only: %+v", c.reason, other.Delete)
			}
		})
	}
}

func TestProblemsDeleteNothing(t *testing.T) {
	set := setOf(t, planSpec("", "one"))
	broken := func(*unstructured.Unstructured) error { return fmt.Errorf("there is no such project") }
	made, err := Generate(t.Context(), set, known{}, Options{Check: broken})
	if err != nil || len(made.Applications) != 0 || len(made.Problems) != 1 {
		t.Fatalf("%+v %v", made, err)
	}
	plan, err := MakePlan(t.Context(), set, made, []*unstructured.Unstructured{liveApp(t, "one", "spec: {project: q}")}, everything())
	if err != nil || len(plan.Delete)+len(plan.Update)+len(plan.Create) != 0 || len(plan.Keep) != 1 || plan.Keep[0].Name != "one" {
		t.Errorf("an Application that cannot be stays what it is: %+v %v", plan, err)
	}
}
