package apply_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/apply"
)

func TestBrief(t *testing.T) {
	const unchecked = `Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`
	cases := map[string]struct{ reason, text, want string }{
		"Plain": {"what is short stays", "refused as invalid: spec.ports: Required value", "refused as invalid: spec.ports: Required value"},
		"Enum": {
			"of a long list the first few values stay",
			`spec.kind: Unsupported value: "Instance": supported values: "Bucket", "GitRepository", "Kustomization", "HelmRelease", "HelmChart"; spec.x: Required value`,
			`spec.kind: Unsupported value: "Instance": supported values: "Bucket", "GitRepository", "Kustomization" and 2 more; spec.x: Required value`,
		},
		"Few": {
			"a short list is whole", `spec.kind: Unsupported value: "c": supported values: "a", "b", "c", "d"`, `spec.kind: Unsupported value: "c": supported values: "a", "b", "c", "d"`,
		},
		"Unchecked":      {"what was not checked is left out", "spec.kind: Required value; <nil>: " + unchecked, "spec.kind: Required value"},
		"UncheckedFirst": {"wherever it stands", "<nil>: " + unchecked + "; spec.kind: Required value", "spec.kind: Required value"},
		"List": {
			"also in the server's own list", `Alert "x" is invalid: [<nil>: ` + unchecked + `, spec.kind: Required value, <nil>: ` + unchecked + `]`,
			`Alert "x" is invalid: [spec.kind: Required value]`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, apply.Brief(c.text)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}
