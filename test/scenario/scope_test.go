package scenario

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/kit"
)

const vaneCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: vanes.later.example.dev}
spec:
  group: later.example.dev
  scope: Cluster
  names: {kind: Vane, plural: vanes, singular: vane}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// TestInventoryWithWrongScope begins with an inventory in which an object has a namespace whose kind has none: it
// was written while the scope was unknown.
func TestInventoryWithWrongScope(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{})
	f := newFleet(t, k)
	vane := func(name string) {
		writeFile(t, filepath.Join(f.repo, "a", "vane.yaml"), fmt.Sprintf("apiVersion: later.example.dev/v1\nkind: Vane\nmetadata: {name: %s}\n", name))
	}
	writeFile(t, filepath.Join(f.repo, "a", "crd.yaml"), vaneCRD)
	vane("old")
	f.push("1")
	f.condition("ks", "c", "True", "main@sha1:")
	k.StopEngine()

	vanes, units := f.world.client.Resource(schemaGVR{Group: "later.example.dev", Version: "v1", Resource: "vanes"}),
		f.world.client.Resource(schemaGVR{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}).Namespace("fleet")
	inventory := func() (entries []any, text string) {
		u, err := units.Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		entries, _, _ = unstructured.NestedSlice(u.Object, "status", "inventory", "entries")
		return entries, field(u, "status.inventory.entries")
	}
	entries, text := inventory()
	if !strings.Contains(text, `"_old_later.example.dev_Vane"`) {
		t.Fatalf("the inventory is %s", text)
	}
	for _, entry := range entries {
		if e, _ := entry.(map[string]any); e["id"] == "_old_later.example.dev_Vane" {
			e["id"] = "fleet_old_later.example.dev_Vane"
		}
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"inventory": map[string]any{"entries": entries}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := units.Patch(t.Context(), "a", types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}

	vane("new")
	f.push("2")
	if err := k.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.settled("2")
	eventually(t, "one vane has taken the place of the other", func() (bool, string) {
		_, old := vanes.Get(t.Context(), "old", metav1.GetOptions{})
		_, now := vanes.Get(t.Context(), "new", metav1.GetOptions{})
		_, text := inventory()
		return apierrors.IsNotFound(old) && now == nil && strings.Contains(text, `"_new_later.example.dev_Vane"`) && !strings.Contains(text, "_old_"),
			fmt.Sprint(old, now, text)
	})
}
