package installation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/dialects"
)

func TestServices(t *testing.T) {
	cases := map[string]struct {
		reason string
		serve  []string
		want   []string
	}{
		"All": {
			reason: "the names that routes and other controllers expect lead here", serve: []string{"flux"},
			want: []string{"headgate", "notification-controller", "webhook-receiver"},
		},
		"Some": {
			reason: "the Services of a notification-controller that stays are its own", serve: []string{"kustomize.toolkit.fluxcd.io"},
			want: []string{"headgate"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			groups, err := dialects.All().Parse(tc.serve)
			if err != nil {
				t.Fatal(err)
			}
			objects, err := Objects(t.Context(), Options{Serve: groups, WithoutDefinitions: true})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range objects {
				if o.GetKind() == "Service" {
					got = append(got, o.GetName())
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
