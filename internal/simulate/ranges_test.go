package simulate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/simulate"
)

func TestRangesLacking(t *testing.T) {
	const refused = "spec.clusterIPs: Invalid value: [%q]: failed to allocate IP "
	for name, c := range map[string]struct {
		reason, message string
		want            []string
	}{
		"one":     {"the range of k3s", "1 of 2 objects failed: Service/a: " + refused + "10.43.0.10: the provided network does not match the current range", []string{"10.43.0.0/16"}},
		"same":    {"two in one range", refused + "10.43.0.10: the provided network does not match the current range; " + refused + "10.43.9.9: the provided network does not match the current range", []string{"10.43.0.0/16"}},
		"two":     {"two ranges", refused + "10.43.0.10: the provided network does not match the current range; " + refused + "172.20.0.10: the provided network does not match the current range", []string{"10.43.0.0/16", "172.20.0.0/16"}},
		"ipv6":    {"one of IPv6", refused + "fd00:43::a: the provided network does not match the current range", []string{"fd00:43::/112"}},
		"taken":   {"an address that another Service has is no range", refused + "10.96.0.10: provided IP is already allocated", nil},
		"nothing": {"any other message", "not found", nil},
	} {
		var got []string
		for _, one := range simulate.RangesLacking(c.message) {
			got = append(got, one.String())
			o := simulate.ServiceRange(one)
			if cidrs, _ := o.Object["spec"].(map[string]any)["cidrs"].([]any); len(cidrs) != 1 || cidrs[0] != one.String() {
				t.Errorf("%s: the range is %v", name, o.Object)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}
