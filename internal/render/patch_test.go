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
