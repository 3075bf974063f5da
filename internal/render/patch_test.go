package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
)

func TestPatch(t *testing.T) {
	const rendered = `apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  containers:
  - image: busybox:1
    name: c
`
	annotate := types.Patch{
		Patch:  `[{"op": "add", "path": "/metadata/annotations", "value": {"k": "v"}}]`,
		Target: &types.Selector{ResId: resid.ResId{Name: "a"}},
	}
	for name, tt := range map[string]struct {
		patches []types.Patch
		images  []types.Image
		want    string
		fails   string
	}{
		"images": {
			images: []types.Image{{Name: "busybox", NewName: "mirror/busybox", NewTag: "2"}},
			want:   strings.Replace(rendered, "busybox:1", "mirror/busybox:2", 1),
		},
		"patches": {
			patches: []types.Patch{annotate},
			want:    strings.Replace(rendered, "metadata:\n", "metadata:\n  annotations:\n    k: v\n", 1),
		},
		"a patch from a file": {patches: []types.Patch{{Path: "/etc/hostname"}}, fails: "patching rendered objects"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := New().Patch([]byte(rendered), tt.patches, tt.images)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("got error %v, want one with %q", err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPatchWithStandIn leaves out the patches that what stands in has nothing for, each of them alone.
func TestPatchWithStandIn(t *testing.T) {
	const rendered = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
	at := func(name, path string) types.Patch {
		return types.Patch{
			Patch:  `[{"op": "add", "path": "` + path + `", "value": "v"}]`,
			Target: &types.Selector{ResId: resid.ResId{Gvk: resid.Gvk{Kind: "ConfigMap"}, Name: name}},
		}
	}
	patches := []types.Patch{
		at("a", "/spec/volumes/0"), at("a", "/first"), {Patch: "{apiVersion: v1, kind: ConfigMap, metadata: {name: absent}, data: {k: v}}"}, at("a", "/second"), at("none", "/third"),
	}
	var told []string
	got, err := New().PatchWithStandIn([]byte(rendered), patches, nil, func(entry string) { told = append(told, entry) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("apiVersion: v1\nfirst: v\nkind: ConfigMap\nmetadata:\n  name: a\nsecond: v\n", string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`patches[0] for ConfigMap "a"`, "patches[2]"}, told); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}
