package objects

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// read reads an object that a test has as YAML.
func read(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return u
}

// wrap is an Object with a manifest.
func wrap(t *testing.T, namespace, manifest string) *unstructured.Unstructured {
	t.Helper()
	o := read(t, "{apiVersion: kubernetes.crossplane.io/v1alpha2, kind: Object, metadata: {name: a}, spec: {forProvider: {}}}")
	o.SetNamespace(namespace)
	var m map[string]any
	if err := yaml.Unmarshal([]byte(manifest), &m); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedMap(o.Object, m, "spec", "forProvider", "manifest"); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestParseManifest gives a manifest the name of its Object, and knows a Secret that is only to be read.
func TestParseManifest(t *testing.T) {
	for name, tc := range map[string]struct {
		namespace, manifest string
		named               string
		bare, bad           bool
	}{
		"Named":      {"", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: ns}}", "ns/b", false, false},
		"Defaulted":  {"", "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns}}", "ns/a", false, false},
		"Generated":  {"", "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: b-, namespace: ns}}", "ns/a", false, false},
		"Namespaced": {"own", "{apiVersion: v1, kind: ConfigMap}", "own/a", false, false},
		"Other":      {"own", "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns}}", "ns/a", false, false},
		"Bare":       {"", "{apiVersion: v1, kind: Secret, metadata: {name: b, namespace: ns}}", "ns/b", true, false},
		"Payload":    {"", "{apiVersion: v1, kind: Secret, metadata: {name: b, namespace: ns}, data: {}}", "ns/b", false, false},
		"Typed":      {"", "{apiVersion: v1, kind: Secret, metadata: {name: b, namespace: ns}, type: Opaque}", "ns/b", false, false},
		"NotASecret": {"", "{apiVersion: x/v1, kind: Secret, metadata: {name: b, namespace: ns}}", "ns/b", false, false},
		"Kindless":   {"", "{apiVersion: v1}", "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := parseManifest(wrap(t, tc.namespace, tc.manifest))
			if (err != nil) != tc.bad {
				t.Fatalf("the error is %v", err)
			}
			if !tc.bad && (m.GetNamespace()+"/"+m.GetName() != tc.named || m.bare != tc.bare) {
				t.Errorf("%s/%s, bare %v", m.GetNamespace(), m.GetName(), m.bare)
			}
		})
	}
}

// TestPatch takes values of other objects. Those of Secrets are decoded where they become text, and are not shown.
func TestPatch(t *testing.T) {
	const secret = "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, data: {word: dGhlLXdvcmQ=, raw: /w==, bad: '%%%'}}"
	for name, tc := range map[string]struct {
		manifest, from, at, to string
		want                   string
		fails                  string
	}{
		"Text":       {"{apiVersion: v1, kind: ConfigMap}", secret, "data.word", "data.word", `{"word":"the-word"}`, ""},
		"Secret":     {"{apiVersion: v1, kind: Secret, type: Opaque}", secret, "data.word", "data.word", `{"word":"dGhlLXdvcmQ="}`, ""},
		"Metadata":   {"{apiVersion: v1, kind: ConfigMap}", secret, "metadata.name", "data.name", `{"name":"s"}`, ""},
		"Binary":     {"{apiVersion: v1, kind: ConfigMap}", secret, "data.raw", "data.raw", "", "its value is not text"},
		"NotBase64":  {"{apiVersion: v1, kind: ConfigMap}", secret, "data.bad", "data.bad", "", "not base64"},
		"Missing":    {"{apiVersion: v1, kind: ConfigMap}", secret, "data.none", "data.none", "", "data.none: no such field"},
		"Map":        {"{apiVersion: v1, kind: ConfigMap}", "{apiVersion: v1, kind: Secret, data: {a: YQ==, b: Yg==}}", "data", "data", `{"a":"a","b":"b"}`, ""},
		"ConfigMap":  {"{apiVersion: v1, kind: Secret, type: Opaque}", "{apiVersion: v1, kind: ConfigMap, data: {k: dg==}}", "data.k", "data.k", `{"k":"dg=="}`, ""},
		"Unreadable": {"{apiVersion: v1, kind: ConfigMap}", secret, "data[", "data", "", "patchesFrom.fieldPath"},
		"Target":     {"{apiVersion: v1, kind: ConfigMap, data: {k: text}}", secret, "data.word", "data.k.deeper", "", `toFieldPath "data.k.deeper"`},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := parseManifest(wrap(t, "", tc.manifest))
			if err != nil {
				t.Fatal(err)
			}
			err = m.patch(tc.to, read(t, tc.from), tc.at)
			if (err != nil) != (tc.fails != "") || err != nil && (!strings.Contains(err.Error(), tc.fails) || strings.Contains(err.Error(), "the-word")) {
				t.Fatalf("the error is %v, want %q", err, tc.fails)
			}
			if err != nil {
				return
			}
			if got := text(t, m.Object["data"]); got != tc.want {
				t.Errorf("the data is %s, want %s", got, tc.want)
			}
			shown := text(t, m.shown(m.Unstructured))
			if strings.Contains(shown, "the-word") || strings.Contains(shown, "dGhlLXdvcmQ=") {
				t.Errorf("a value is shown: %s", shown)
			}
		})
	}
}

func text(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestShown hides the values of a Secret wherever an object has them.
func TestShown(t *testing.T) {
	m, err := parseManifest(wrap(t, "", "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}}"))
	if err != nil {
		t.Fatal(err)
	}
	live := read(t, `
apiVersion: v1
kind: Secret
metadata:
  name: s
  namespace: ns
  annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"data":{"k":"dg=="}}', other: stays}
  managedFields: [{manager: m, operation: Apply, fieldsType: FieldsV1, fieldsV1: {"f:data": {}}}]
data: {k: dg==}
stringData: {k: v}
`)
	want := read(t, `
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: ns, annotations: {other: stays}}
data: {redacted: ""}
stringData: {redacted: ""}
`)
	if diff := cmp.Diff(want.Object, m.shown(live)); diff != "" {
		t.Error(diff)
	}
	if value, _, _ := unstructured.NestedString(live.Object, "data", "k"); value != "dg==" {
		t.Error("the object itself was changed")
	}
}

// TestCleaned quotes no values of an object that an API server refuses.
func TestCleaned(t *testing.T) {
	refused := apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "s", field.ErrorList{field.Invalid(field.NewPath("data"), "the-word", "illegal base64: the-word")})
	if got := cleaned(refused).Error(); strings.Contains(got, "the-word") || !strings.Contains(got, "data: FieldValueInvalid") {
		t.Errorf("a refused object: %s", got)
	}
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "s", errors.New("no rights"))
	if got := cleaned(denied).Error(); !strings.Contains(got, "no rights") {
		t.Errorf("a denied request: %s", got)
	}
}
