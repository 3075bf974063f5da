package appset

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// Set is an ApplicationSet as it was declared. The raw form is kept beside the typed one, so that fields of the
// template that are unknown here reach the Applications.
type Set struct {
	*v1alpha1.ApplicationSet
	template   map[string]any
	generators []map[string]any
}

// Read reads an ApplicationSet. The error names the field that is bad.
func Read(o *unstructured.Unstructured) (*Set, error) {
	set := &Set{ApplicationSet: &v1alpha1.ApplicationSet{}}
	if err := convert(o.Object, set.ApplicationSet); err != nil {
		return nil, fmt.Errorf("reading ApplicationSet %q: %w", o.GetName(), err)
	}
	spec, _ := o.Object["spec"].(map[string]any)
	set.template, _ = spec["template"].(map[string]any)
	listed, _ := spec["generators"].([]any)
	for i, item := range listed {
		generator, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("reading ApplicationSet %q: spec.generators[%d]: not an object", o.GetName(), i)
		}
		set.generators = append(set.generators, generator)
	}
	return set, nil
}

// Of takes an ApplicationSet that is typed already; fields that the types do not have are lost by then.
func Of(set *v1alpha1.ApplicationSet) (*Set, error) {
	fields, err := toMap(set)
	if err != nil {
		return nil, fmt.Errorf("reading ApplicationSet %q: %w", set.Name, err)
	}
	return Read(&unstructured.Unstructured{Object: fields})
}

// rolling says whether the Applications change in steps.
func (s *Set) rolling() bool {
	strategy := s.Spec.Strategy
	return strategy != nil && strategy.Type == "RollingSync" && strategy.RollingSync != nil && len(strategy.RollingSync.Steps) > 0
}

// preserves says whether the objects of Applications outlive them.
func (s *Set) preserves() bool {
	return s.Spec.SyncPolicy != nil && s.Spec.SyncPolicy.PreserveResourcesOnDeletion
}

// Policy is what may be done to the Applications of a set.
type Policy struct{ Update, Delete bool }

// PolicyOf is the policy for a set. That of the controller, by the settings of the installation, holds unless it
// permits a set to override it, or there is none.
func PolicyOf(set *Set, controller v1alpha1.ApplicationsSyncPolicy, override bool) Policy {
	policy := controller
	if own := set.Spec.SyncPolicy; (override || controller == "") && own != nil && own.ApplicationsSync != nil {
		policy = *own.ApplicationsSync
	}
	switch policy {
	case v1alpha1.ApplicationsSyncPolicyCreateOnly:
		return Policy{}
	case v1alpha1.ApplicationsSyncPolicyCreateUpdate:
		return Policy{Update: true}
	case v1alpha1.ApplicationsSyncPolicyCreateDelete:
		return Policy{Delete: true}
	}
	return Policy{Update: true, Delete: true}
}

// convert reads a value of JSON into a typed one.
func convert(from, into any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return plainJSON(json.Unmarshal(data, into))
}

// strictly does so, and refuses unknown fields.
func strictly(from, into any) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	return plainJSON(decoder.Decode(into))
}

// plainJSON says which field is bad.
func plainJSON(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("%s: it is a %s and must be a %s", kind.Field, kind.Value, kind.Type)
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// toMap makes the raw form of a typed value.
func toMap(from any) (map[string]any, error) {
	data, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	integers(fields)
	return fields, nil
}

// integers makes whole numbers out of those of JSON, which the raw form of objects wants. Maps and lists are changed
// in place.
func integers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			value[key] = integers(item)
		}
	case []any:
		for i, item := range value {
			value[i] = integers(item)
		}
	case float64:
		if whole := int64(value); float64(whole) == value {
			return whole
		}
	}
	return value
}
