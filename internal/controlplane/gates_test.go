package controlplane

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseGates(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		given  map[string]string
		want   map[string]bool
		fails  string
	}{
		"known":    {"a gate is set", map[string]string{"HPAScaleToZero": "true"}, map[string]bool{"HPAScaleToZero": true}, ""},
		"none":     {"there need not be any", nil, map[string]bool{}, ""},
		"unknown":  {"an unknown one is named", map[string]string{"NoSuchGate": "true"}, nil, `has no feature gate "NoSuchGate"`},
		"case":     {"one that is nearly right is suggested", map[string]string{"hpaScaleToZero": "true"}, nil, `did you mean "HPAScaleToZero"`},
		"no value": {"a setting is true or false", map[string]string{"HPAScaleToZero": "on"}, nil, "HPAScaleToZero=on: write true or false"},
	} {
		got, err := ParseGates(c.given)
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %s: error %v, want %q", name, c.reason, err, c.fails)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
	if got := OtherGates(map[string]bool{"HPAScaleToZero": true, "NoSuchGate": true, "AllAlpha": false}); !cmp.Equal(got, map[string]bool{"HPAScaleToZero": true}) {
		t.Errorf("of these gates others are %v", got)
	}
}
