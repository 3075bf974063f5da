package simulate

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// outside is how the API server refuses a Service whose address is in none of its ranges.
var outside = regexp.MustCompile(`failed to allocate IP ([0-9a-fA-F.:]+): the provided network does not match the current range`)

// RangesLacking are the ranges of addresses that a message of the API server says are missing, each once.
func RangesLacking(message string) []netip.Prefix {
	var ranges []netip.Prefix
	for _, found := range outside.FindAllStringSubmatch(message, -1) {
		address, err := netip.ParseAddr(found[1])
		if err != nil {
			continue
		}
		// Distributions give Services as much as that, or more.
		bits := 16
		if address.Is6() {
			bits = 112
		}
		if within, err := address.Prefix(bits); err == nil && !slices.Contains(ranges, within) {
			ranges = append(ranges, within)
		}
	}
	return ranges
}

// ServiceRange makes a further range for the addresses of Services.
func ServiceRange(of netip.Prefix) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR", "spec": map[string]any{"cidrs": []any{of.String()}},
	}}
	o.SetName("simulated-" + strings.NewReplacer(".", "-", ":", "-").Replace(of.Addr().StringExpanded()))
	o.SetLabels(map[string]string{Label: "object"})
	return o
}
