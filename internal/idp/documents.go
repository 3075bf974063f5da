package idp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// What packages are, and what they may have.
const (
	group              = "argoproj.io"
	applicationKind    = "Application"
	applicationSetKind = "ApplicationSet"
	maxDocuments       = 1000
	waveAnnotation     = "argocd.argoproj.io/sync-wave"
)

// Documents are the Applications and ApplicationSets of a file; other objects are left out. A document that cannot be read does not keep
// others from being read: there is an error for each that names it by its number and its line, from 1.
func Documents(data []byte) ([]*unstructured.Unstructured, []error) {
	var objects []*unstructured.Unstructured
	var failed []error
	newline := []byte("\n")
	rest := bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), newline)
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(rest)))
	for n, line := 1, 1; ; n++ {
		if n > maxDocuments {
			return objects, append(failed, fmt.Errorf("there are more than %d documents", maxDocuments))
		}
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, failed
		}
		if err != nil {
			return objects, append(failed, fmt.Errorf("document %d: %w", n, err))
		}
		// The reader gives parts of the data as they are.
		part := bytes.TrimSuffix(text, newline)
		before, after, _ := bytes.Cut(rest, part)
		line += bytes.Count(before, newline)
		o, err := document(text)
		if err != nil {
			failed = append(failed, fmt.Errorf("document %d in line %d: %w", n, line, err))
		}
		if o != nil {
			objects = append(objects, o)
		}
		line, rest = line+bytes.Count(part, newline), after
	}
}

// document is the package in a document; nil if it is something else.
func document(text []byte) (*unstructured.Unstructured, error) {
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	var content any
	if err := utiljson.Unmarshal(data, &content); err != nil {
		return nil, err
	}
	fields, is := content.(map[string]any)
	if !is {
		return nil, nil //nolint:nilnil // text without an object is not one of our own, and no mistake
	}
	o := &unstructured.Unstructured{Object: fields}
	version, err := schema.ParseGroupVersion(o.GetAPIVersion())
	if err != nil || version.Group != group || (o.GetKind() != applicationKind && o.GetKind() != applicationSetKind) {
		return nil, nil //nolint:nilnil // other objects are left out
	}
	if _, is := fields["metadata"].(map[string]any); !is || o.GetName() == "" {
		return nil, fmt.Errorf("%s: metadata.name is missing", o.GetKind())
	}
	if wrong := validation.IsDNS1123Subdomain(o.GetName()); len(wrong) > 0 {
		return nil, fmt.Errorf("%s: metadata.name: %q: %s", o.GetKind(), o.GetName(), wrong[0])
	}
	if namespace := o.GetNamespace(); namespace != "" {
		if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
			return nil, fmt.Errorf("%s/%s: metadata.namespace: %q: %s", o.GetKind(), o.GetName(), namespace, wrong[0])
		}
	}
	for _, field := range []string{"labels", "annotations"} {
		if _, _, err := unstructured.NestedStringMap(fields, "metadata", field); err != nil {
			return nil, fmt.Errorf("%s/%s: metadata.%s: a value is not a string; quote it", o.GetKind(), o.GetName(), field)
		}
	}
	if _, is := fields["spec"].(map[string]any); !is {
		return nil, fmt.Errorf("%s/%s: spec is missing", o.GetKind(), o.GetName())
	}
	return o, nil
}

// waveOf is the wave of an object; 0 where it is missing or not a number, as for Argo CD.
func waveOf(o *unstructured.Unstructured) int {
	wave, err := strconv.Atoi(o.GetAnnotations()[waveAnnotation])
	if err != nil {
		return 0
	}
	return wave
}
