package v1alpha1

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

func TestRoundTrip(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   string
		into   func() any
		kind   reflect.Type
	}{
		"Workflows": {
			reason: "what a Workflow says and what was said of it comes back as it was, and the sample has every field",
			file:   "testdata/workflows.yaml", into: func() any { return &Workflow{} }, kind: reflect.TypeFor[Workflow](),
		},
		"WorkflowTemplates": {
			reason: "so do templates",
			file:   "testdata/templates.yaml", into: func() any { return &WorkflowTemplate{} }, kind: reflect.TypeFor[WorkflowTemplate](),
		},
		"ClusterWorkflowTemplates": {
			reason: "and those for all namespaces",
			file:   "testdata/clustertemplates.yaml", into: func() any { return &ClusterWorkflowTemplate{} }, kind: reflect.TypeFor[ClusterWorkflowTemplate](),
		},
		"CronWorkflows": {
			reason: "so do schedules",
			file:   "testdata/cronworkflows.yaml", into: func() any { return &CronWorkflow{} }, kind: reflect.TypeFor[CronWorkflow](),
		},
	}
	seen := fields{}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, sample := range documents(t, tc.file) {
				object := tc.into()
				if err := yaml.UnmarshalStrict(sample, object); err != nil {
					t.Fatalf("%s: %v", tc.reason, err)
				}
				again, err := json.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(plain(t, sample), plain(t, again)); diff != "" {
					t.Errorf("%s: (-was +is)\n%s", tc.reason, diff)
				}
				copied := reflect.ValueOf(object).MethodByName("DeepCopy").Call(nil)[0].Interface()
				if diff := cmp.Diff(object, copied); diff != "" {
					t.Errorf("%s: a copy differs: %s", tc.reason, diff)
				}
				seen.mark(reflect.ValueOf(object))
			}
		})
	}
	for _, tc := range cases {
		seen.missing(t, tc.kind, map[reflect.Type]bool{})
	}
}

func documents(t *testing.T, file string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var all [][]byte
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.Clone(document))
	}
}

func plain(t *testing.T, data []byte) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// fields are those of the types of this package that some sample sets.
type fields map[reflect.Type]map[string]bool

func (f fields) mark(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			f.mark(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			f.mark(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			f.mark(v.MapIndex(key))
		}
	case reflect.Struct:
		if v.Type().PkgPath() != reflect.TypeFor[Workflow]().PkgPath() {
			return
		}
		if f[v.Type()] == nil {
			f[v.Type()] = map[string]bool{}
		}
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				f[v.Type()][v.Type().Field(i).Name] = true
			}
			f.mark(v.Field(i))
		}
	}
}

func (f fields) missing(t *testing.T, kind reflect.Type, done map[reflect.Type]bool) {
	t.Helper()
	switch kind.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		f.missing(t, kind.Elem(), done)
	case reflect.Struct:
		if done[kind] || kind.PkgPath() != reflect.TypeFor[Workflow]().PkgPath() {
			return
		}
		done[kind] = true
		for i := range kind.NumField() {
			if !f[kind][kind.Field(i).Name] {
				t.Errorf("no sample has %s.%s", kind.Name(), kind.Field(i).Name)
			}
			f.missing(t, kind.Field(i).Type, done)
		}
	}
}

func TestAnyString(t *testing.T) {
	for text, want := range map[string]string{`"a"`: "a", `1`: "1", `true`: "true", `1.50`: "1.50", `{"a": [1]}`: `{"a":[1]}`, `""`: ""} {
		var value AnyString
		if err := json.Unmarshal([]byte(text), &value); err != nil || value.String() != want {
			t.Errorf("%s is %q, want %q: %v", text, value, want, err)
		}
	}
}
