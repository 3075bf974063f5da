package apply

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/internal/engine"
)

func invalid(errs ...*field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "x", errs)
}

func TestUnchangeable(t *testing.T) {
	spec := field.NewPath("spec")
	cases := map[string]struct {
		err  error
		want bool
	}{
		"immutable":     {invalid(field.Invalid(spec.Child("selector"), "x", "field is immutable")), true},
		"stateful set":  {invalid(field.Forbidden(spec, "updates to statefulset spec for fields other than 'replicas' are forbidden")), true},
		"pod":           {invalid(field.Forbidden(spec, "pod updates may not change fields other than `spec.containers[*].image`")), true},
		"claim":         {invalid(field.Forbidden(spec, "spec is immutable after creation except resources.requests")), true},
		"cluster IP":    {invalid(field.Invalid(spec.Child("clusterIPs").Index(0), "10.0.0.1", "may not change once set")), true},
		"role":          {invalid(field.Invalid(field.NewPath("roleRef"), "x", "cannot change roleRef")), true},
		"bad value":     {invalid(field.Invalid(spec.Child("replicas"), -1, "must be greater than or equal to 0")), false},
		"missing value": {invalid(field.Required(spec.Child("template"), "")), false},
		"forbidden":     {apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "x", errors.New("updates to it are not allowed")), false},
		"none":          {nil, false},
	}
	for name, c := range cases {
		if got := unchangeable(c.err); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	err := invalid(field.Forbidden(spec, "updates to it are forbidden"), field.Forbidden(spec, "twice"), field.Required(spec.Child("a"), ""))
	if diff := cmp.Diff([]string{"spec", "spec.a"}, invalidFields(fmt.Errorf("applying: %w", err))); diff != "" {
		t.Errorf("the fields (-want +got):\n%s", diff)
	}
	if fields := invalidFields(errors.New("spec: no")); fields != nil {
		t.Errorf("the fields of another error: %v", fields)
	}
}

func TestRefusals(t *testing.T) {
	hook := apierrors.NewBadRequest(`admission webhook "x" does not support dry run`)
	if !noDryRun(fmt.Errorf("trying: %w", hook)) || noDryRun(apierrors.NewBadRequest("no")) || noDryRun(errors.New("does not support dry run")) {
		t.Error("a webhook that cannot be tried is not told from other refusals")
	}
	typed := apierrors.NewInternalError(errors.New("failed to create typed patch object (n/x; v1, Kind=Secret): .stringData.a: expected string, got &value.valueUnstructured{Value:\"two\nlines\"}"))
	typed.ErrStatus.Code = http.StatusInternalServerError
	s := &scribe{id: engine.ObjectID{Kind: "Secret", Name: "x"}}
	err := s.worded(typed)
	if !mistyped(typed) || Transient(err) || err.Error() != "refused as invalid: stringData.a: expected string" {
		t.Errorf("a field of another type: %v", err)
	}
	long := invalid(field.Forbidden(field.NewPath("spec"), "spec is immutable\n@@ -1 +1 @@"), field.Invalid(field.NewPath("data").Key("k"), "hidden", "no"))
	want := `Pod "x" is invalid: [spec: Forbidden: spec is immutable, data[k]: FieldValueInvalid]; to delete and recreate it, set the annotation ` +
		`argocd.argoproj.io/sync-options: Replace=true,Force=true`
	if diff := cmp.Diff(want, s.worded(long).Error()); diff != "" {
		t.Errorf("a refusal of a Secret (-want +got):\n%s", diff)
	}
	s.id.Kind = "Pod"
	if err := s.worded(long); !strings.Contains(err.Error(), `data[k]: Invalid value: "hidden": no`) || !apierrors.IsInvalid(err) {
		t.Errorf("a refusal of a Pod: %v", err)
	}
	one := invalid(field.Required(field.NewPath("spec", "a"), ""))
	if got := s.worded(one).Error(); got != `Pod "x" is invalid: spec.a: Required value` {
		t.Errorf("a refusal for one field: %s", got)
	}
	if mistyped(apierrors.NewInternalError(errors.New("etcd is slow"))) {
		t.Error("any internal error counts as one of types")
	}
}

func TestComputedDigest(t *testing.T) {
	object := parsed(t, "spec: {a: 1}")
	base := Order{Object: object}
	seen := map[string]string{}
	for name, o := range map[string]Order{
		"base": base, "object": {Object: parsed(t, "spec: {a: 2}")}, "mode": {Object: object, Mode: Replace}, "force": {Object: object, Force: true},
		"migrate": {Object: object, Migrate: true}, "manager": {Object: object, Migrate: true, MigrateManager: "x"},
		"ignored": {Object: object, Ignored: func(*unstructured.Unstructured) []engine.Pointer { return nil }},
	} {
		digest, err := o.computed()
		if err != nil {
			t.Fatal(err)
		}
		if other, known := seen[digest]; known {
			t.Errorf("%s and %s have the same digest", name, other)
		}
		seen[digest] = name
	}
	again, err := base.computed()
	if err != nil || seen[again] != "base" {
		t.Errorf("the digest is another one each time: %v", err)
	}
}

func TestThreeWay(t *testing.T) {
	object := func(gv, kind, spec string) *unstructured.Unstructured {
		u := parsed(t, spec)
		u.SetAPIVersion(gv)
		u.SetKind(kind)
		return u
	}
	cases := map[string]struct {
		reason, gv, kind   string
		last, live, wanted string
		patchType          types.PatchType
		want               string
	}{
		"built in": {
			"lists are merged by their keys", "v1", "Pod", "spec: {containers: [{name: a, image: x}, {name: b, image: x}]}",
			"spec: {containers: [{name: a, image: x}, {name: b, image: x}, {name: injected, image: z}]}", "spec: {containers: [{name: a, image: w}]}",
			types.StrategicMergePatchType,
			`{"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"image":"w","name":"a"},{"$patch":"delete","name":"b"}]}}`,
		},
		"custom": {
			"lists are taken as a whole", "example.com/v1", "Thing", "spec: {list: [1], gone: 1}", "spec: {list: [1, 2], gone: 1, theirs: 1}", "spec: {list: [3]}",
			types.MergePatchType, `{"spec":{"gone":null,"list":[3]}}`,
		},
		"never applied": {"without a last configuration nothing is removed", "example.com/v1", "Thing", "", "spec: {theirs: 1}", "spec: {a: 1}", types.MergePatchType, `{"spec":{"a":1}}`},
		"same":          {"there is nothing to do", "v1", "ConfigMap", "data: {a: b}", "data: {a: b, c: d}", "data: {a: b}", types.StrategicMergePatchType, `{}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			live, wanted := object(c.gv, c.kind, c.live), object(c.gv, c.kind, c.wanted)
			if c.last != "" {
				last, err := annotated(object(c.gv, c.kind, c.last))
				if err != nil {
					t.Fatal(err)
				}
				live.SetAnnotations(last.GetAnnotations())
			}
			kind, patch, err := threeWay(live, wanted)
			if err != nil || kind != c.patchType {
				t.Fatalf("%s: %s, %v", c.reason, kind, err)
			}
			var want, got any
			if err := errors.Join(json.Unmarshal([]byte(c.want), &want), json.Unmarshal(patch, &got)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	live := object("v1", "Pod", "spec: {secret: hidden}")
	live.SetAnnotations(map[string]string{lastApplied: `{"hidden`})
	if _, _, err := threeWay(live, object("v1", "Pod", "")); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("an annotation that cannot be read: %v", err)
	}
}

func TestAnnotated(t *testing.T) {
	desired := parsed(t, "spec: {a: 1}")
	desired.SetAnnotations(map[string]string{"x": "y", lastApplied: "old"})
	out, err := annotated(desired)
	if err != nil {
		t.Fatal(err)
	}
	var last map[string]any
	if err := json.Unmarshal([]byte(out.GetAnnotations()[lastApplied]), &last); err != nil {
		t.Fatal(err)
	}
	desired.SetAnnotations(map[string]string{"x": "y"})
	if diff := cmp.Diff(desired.GetAnnotations(), (&unstructured.Unstructured{Object: last}).GetAnnotations()); diff != "" {
		t.Errorf("the annotations in the annotation (-want +got):\n%s", diff)
	}
	live := parsed(t, "")
	live.SetAnnotations(map[string]string{"big": strings.Repeat("x", 262144-len(lastApplied)-len("big")-len(out.GetAnnotations()[lastApplied])-len("xy"))})
	if !fits(out, live) {
		t.Error("what just fits does not")
	}
	live.SetAnnotations(map[string]string{"big": live.GetAnnotations()["big"] + "x"})
	if fits(out, live) || !fits(out, nil) {
		t.Error("what others annotate does not count")
	}
	patch, err := at([]byte(`{"metadata":{"labels":{"a":"b"}}}`), "7")
	if err != nil || string(patch) != `{"metadata":{"labels":{"a":"b"},"resourceVersion":"7"}}` {
		t.Errorf("a patch of one version: %s, %v", patch, err)
	}
}

func TestDifferent(t *testing.T) {
	live := parsed(t, "spec: {a: 1, list: [1, 2], theirs: 1}\nstatus: {x: 1}")
	live.SetResourceVersion("1")
	live.SetGeneration(1)
	live.SetAnnotations(map[string]string{lastApplied: "x"})
	cases := map[string]struct {
		reason, predicted string
		want              []string
	}{
		"same":    {"what the server keeps does not count", "spec: {a: 1, list: [1, 2], theirs: 1}\nstatus: {x: 2}", nil},
		"changed": {"another value", "spec: {a: 2, list: [1, 3], theirs: 1}", []string{"spec.a", "spec.list[1]"}},
		"removed": {"what would go", "spec: {a: 1, list: [1]}", []string{"spec.list", "spec.theirs"}},
		"added":   {"what would come", "spec: {a: 1, list: [1, 2], theirs: 1, new: {x: 1}}", []string{"spec.new"}},
	}
	for name, c := range cases {
		predicted := parsed(t, c.predicted)
		predicted.SetManagedFields([]metav1.ManagedFieldsEntry{applied("x", "{}")})
		if diff := cmp.Diff(c.want, different(nil, predicted, live)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}

func TestDropped(t *testing.T) {
	live := parsed(t, "spec: {a: 1, gone: 1, sub: {x: 1, z: 1}, defaulted: 1}\nstatus: {x: 1}")
	live.SetAnnotations(map[string]string{lastApplied: `{"apiVersion":"v1","kind":"X","metadata":{"name":"x","creationTimestamp":null,"annotations":{}},
		"spec":{"a":2,"gone":1,"sub":{"x":1,"z":1},"already":1},"status":{"x":1}}`})
	got := texts(dropped(live, parsed(t, "spec: {a: 1, sub: {x: 1}}")))
	if diff := cmp.Diff([]string{"spec.gone", "spec.sub.z"}, got); diff != "" {
		t.Errorf("the fields (-want +got):\n%s", diff)
	}
	live.SetAnnotations(map[string]string{lastApplied: "{"})
	if got := dropped(live, parsed(t, "")); got != nil {
		t.Errorf("an annotation that cannot be read: %v", got)
	}
}

func TestStages(t *testing.T) {
	var set Set
	for _, kind := range []string{
		"CustomResourceDefinition", "Namespace", "ClusterRole", "StorageClass", "ServiceAccount", "ConfigMap", "ConfigMap", "Deployment", "Anything",
		"ValidatingWebhookConfiguration",
	} {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("v1")
		o.SetKind(kind)
		set.Orders = append(set.Orders, Order{Object: o})
	}
	var stages []int
	for _, stage := range set.stages() {
		stages = append(stages, len(stage))
	}
	if diff := cmp.Diff([]int{3, 1, 5, 1}, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}
