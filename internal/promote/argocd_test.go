package promote

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/steps"
)

// TestAuthorized has a step say nothing of Applications that do not authorize its Stage, not even whether they exist.
func TestAuthorized(t *testing.T) {
	apps := func(permitted ...string) []unstructured.Unstructured {
		var all []unstructured.Unstructured
		for i, to := range permitted {
			app := unstructured.Unstructured{}
			app.SetName("app-of-team-" + string(rune('a'+i)))
			app.SetAnnotations(map[string]string{v1alpha1.AuthorizedStageAnnotation: to})
			all = append(all, app)
		}
		return all
	}
	named := steps.App{Name: "shop", Namespace: "argocd"}
	selected := steps.App{Namespace: "argocd", Selector: &steps.AppSelector{MatchLabels: map[string]string{"team": "a"}}}
	said := map[bool]map[string]bool{true: {}, false: {}}
	for name, c := range map[string]struct {
		apps  []unstructured.Unstructured
		named steps.App
		want  bool
	}{
		"One":                     {apps("shop:dev"), named, true},
		"Of several Stages":       {apps("shop:test, shop:dev"), named, true},
		"All that were selected":  {apps("shop:dev", "shop:test,shop:dev"), selected, true},
		"Another Stage":           {apps("shop:prod"), named, false},
		"Another Project":         {apps("other:dev"), named, false},
		"None by name":            {nil, named, false},
		"None by labels":          {nil, selected, false},
		"One of those selected":   {apps("shop:dev", "other:dev"), selected, false},
		"Another one of these":    {apps("other:dev", "shop:dev", "shop:dev"), selected, false},
		"None of those selected":  {apps("", "other:dev"), selected, false},
		"A part of a name":        {apps("shop:development"), named, false},
		"A Stage of all Projects": {apps("dev"), named, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := authorized(c.apps, c.named, "shop:dev")
			if (err == nil) != c.want {
				t.Fatalf("the error is %v, want none: %v", err, c.want)
			}
			if err == nil {
				return
			}
			if no := (denied{}); !errors.As(err, &no) || strings.Contains(err.Error(), "app-of") || strings.Contains(err.Error(), "other") {
				t.Errorf("the error is %v", err)
			}
			said[c.named.Name != ""][err.Error()] = true
		})
	}
	if len(said[true]) != 1 || len(said[false]) != 1 {
		t.Errorf("what is said differs by what exists: %v", said)
	}
}
