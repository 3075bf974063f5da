package runner

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// replaced says why an object is left as it is.
func (r *Runner) replaced(t *target, o *unstructured.Unstructured) string {
	if r.cfg.Replaced == nil || t.cluster.Name != "" {
		return ""
	}
	return r.cfg.Replaced(o)
}

// noteReplaced reports which objects are left as they are, when these are others than before.
func (r *Runner) noteReplaced(u *unit, before []replaced) {
	if u.rendering == nil || slices.Equal(before, u.rendering.replaced) || len(u.rendering.replaced) == 0 {
		return
	}
	names := map[string][]string{}
	for _, one := range u.rendering.replaced {
		names[one.why] = append(names[one.why], one.entry.ID.String())
	}
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(names)) {
		parts = append(parts, why+": "+strings.Join(names[why], ", "))
	}
	r.note(u, u.phase, "not applied, "+strings.Join(parts, "; "), false)
}
