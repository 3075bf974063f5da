package simulate

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Suppose reports whether an object would be healthy if the simulated values in it were others: an expression about the address in a
// Secret says nothing of one that could not be decrypted. The values that are real, and the status, stay as they are. It is false for
// an object without simulated values.
func Suppose(o *unstructured.Unstructured, checks []Check) (bool, error) {
	status, _, err := unstructured.NestedMap(o.Object, root)
	if err != nil {
		return false, fmt.Errorf("the status of %s: %w", engine.IDOf(o), err)
	}
	s := newSolver(o, status)
	if s == nil || !marked(s.vars) {
		return false, nil
	}
	s.locals, s.supposing = map[string]bool{}, true
	for _, c := range checks {
		s.text(c.Failed, false)
		s.text(c.InProgress, false)
	}
	for _, c := range checks {
		s.text(c.Current, true)
	}
	asked, err := compile(o.GroupVersionKind().GroupKind(), checks)
	if err != nil {
		return false, err
	}
	return asked.passes(&unstructured.Unstructured{Object: s.vars}, status) == nil, nil
}

// marked reports whether a value is simulated, or one in it.
func marked(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, marker) || madeAddress.MatchString(v)
	case []any:
		for _, element := range v {
			if marked(element) {
				return true
			}
		}
	case map[string]any:
		for _, field := range v {
			if marked(field) {
				return true
			}
		}
	}
	return false
}
