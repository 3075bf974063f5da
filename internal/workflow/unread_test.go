package workflow

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettingsOf(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		data   map[string]string
		want   []string
	}{
		"None":   {"what only concerns the user interface is no matter", map[string]string{"links": "- name: x", "sso": "x"}, []string{}},
		"Keys":   {"a key for each", map[string]string{"workflowDefaults": "spec: {}", "links": "", "parallelism": "3"}, []string{"parallelism", "workflowDefaults"}},
		"Config": {"all in one", map[string]string{"config": "workflowRestrictions: {templateReferencing: Strict}\nartifactRepository: {}"}, []string{"artifactRepository", "workflowRestrictions"}},
		"Broken": {"what cannot be read sets nothing", map[string]string{"config": "["}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, settingsOf(tc.data)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
