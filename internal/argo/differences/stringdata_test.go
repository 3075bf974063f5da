package differences

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCompareStringData compares Secrets whose source has stringData, without the data that the API server makes of it.
func TestCompareStringData(t *testing.T) {
	const head = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
	for name, tc := range map[string]struct {
		reason          string
		predicted, live string
		want            []string
	}{
		"Changed": {"a value that the source changes is a difference", "data: {k: Yg==}", "data: {k: YQ==}", []string{"/data/k"}},
		"Same":    {"", "data: {k: Yg==}", "data: {k: Yg==}", nil},
		"Beside":  {"values of others are none of ours", "data: {k: Yg==, other: YQ==}", "data: {k: Yg==, other: Yw==}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := Compile(nil, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			desired, live := object(t, head+"stringData: {k: b}"), object(t, head+tc.live)
			found, err := Comparison{Manager: "argocd-controller", Rules: rules.For(live)}.Compare(t.Context(), desired, object(t, head+tc.predicted), live)
			if diff := cmp.Diff(tc.want, listed(found)); diff != "" || err != nil {
				t.Errorf("%s: %s %v", tc.reason, diff, err)
			}
		})
	}
}
