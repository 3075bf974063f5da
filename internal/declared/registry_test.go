package declared

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// version is a ConfigMap as it was at a time.
func version(uid, version, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": "apps", "name": "a", "uid": uid, "resourceVersion": version},
		"data":     map[string]any{"value": value},
	}}
}

func TestRegistryHoldsTheLatest(t *testing.T) {
	cases := map[string]struct {
		reason string
		put    []*unstructured.Unstructured
		want   string
	}{
		"one":           {"what is put is held", []*unstructured.Unstructured{version("1", "7", "a")}, "a"},
		"a later one":   {"a later version takes its place", []*unstructured.Unstructured{version("1", "7", "a"), version("1", "8", "b")}, "b"},
		"a longer one":  {"versions are numbers", []*unstructured.Unstructured{version("1", "9", "a"), version("1", "10", "b")}, "b"},
		"an older one":  {"news that come late are not taken", []*unstructured.Unstructured{version("1", "10", "b"), version("1", "9", "a")}, "b"},
		"another one":   {"what was created again is another object", []*unstructured.Unstructured{version("1", "10", "a"), version("2", "9", "b")}, "b"},
		"the same":      {"the same again changes nothing", []*unstructured.Unstructured{version("1", "9", "a"), version("1", "9", "b")}, "a"},
		"none":          {"there is nothing before", nil, ""},
		"two and older": {"of three the latest is held", []*unstructured.Unstructured{version("1", "1", "a"), version("1", "3", "c"), version("1", "2", "b")}, "c"},
	}
	id := engine.UnitID{Kind: "ConfigMap", Namespace: "apps", Name: "a"}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := NewRegistry[corev1.ConfigMap](schema.GroupKind{Kind: "ConfigMap"})
			for _, u := range c.put {
				got, err := r.Put(u)
				if err != nil {
					t.Fatal(err)
				}
				if now, _ := r.Get(id); got != now {
					t.Errorf("%s: put returned %v, and %v is held", c.reason, got, now)
				}
			}
			got, there := r.Get(id)
			if there != (c.want != "") || there && got.Data["value"] != c.want {
				t.Errorf("%s: held is %v, want %q", c.reason, got, c.want)
			}
			if n := len(r.All()); n > 1 || (n == 1) != there {
				t.Errorf("%s: %d are held", c.reason, n)
			}
			if raw := r.Raw(id); (raw != nil) != there || there && raw["data"].(map[string]any)["value"] != c.want {
				t.Errorf("%s: the raw form is %v", c.reason, raw)
			}
			r.Drop(id)
			if _, there := r.Get(id); there || r.Raw(id) != nil || len(r.All()) > 0 {
				t.Errorf("%s: it is held after it has gone", c.reason)
			}
		})
	}
}

func TestRegistryRefusesWhatItCannotRead(t *testing.T) {
	r := NewRegistry[corev1.ConfigMap](schema.GroupKind{Kind: "ConfigMap"})
	u := version("1", "7", "a")
	u.Object["data"] = "no map"
	_, err := r.Put(u)
	if err == nil || len(r.All()) > 0 {
		t.Fatalf("it was taken: %v", r.All())
	}
	if diff := cmp.Diff("reading ConfigMap apps/a: ", err.Error()[:len("reading ConfigMap apps/a: ")]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
