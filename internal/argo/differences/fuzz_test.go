package differences

import (
	"context"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// FuzzRules has rules of any text neither panic, nor change an object, nor make an object differ from itself.
func FuzzRules(f *testing.F) {
	for _, seed := range []string{
		".spec.replicas", "/spec/replicas", ".spec.template.spec.containers[].image", "/spec/template/spec/containers/0", "..", ".[]?",
		".spec | to_entries", "paths", "getpath([\"spec\",1])", ".spec.template.spec.containers[1:][0]", "/", "/~2", "$__loc__", "input", "limit(3; repeat(.a))",
		"[", ".spec.template.spec.containers[99999999999999999999]", "first(range(10;0;-1))", ".a.b.c = 1", "@base64 \"\\(.x)\"", ".metadata.managedFields",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := Compile(nil, []v1alpha1.ResourceIgnoreDifferences{
			{Group: "*", Kind: "*", JQPathExpressions: []string{text}, JSONPointers: []string{text}, ManagedFieldsManagers: []string{text}},
		}, nil)
		if rules == nil {
			t.Fatalf("no rules beside %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		live := object(t, deploymentLive)
		mine := rules.For(live)
		if found, err := (Comparison{Rules: mine}).Compare(ctx, live, live, live); len(found) > 0 {
			t.Errorf("an object differs from itself at %v (%v)", listed(found), err)
		}
		_, _ = mine.Ignored(ctx, object(t, deploymentDesired), live)
		if !equal(object(t, deploymentLive).Object, live.Object) {
			t.Error("the live object was changed")
		}
	})
}
