package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestObserve(t *testing.T) {
	recorded := tested(revision(1, Deployed), "Succeeded")
	recorded.ConfigDigest, recorded.OCIDigest = "given", "sha256:oci"
	stored := revision(1, Superseded)
	made := revision(2, Deployed)
	got := Observe([]Snapshot{recorded}, []Snapshot{made, stored, revision(7, Failed)}, &made)

	want := stored
	want.ConfigDigest, want.OCIDigest, want.TestHooks = "given", "sha256:oci", recorded.TestHooks
	if diff := cmp.Diff([]Snapshot{made, want}, got); diff != "" {
		t.Error(diff)
	}
	again := tested(made, TestFailed)
	again.ConfigDigest = "rounded"
	want = made
	want.TestHooks = again.TestHooks
	if diff := cmp.Diff(want, Observe(got, nil, &again)[0]); diff != "" {
		t.Errorf("after a test: %s", diff)
	}
	anew := revision(1, Deployed)
	anew.LastDeployed = anew.LastDeployed.Add(time.Hour)
	if diff := cmp.Diff([]Snapshot{anew}, Observe([]Snapshot{recorded}, nil, &anew)); diff != "" {
		t.Errorf("after an uninstall and an install: %s", diff)
	}
	if diff := cmp.Diff([]Snapshot{recorded}, Observe([]Snapshot{recorded}, []Snapshot{anew}, nil)); diff != "" {
		t.Errorf("after an uninstall and an install by someone else: %s", diff)
	}
	if got := Observe([]Snapshot{revision(1, Failed)}, []Snapshot{revision(2, Deployed), revision(1, Superseded)}, nil); got[0].Status != Failed {
		t.Errorf("a revision that failed is %s after the next one", got[0].Status)
	}
	if got := Observe(got, nil, &Snapshot{}); len(got) != 2 {
		t.Errorf("an action that left nothing was recorded: %v", got)
	}
}

func TestTruncate(t *testing.T) {
	history := func(statuses ...string) []Snapshot {
		out := make([]Snapshot, len(statuses))
		for i, s := range statuses {
			out[i] = revision(len(statuses)-i, s)
		}
		return out
	}
	for name, tt := range map[string]struct {
		history []Snapshot
		want    int
	}{
		"nothing":                  {nil, 0},
		"one":                      {history(Deployed), 1},
		"several before":           {history(Deployed, Superseded, Superseded), 3},
		"many before":              {history(Deployed, Superseded, Superseded, Superseded, Superseded, Superseded), 5},
		"failures between":         {history(Failed, Failed, Failed, Superseded, Superseded), 5},
		"many failures between":    {history(Failed, Failed, Failed, Failed, Failed, Failed, Superseded, Superseded), 7},
		"nothing good":             {history(Failed, Failed, Failed, Failed, Failed, Failed, Failed), 5},
		"the first is not counted": {history(Deployed, Failed), 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Truncate(tt.history, false); len(got) != tt.want {
				t.Errorf("%d are kept, not %d", len(got), tt.want)
			}
		})
	}
}
