package managed

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// object is a version of a resource.
func object(uid, version string, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}}}
	o.SetUID(types.UID(uid))
	o.SetResourceVersion(version)
	o.SetGeneration(1)
	if change != nil {
		change(o)
	}
	return o
}

func deleting(o *unstructured.Unstructured) {
	o.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
}

func annotated(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{"by": "the pass"}) }

// TestHeld has passes made for what others change, and for nothing that a pass has written itself.
func TestHeld(t *testing.T) {
	key := Key{Kind: "Toy", Name: "a"}
	first := object("1", "9", nil)
	for name, tc := range map[string]struct {
		reason string
		// during are what the watch brings during a pass, wrote what its last write returned, after what the watch brings then.
		during []*unstructured.Unstructured
		wrote  *unstructured.Unstructured
		after  *unstructured.Unstructured
		// outdated is what the end of the pass says, news what the watch does after it.
		outdated, news bool
	}{
		"Nothing":    {"nothing happens", nil, nil, nil, false, false},
		"Deleted":    {"a deletion during the pass is told at its end", []*unstructured.Unstructured{object("1", "10", deleting)}, nil, nil, true, false},
		"Later":      {"one after it is told at once", nil, nil, object("1", "10", deleting), false, true},
		"Status":     {"a status is not", nil, nil, object("1", "10", nil), false, false},
		"Own":        {"the notice of an own write may come before its answer", []*unstructured.Unstructured{object("1", "10", annotated)}, object("1", "10", annotated), nil, false, false},
		"OwnLate":    {"or after the pass", nil, object("1", "10", annotated), object("1", "10", annotated), false, false},
		"OwnDeleted": {"a deletion after an own write is news", []*unstructured.Unstructured{object("1", "11", func(o *unstructured.Unstructured) { annotated(o); deleting(o) })}, object("1", "10", annotated), nil, true, false},
		"Another":    {"another object of the name is news", nil, nil, object("2", "10", nil), false, true},
		"Stale":      {"an older version is not", nil, object("1", "10", nil), object("1", "9", deleting), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHeld()
			if !h.put(key, first) {
				t.Fatal("what appears is no news")
			}
			known := h.begin(key)
			for _, o := range tc.during {
				if h.put(key, o) {
					t.Errorf("%s: a pass in progress is woken", tc.reason)
				}
			}
			if tc.wrote != nil {
				h.wrote(key, tc.wrote)
				known = tc.wrote
			}
			if outdated := h.end(key, known); outdated != tc.outdated {
				t.Errorf("%s: outdated is %t", tc.reason, outdated)
			}
			if news := tc.after != nil && h.put(key, tc.after); news != tc.news {
				t.Errorf("%s: news is %t", tc.reason, news)
			}
		})
	}
	t.Run("Gone", func(t *testing.T) {
		h := newHeld()
		h.put(key, first)
		h.begin(key)
		h.drop(key)
		h.wrote(key, object("1", "10", nil))
		if h.get(key) != nil {
			t.Error("a write has brought back what is gone")
		}
		if again := object("2", "11", nil); !h.put(key, again) || h.end(key, first) != true {
			t.Error("what is created under the name of what is gone is no news")
		}
	})
}
