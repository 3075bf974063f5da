package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestExpected has what needs a kind wait until its definition is established, and nothing else.
func TestExpected(t *testing.T) {
	crd := func(kind string, conditions ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"kind":     "CustomResourceDefinition",
			"metadata": map[string]any{"name": kind + ".example.dev"},
			"spec": map[string]any{
				"group": "example.dev", "names": map[string]any{"kind": kind, "plural": kind},
				"versions": []any{map[string]any{"name": "v1", "served": true}, map[string]any{"name": "v1beta1", "served": false}},
			},
			"status": map[string]any{"conditions": conditions},
		}}
	}
	established := map[string]any{"type": "Established", "status": "True"}
	object := func(kind string) []*unstructured.Unstructured {
		return []*unstructured.Unstructured{{Object: map[string]any{"apiVersion": "example.dev/v1", "kind": kind}}}
	}
	synctest.Test(t, func(t *testing.T) {
		k := newKinds(nil, deaf{})
		k.put(crd("Served", established))
		k.Expect([]*unstructured.Unstructured{crd("Served"), crd("First"), crd("Second")})
		var mu sync.Mutex
		ended := map[string]error{}
		wait := func(name string, await func(context.Context) error) {
			go func() {
				err := await(t.Context())
				mu.Lock()
				defer mu.Unlock()
				ended[name] = err
			}()
		}
		for _, kind := range []string{"Served", "First", "Second", "Other"} {
			wait(kind, func(ctx context.Context) error { return k.Await(ctx, object(kind)) })
		}
		wait("all", k.AwaitAll)
		are := func(when string, want map[string]error) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if diff := cmp.Diff(want, ended); diff != "" {
				t.Errorf("%s, these waits have ended (-want +got):\n%s", when, diff)
			}
		}
		are("before anything is applied", map[string]error{"Served": nil, "Other": nil})
		k.put(crd("First"))
		are("when the first is defined", map[string]error{"Served": nil, "Other": nil})
		k.put(crd("First", established))
		are("when the first is served", map[string]error{"Served": nil, "Other": nil, "First": nil})
		announced := func(when string) {
			t.Helper()
			var got []string
			for _, gvk := range k.Announced() {
				got = append(got, gvk.Kind+" "+gvk.Version)
			}
			slices.Sort(got)
			if diff := cmp.Diff([]string{"First v1", "Second v1", "Served v1"}, got); diff != "" {
				t.Errorf("%s, these kinds are announced (-want +got):\n%s", when, diff)
			}
		}
		announced("while one is expected")
		over, end := context.WithCancelCause(t.Context())
		why := errors.New("the end")
		end(why)
		if err := k.AwaitAll(over); !errors.Is(err, why) {
			t.Errorf("a wait that is cancelled ends with %v", err)
		}
		k.put(crd("Second", established))
		are("when all are served", map[string]error{"Served": nil, "Other": nil, "First": nil, "Second": nil, "all": nil})
		announced("when all are served")
	})
}
