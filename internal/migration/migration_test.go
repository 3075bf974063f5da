package migration

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Those are paused first that would start the others again; the shards of a controller with it.
func TestTurns(t *testing.T) {
	list := []Deployment{
		{Name: "source-controller"},
		{Name: "helm-controller-shard1"},
		{Name: "kustomize-controller"},
		{Name: "helm-controller"},
		{Name: "notification-controller"},
		{Name: "flux-operator"},
	}
	slices.SortStableFunc(list, byTurn)
	var got []string
	for _, d := range list {
		got = append(got, d.Name)
	}
	want := []string{
		"flux-operator", "kustomize-controller", "helm-controller-shard1", "helm-controller", "source-controller", "notification-controller",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestChanged(t *testing.T) {
	before := Fingerprint{"a": "u1 generation 1", "b": "u2 version 7", "c": "u3 generation 1", "d": "u4 generation 1", "e": "missing", "f": "u6 generation 2"}
	after := Fingerprint{"a": "u1 generation 1", "b": "u2 version 8", "c": "u9 generation 1", "d": "missing", "e": "missing"}
	want := []string{"b was changed", "c was made anew", "d is gone", "f is held by nobody any more"}
	if diff := cmp.Diff(want, before.Changed(after)); diff != "" {
		t.Error(diff)
	}
}
