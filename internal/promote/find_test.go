package promote

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAdvertised(t *testing.T) {
	hash := strings.Repeat("a", 40)
	for name, tc := range map[string]struct {
		text string
		want map[string]string
		err  string
	}{
		"References":  {"001e# service=git-upload-pack\n0000" + "0033" + hash + " HEAD\x00x" + "003d" + hash + " refs/heads/main\n0000", map[string]string{"HEAD": hash, "refs/heads/main": hash}, ""},
		"Empty":       {"0000", map[string]string{}, ""},
		"NotGit":      {"<html>", nil, "not that of a Git server"},
		"Short":       {"0002", nil, "not that of a Git server"},
		"Incomplete":  {"0033" + hash, nil, "incomplete"},
		"HalfALength": {"00", nil, "incomplete"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := advertised(strings.NewReader(tc.text))
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Fatalf("%v", err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
