package argo

import "testing"

func TestRemembered(t *testing.T) {
	for name, tc := range map[string]struct {
		reason         string
		before         memory
		has, installed bool
		want           memory
	}{
		"Fresh":     {"nothing was ever there", unknown, false, false, implied},
		"Again":     {"nothing was ever there, and a repository installs Argo CD meanwhile", implied, false, true, implied},
		"There":     {"it is there", unknown, true, false, required},
		"Came":      {"it came since the last start", implied, true, false, required},
		"Deleted":   {"it was there once", required, false, false, required},
		"Installed": {"the server of Argo CD creates it, so that somebody deleted it", unknown, false, true, required},
	} {
		t.Run(name, func(t *testing.T) {
			if got := remembered(tc.before, tc.has, tc.installed); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
