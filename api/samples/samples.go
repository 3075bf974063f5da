// Package samples tests types of an API by samples of their objects: everything that a sample says comes back as it was, a copy is the same,
// and every field of the types is in some sample, so that none is forgotten or spelt in another way.
//
// It serves tests alone.
package samples

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

// Case are the samples of a kind.
type Case struct {
	// Reason is what is wrong when the test fails.
	Reason string
	// File has the samples, one document each; Kind is a value of their type.
	File string
	Kind any
}

// RoundTrip reads, writes and copies all samples, and reports fields of types in the packages of the kinds that no sample has.
func RoundTrip(t *testing.T, cases map[string]Case) {
	t.Helper()
	seen := fields{of: map[reflect.Type]map[string]bool{}, packages: map[string]bool{}}
	for _, c := range cases {
		seen.packages[reflect.TypeOf(c.Kind).PkgPath()] = true
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, sample := range documents(t, c.File) {
				object := reflect.New(reflect.TypeOf(c.Kind))
				comesBack(t, c.Reason, sample, object)
				seen.mark(object)
			}
		})
	}
	for _, c := range cases {
		seen.missing(t, reflect.TypeOf(c.Kind), map[reflect.Type]bool{})
	}
}

func comesBack(t *testing.T, reason string, sample []byte, object reflect.Value) {
	t.Helper()
	if err := yaml.UnmarshalStrict(sample, object.Interface()); err != nil {
		t.Fatalf("%s: %v", reason, err)
	}
	again, err := json.Marshal(object.Interface())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plain(t, sample), plain(t, again)); diff != "" {
		t.Errorf("%s: (-was +is)\n%s", reason, diff)
	}
	copied := object.MethodByName("DeepCopy").Call(nil)[0].Interface()
	if diff := cmp.Diff(object.Interface(), copied); diff != "" {
		t.Errorf("%s: a copy differs: %s", reason, diff)
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

// fields are those that some sample sets, of the types of some packages.
type fields struct {
	of       map[reflect.Type]map[string]bool
	packages map[string]bool
}

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
		f.markStruct(v)
	}
}

func (f fields) markStruct(v reflect.Value) {
	if !f.packages[v.Type().PkgPath()] {
		return
	}
	if f.of[v.Type()] == nil {
		f.of[v.Type()] = map[string]bool{}
	}
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			f.of[v.Type()][v.Type().Field(i).Name] = true
		}
		f.mark(v.Field(i))
	}
}

func (f fields) missing(t *testing.T, kind reflect.Type, done map[reflect.Type]bool) {
	t.Helper()
	switch kind.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		f.missing(t, kind.Elem(), done)
	case reflect.Struct:
		if done[kind] || !f.packages[kind.PkgPath()] {
			return
		}
		done[kind] = true
		for i := range kind.NumField() {
			if !f.of[kind][kind.Field(i).Name] {
				t.Errorf("no sample has %s.%s", kind.Name(), kind.Field(i).Name)
			}
			f.missing(t, kind.Field(i).Type, done)
		}
	}
}
