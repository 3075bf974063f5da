package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRehome(t *testing.T) {
	const ours = "argocd-controller"
	update := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		at := metav1.Unix(100, 0)
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", Subresource: subresource, Time: &at,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	const image = `{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{}}},"f:replicas":{}}}`
	cases := map[string]struct {
		reason  string
		entries []metav1.ManagedFieldsEntry
		former  []string
		left    []string
		// want are the fields by manager, operation and subresource; nil when nothing changes.
		want map[string]string
	}{
		"nothing": {"there is nothing to move", []metav1.ManagedFieldsEntry{applied(ours, image), update("x", "", `{"f:a":{}}`)}, nil, []string{"/spec/paused"}, nil},
		"given": {
			"a field that is left to others",
			[]metav1.ManagedFieldsEntry{applied(ours, image)},
			nil,
			[]string{"/spec/replicas"},
			map[string]string{
				ours + " Apply ":   `{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{}}}}}`,
				Keeper + " Apply ": `{"f:spec":{"f:replicas":{}}}`,
			},
		},
		"element field": {
			"of an element, the field alone",
			[]metav1.ManagedFieldsEntry{applied(ours, image)},
			nil,
			[]string{"/spec/containers/0/image"},
			map[string]string{
				ours + " Apply ":   `{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}},"f:replicas":{}}}`,
				Keeper + " Apply ": `{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:image":{}}}}}`,
			},
		},
		"all": {
			"whoever has nothing left has no entry",
			[]metav1.ManagedFieldsEntry{applied(ours, `{"f:spec":{"f:replicas":{}}}`)},
			nil,
			[]string{"/spec"},
			map[string]string{Keeper + " Apply ": `{"f:spec":{"f:replicas":{}}}`},
		},
		"kept": {"what is kept stays", []metav1.ManagedFieldsEntry{applied(Keeper, `{"f:spec":{"f:replicas":{}}}`)}, nil, []string{"/spec/replicas"}, nil},
		"back": {
			"what is left to others no more is ours",
			[]metav1.ManagedFieldsEntry{applied(ours, `{"f:spec":{"f:x":{}}}`), applied(Keeper, `{"f:spec":{"f:replicas":{},"f:rules":{}}}`)},
			nil,
			[]string{"/spec/rules"},
			map[string]string{ours + " Apply ": `{"f:spec":{"f:replicas":{},"f:x":{}}}`, Keeper + " Apply ": `{"f:spec":{"f:rules":{}}}`},
		},
		"former": {
			"updates of former managers, but not those of subresources",
			[]metav1.ManagedFieldsEntry{
				update("kubectl-client-side-apply", "", `{"f:spec":{"f:replicas":{},"f:x":{}}}`), update("helm", "", `{"f:spec":{"f:y":{}}}`),
				update("helm", "status", `{"f:status":{}}`), update("other", "", `{"f:spec":{"f:z":{}}}`), applied("helm", `{"f:spec":{"f:h":{}}}`),
			},
			[]string{"kubectl-client-side-apply", "helm", ours},
			[]string{"/spec/replicas"},
			map[string]string{
				ours + " Apply ":   `{"f:spec":{"f:x":{},"f:y":{}}}`,
				Keeper + " Apply ": `{"f:spec":{"f:replicas":{}}}`, "helm Update status": `{"f:status":{}}`,
				"other Update ": `{"f:spec":{"f:z":{}}}`, "helm Apply ": `{"f:spec":{"f:h":{}}}`,
			},
		},
		"own updates": {
			"what we wrote otherwise",
			[]metav1.ManagedFieldsEntry{applied(ours, `{"f:spec":{"f:x":{}}}`), update(ours, "", `{"f:spec":{"f:y":{}}}`)},
			[]string{ours},
			nil,
			map[string]string{ours + " Apply ": `{"f:spec":{"f:x":{},"f:y":{}}}`},
		},
		"not migrated": {"updates stay where they are unless they are taken over", []metav1.ManagedFieldsEntry{update(ours, "", `{"f:spec":{"f:replicas":{}}}`)}, nil, []string{"/spec/replicas"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := placed(t)
			list, err := places(u, pointers(t, c.left...))
			if err != nil {
				t.Fatal(err)
			}
			u.SetManagedFields(c.entries)
			h := homes{ours: ours, former: c.former, left: leftOut(list)}
			entries, changed, err := h.rehome(u)
			if err != nil || changed != (c.want != nil) {
				t.Fatalf("%s: changed %v, %v", c.reason, changed, err)
			}
			var got map[string]string
			for _, e := range entries {
				if got == nil {
					got = map[string]string{}
				}
				got[e.Manager+" "+string(e.Operation)+" "+e.Subresource] = string(e.FieldsV1.GetRawBytes())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			u.SetManagedFields(entries)
			if _, again, err := h.rehome(u); again || err != nil {
				t.Errorf("%s: it moves something again: %v", c.reason, err)
			}
		})
	}
	u := placed(t)
	u.SetManagedFields([]metav1.ManagedFieldsEntry{applied(ours, `{"f":{}}`)})
	if _, _, err := (homes{ours: ours}).rehome(u); err == nil {
		t.Error("managed fields that cannot be read are no error")
	}
}
