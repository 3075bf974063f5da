package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render/substitute"
)

// prefix begins the annotations, or labels, by which an object opts out of a step.
const prefix = "kustomize.toolkit.fluxcd.io/"

// finish takes one built resource through what follows the build: decryption, substitution, common
// metadata. A List becomes its items.
func (f *treeFS) finish(res *resource.Resource, o Options) ([]*unstructured.Unstructured, error) {
	object, err := res.Map()
	if err != nil {
		return nil, f.unreadable(res, err)
	}
	finished, err := Finish(object, o)
	if err != nil {
		failed := &Error{Object: describe(res), Err: err}
		if undefined := (*substitute.UndefinedError)(nil); errors.As(err, &undefined) {
			for _, name := range undefined.Names {
				failed.Quotes = append(failed.Quotes, "${"+name)
			}
		}
		if wrong := (*engine.NotStringError)(nil); errors.As(err, &wrong) {
			failed.File, failed.Line = f.written(res, wrong)
		}
		return nil, failed
	}
	return finished, nil
}

// Finish takes one object, which need not come from a build, through what follows a build. A List becomes its
// items. Errors do not name the object.
func Finish(object map[string]any, o Options) ([]*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{Object: object}
	// Marks among labels are read at once, and values may come with the others.
	steps := []func(*unstructured.Unstructured, Options) error{quoted, open, replace, quoted, mark}
	for _, step := range steps {
		if err := step(u, o); err != nil {
			return nil, err
		}
	}
	clean, err := normalise(u.Object, o.Nameless)
	if err != nil {
		return nil, err
	}
	if !clean.IsList() {
		return []*unstructured.Unstructured{clean}, nil
	}
	var items []*unstructured.Unstructured
	err = clean.EachListItem(func(item runtimeObject) error {
		items = append(items, item.(*unstructured.Unstructured))
		return quoted(items[len(items)-1], o)
	})
	return items, err
}

// quoted refuses labels and annotations that are not strings.
func quoted(u *unstructured.Unstructured, _ Options) error { return engine.Strings(u.Object) }

func optsOut(u *unstructured.Unstructured, step string) bool {
	name := prefix + step
	return u.GetAnnotations()[name] == "disabled" || u.GetLabels()[name] == "disabled"
}

// open decrypts an object, or the encrypted files that a Secret carries.
func open(u *unstructured.Unstructured, o Options) error {
	if optsOut(u, "decrypt") {
		return nil
	}
	if encrypted(u) {
		if o.Decryption == nil {
			return o.sealed()
		}
		plain, err := o.Decryption.Object(u.Object)
		if err != nil {
			return err
		}
		u.Object = plain
	}
	data, _ := u.Object["data"].(map[string]any)
	if o.Decryption == nil || u.GetKind() != "Secret" || u.GetAPIVersion() != "v1" || data == nil {
		return nil
	}
	_, err := o.Decryption.SecretData(data)
	return err
}

// encrypted reports whether an object carries SOPS's metadata.
func encrypted(u *unstructured.Unstructured) bool {
	mac, _, _ := unstructured.NestedString(u.Object, "sops", "mac")
	return mac != ""
}

// replace puts the values of variables into an object.
func replace(u *unstructured.Unstructured, o Options) error {
	if !o.Substitute.Active() || optsOut(u, "substitute") {
		return nil
	}
	if err := o.Substitute.Check(); err != nil {
		return fmt.Errorf("spec.postBuild: %w", err)
	}
	text, err := yaml.Marshal(u.Object)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	if !bytes.Contains(text, []byte("$")) {
		return nil
	}
	out, label, err := o.replaced(string(text))
	if err != nil {
		return err
	}
	data, err := yaml.YAMLToJSON([]byte(out))
	object := map[string]any{}
	if err == nil {
		// This decoder keeps whole numbers whole.
		err = utiljson.Unmarshal(data, &object)
	}
	if err != nil {
		// The parser's error may quote a value.
		return errors.New("not YAML after variable substitution; quote the variables in the file")
	}
	u.Object = object
	if label != "" {
		return mark(u, Options{CommonLabels: map[string]string{label: "variables"}})
	}
	return nil
}

// Lacking is notified of variables that no one defines, and that are empty instead of an error.
type Lacking interface {
	// Undefined reports the variables of one object, and returns the label that the object gets.
	Undefined(names []string) (label string)
}

// replaced is a text with its variables replaced, and the label of an object in which some are empty for want of a value.
func (o Options) replaced(text string) (out, label string, err error) {
	out, err = o.Substitute.Text(text)
	if undefined := (*substitute.UndefinedError)(nil); o.Lacking != nil && errors.As(err, &undefined) {
		lax := *o.Substitute
		lax.Strict = false
		if out, err = lax.Text(text); err == nil {
			label = o.Lacking.Undefined(undefined.Names)
		}
	}
	return out, label, err
}

// mark sets the common metadata.
func mark(u *unstructured.Unstructured, o Options) error {
	if len(o.CommonLabels) > 0 {
		labels := u.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, o.CommonLabels)
		u.SetLabels(labels)
	}
	if len(o.CommonAnnotations) > 0 {
		annotations := u.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		maps.Copy(annotations, o.CommonAnnotations)
		u.SetAnnotations(annotations)
	}
	return nil
}

// normalise gives numbers the types that the API machinery expects, and checks what every object
// needs.
func normalise(object map[string]any, nameless bool) (*unstructured.Unstructured, error) {
	for _, field := range []string{"apiVersion", "kind"} {
		if text, _ := object[field].(string); text == "" {
			return nil, fmt.Errorf("%s is missing or not a string", field)
		}
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		// The decoder's error may quote a value.
		return nil, errors.New("not a Kubernetes object")
	}
	if u.GetName() == "" && !u.IsList() {
		if value, there, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "name"); there && value != nil && value != "" {
			return nil, errors.New("metadata.name is not a string; quote it")
		}
		if nameless {
			return u, nil
		}
		return nil, errors.New("metadata.name is missing")
	}
	return u, nil
}
