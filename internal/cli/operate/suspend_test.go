package operate

import "testing"

func TestHolds(t *testing.T) {
	paused := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"paused": "true"}}}
	for name, tc := range map[string]struct {
		reason         string
		object, change map[string]any
		want           bool
	}{
		"Field":     {"the field is set", map[string]any{"spec": map[string]any{"suspend": true}}, map[string]any{"spec": map[string]any{"suspend": true}}, true},
		"Other":     {"the field has another value", map[string]any{"spec": map[string]any{"suspend": false}}, map[string]any{"spec": map[string]any{"suspend": true}}, false},
		"Absent":    {"an object without the field is not suspended", map[string]any{"spec": map[string]any{}}, map[string]any{"spec": map[string]any{"suspend": true}}, false},
		"Nothing":   {"nor is one without any annotations", map[string]any{"metadata": map[string]any{"name": "a"}}, paused, false},
		"Annotated": {"an annotation counts as a field does", paused, paused, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := holds(tc.object, tc.change); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}
