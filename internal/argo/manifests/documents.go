package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
)

// document is one document of a file.
type document struct {
	// index counts from 1, source is the template that it was made of, when it was.
	index  int
	source string
	object map[string]any
}

// templatePattern is the comment by which Helm says which template a document is from.
var templatePattern = regexp.MustCompile(`(?m)^# Source: (.+)$`)

// parse reads the documents of a YAML text. Empty ones are left out. What is before an error is returned with it.
func parse(text []byte) ([]document, error) {
	var out []document
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))))
	for i := 1; ; i++ {
		data, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("document %d: %w", i, err)
		}
		d := document{index: i}
		if m := templatePattern.FindSubmatch(data); m != nil {
			d.source = strings.TrimSpace(string(m[1]))
		}
		converted, err := yaml.YAMLToJSON(data)
		if err != nil {
			return out, fmt.Errorf("%s: %w", d.where(), plainYAML(err))
		}
		var value any
		// This decoder keeps whole numbers whole.
		if err := utiljson.Unmarshal(converted, &value); err != nil {
			return out, fmt.Errorf("%s: cannot be decoded", d.where())
		}
		if value == nil {
			continue
		}
		object, isMap := value.(map[string]any)
		if !isMap {
			return out, fmt.Errorf("%s: not a map", d.where())
		}
		if len(object) == 0 {
			continue
		}
		d.object = object
		out = append(out, d)
	}
}

// plainYAML is an error of the YAML parser without the name of the library.
func plainYAML(err error) error {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	return errors.New(strings.TrimPrefix(text, "yaml: "))
}

func (d document) where() string {
	if d.source != "" {
		return d.source
	}
	return fmt.Sprintf("document %d", d.index)
}

// objects are what the documents of a file describe: decrypted, with the items of lists one by one.
func (j *job) objects(file string, documents []document) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, d := range documents {
		if emptyList(d.object) {
			continue
		}
		finished, err := render.Finish(d.object, j.after())
		if err == nil {
			inferKinds(d.object, finished)
			err = complete(finished)
		}
		if err != nil {
			return nil, &render.Error{File: file, Line: j.line(file, d, err), Object: strings.TrimSpace(d.where() + " " + describe(d.object)), Err: err}
		}
		out = append(out, finished...)
	}
	return out, nil
}

// line is that of a file in which a document has what an error is about, 0 if that is unknown.
func (j *job) line(file string, d document, err error) int {
	wrong := (*engine.NotStringError)(nil)
	if file == "" || !errors.As(err, &wrong) {
		return 0
	}
	data, _, err := j.reader().File(file)
	if err != nil {
		return 0
	}
	kind, _ := d.object["kind"].(string)
	if _, list := d.object["items"]; list {
		kind = ""
	}
	name, _, _ := unstructured.NestedString(d.object, "metadata", "name")
	return render.Unquoted(data, kind, name, wrong)
}

// describe names an object as far as it has a name.
func describe(object map[string]any) string {
	u := unstructured.Unstructured{Object: object}
	kind, _ := object["kind"].(string)
	name, _, _ := unstructured.NestedString(u.Object, "metadata", "name")
	if kind == "" && name == "" {
		return ""
	}
	return "(" + strings.Trim(kind+"/"+name, "/") + ")"
}

// emptyList reports whether an object is a list whose items are null.
func emptyList(object map[string]any) bool {
	kind, _ := object["kind"].(string)
	items, there := object["items"]
	return strings.HasSuffix(kind, "List") && there && items == nil
}

// inferKinds gives the items of a list of one kind that kind, where they do not say it.
func inferKinds(list map[string]any, items []*unstructured.Unstructured) {
	kind, _ := list["kind"].(string)
	kind, isList := strings.CutSuffix(kind, "List")
	if !isList || kind == "" {
		return
	}
	version, _ := list["apiVersion"].(string)
	for _, item := range items {
		if item.GetKind() == "" && item.GetAPIVersion() == "" {
			item.SetKind(kind)
			item.SetAPIVersion(version)
		}
	}
}

// complete reports what objects, which may be items of a list, lack.
func complete(objects []*unstructured.Unstructured) error {
	for i, o := range objects {
		at := ""
		if len(objects) > 1 {
			at = fmt.Sprintf("item %d: ", i)
		}
		switch {
		case o.GetAPIVersion() == "":
			return errors.New(at + "apiVersion is missing or not a string")
		case o.GetKind() == "":
			return errors.New(at + "kind is missing or not a string")
		case o.GetName() == "" && o.GetGenerateName() == "" && !namedLater(o):
			return errors.New(at + "metadata.name is missing")
		}
	}
	return nil
}

// namedLater reports whether an object may do without a name: hooks get one when they are made, whichever they are.
func namedLater(o *unstructured.Unstructured) bool {
	annotations := o.GetAnnotations()
	return annotations["argocd.argoproj.io/hook"] != "" || annotations["helm.sh/hook"] != ""
}
