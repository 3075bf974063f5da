package simulate

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// The health checks of Argo CD come with test cases: for each kind a file names others that hold an object, and
// what its health is. The status of an object that counts as healthy is a sample.
const cases = "health_test.yaml"

// sample is the status of a healthy object, as it is in a test case.
type sample struct {
	name, namespace string
	replicas        any
	status          map[string]any
}

// samplesOf finds the samples of a kind, those of the same version first. A group or a kind of the name "_" stands for any: then samples of the
// same kind count, or else one of another kind.
func samplesOf(gvk schema.GroupVersionKind) ([]sample, error) {
	for _, dir := range []string{gvk.Group + "/" + gvk.Kind, gvk.Group + "/_", "_" + parent(gvk.Group) + "/_"} {
		found, err := samplesIn(dir)
		if err != nil {
			return nil, err
		}
		var same, others []sample
		for _, o := range found {
			switch {
			case o.GroupVersionKind() == gvk:
				same = append(same, newSample(o))
			case o.GetKind() == gvk.Kind:
				others = append(others, newSample(o))
			}
		}
		if same = append(same, others...); len(same) > 0 {
			return same, nil
		}
		if len(found) > 0 {
			return []sample{newSample(found[0])}, nil
		}
	}
	return nil, nil
}

// parent is the domain that a group is in, down to the last three or two labels: that of a wildcard.
func parent(group string) string {
	for at := strings.IndexByte(group, '.'); at >= 0; {
		if _, err := resource_customizations.Embedded.ReadDir("_" + group[at:]); err == nil {
			return group[at:]
		}
		next := strings.IndexByte(group[at+1:], '.')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return "." + group
}

func newSample(o *unstructured.Unstructured) sample {
	status, _, _ := unstructured.NestedMap(o.Object, "status")
	replicas, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "replicas")
	return sample{name: o.GetName(), namespace: o.GetNamespace(), replicas: replicas, status: status}
}

// samplesIn reads the healthy objects with a status in a directory of test cases.
func samplesIn(dir string) ([]*unstructured.Unstructured, error) {
	data, err := resource_customizations.Embedded.ReadFile(path.Join(dir, cases))
	if err != nil {
		return nil, nil // There is no such directory.
	}
	var index struct {
		Tests []struct {
			InputPath    string
			HealthStatus struct{ Status string }
		}
	}
	if err := yaml.Unmarshal(data, &index); err != nil {
		return nil, fmt.Errorf("reading the samples in %q: %w", dir, err)
	}
	var samples []*unstructured.Unstructured
	for _, test := range index.Tests {
		if test.HealthStatus.Status != "Healthy" {
			continue
		}
		o, err := sampleAt(path.Join(dir, test.InputPath))
		if err != nil {
			return nil, err
		}
		if status, found, err := unstructured.NestedMap(o.Object, "status"); err == nil && found && len(status) > 0 {
			samples = append(samples, o)
		}
	}
	return samples, nil
}

func sampleAt(name string) (*unstructured.Unstructured, error) {
	data, err := resource_customizations.Embedded.ReadFile(name)
	if err == nil {
		data, err = yaml.YAMLToJSON(data)
	}
	o := &unstructured.Unstructured{}
	if err == nil {
		err = json.Unmarshal(data, &o.Object)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the sample %q: %w", name, err)
	}
	return o, nil
}

// rewriting makes the status of a sample that of an object.
type rewriting struct {
	sample     sample
	object     *unstructured.Unstructured
	now, later time.Time
}

// value rewrites what is at a path of keys, in depth.
func (r rewriting) value(path string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k := range v {
			if v[k] = r.value(path+"."+k, v[k]); v[k] == nil {
				delete(v, k)
			}
		}
	case []any:
		for i := range v {
			v[i] = r.value(path, v[i])
		}
	case nil:
		if strings.HasSuffix(path, "Time") {
			return r.now.Format(time.RFC3339)
		}
	case string:
		return r.text(path, v)
	case int64, float64:
		return r.number(path, v)
	}
	return value
}

// generations rewrites the generations in a status, and nothing else.
func (r rewriting) generations(status map[string]any) map[string]any {
	for key, value := range status {
		switch v := value.(type) {
		case map[string]any:
			r.generations(v)
		case []any:
			for _, item := range v {
				if entry, ok := item.(map[string]any); ok {
					r.generations(entry)
				}
			}
		case int64:
			if isGeneration(key) {
				status[key] = r.object.GetGeneration()
			}
		}
	}
	return status
}

func (r rewriting) text(path, text string) any {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil && isGeneration(path) {
		return strconv.FormatInt(r.object.GetGeneration(), 10)
	}
	for _, layout := range layouts {
		if _, err := time.Parse(layout, text); err != nil {
			continue
		}
		if isDeadline(path) {
			return r.later.Format(layout)
		}
		return r.now.Format(layout)
	}
	switch {
	case text == "":
		return text
	case text == r.sample.name:
		return r.object.GetName()
	case text == r.sample.namespace && r.object.GetNamespace() != "":
		return r.object.GetNamespace()
	}
	return text
}

// number rewrites generations, and the numbers of replicas which are those that the sample asks for.
func (r rewriting) number(path string, number any) any {
	if isGeneration(path) {
		return r.object.GetGeneration()
	}
	if strings.HasSuffix(strings.ToLower(path), "replicas") && number == r.sample.replicas {
		if asked, found, err := unstructured.NestedInt64(r.object.Object, "spec", "replicas"); err == nil && found {
			return asked
		}
	}
	return number
}

// layouts are those of the times in samples.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05 -0700 MST"}

func isGeneration(path string) bool {
	lower := strings.ToLower(path)
	return strings.HasSuffix(lower, "generation")
}

// isDeadline reports whether the time at a path is one to come: what has expired is not healthy.
func isDeadline(path string) bool {
	lower := strings.ToLower(path)
	for _, word := range []string{"notafter", "renewal", "expir", "next"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}
