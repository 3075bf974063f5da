package objects

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/crossplane/kubernetes"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/expression"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// The policies of readiness.
const (
	successfulCreate   = "SuccessfulCreate"
	deriveFromObject   = "DeriveFromObject"
	allTrue            = "AllTrue"
	deriveFromCelQuery = "DeriveFromCelQuery"
)

// readiness is how ready an Object is by the object that it stands for.
func readiness(r kubernetes.Readiness, live *unstructured.Unstructured, upToDate bool) managed.Readiness {
	switch r.Policy {
	case "", successfulCreate:
		if upToDate {
			return managed.Available()
		}
		return managed.Readiness{}
	case deriveFromObject:
		status, reason, message, _ := dialect.Condition(live, "Ready")
		if status == "True" {
			return managed.Available()
		}
		return managed.Unavailable(conditionText("Ready", status, reason, message))
	case allTrue:
		return everyCondition(live)
	case deriveFromCelQuery:
		ready, err := query(r.CelQuery, live)
		switch {
		case err != nil:
			return managed.Unavailable(err.Error())
		case ready:
			return managed.Available()
		}
		return managed.Unavailable("the celQuery is false")
	}
	return managed.Unavailable(fmt.Sprintf("unknown readiness policy %q", r.Policy))
}

// everyCondition has all conditions be true, of which there is one at least.
func everyCondition(live *unstructured.Unstructured) managed.Readiness {
	list, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	if len(list) == 0 {
		return managed.Unavailable("the object has no conditions")
	}
	for _, item := range list {
		c, _ := item.(map[string]any)
		if c["status"] != "True" {
			kind, _ := c["type"].(string)
			status, reason, message, _ := dialect.Condition(live, kind)
			return managed.Unavailable(conditionText(kind, status, reason, message))
		}
	}
	return managed.Available()
}

// conditionText says why a condition is not true.
func conditionText(kind, status, reason, message string) string {
	switch {
	case status == "":
		return fmt.Sprintf("the object has no condition %s", kind)
	case message != "":
		return fmt.Sprintf("its condition %s is %s: %s", kind, status, message)
	}
	return fmt.Sprintf("its condition %s is %s (%s)", kind, status, reason)
}

// query evaluates a CEL query over an object. What is wrong with the values of a Secret is not said: it might show them.
func query(text string, live *unstructured.Unstructured) (bool, error) {
	env, err := expression.Environment(cel.Variable("object", cel.DynType))
	if err != nil {
		return false, err
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return false, fmt.Errorf("failed to compile query: %w", issues.Err())
	}
	if out := ast.OutputType(); !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
		return false, fmt.Errorf("celQuery does not return a bool type")
	}
	program, err := expression.New(env, ast)
	if err != nil {
		return false, fmt.Errorf("failed to create program from the cel query: %w", err)
	}
	out, err := program.Eval(map[string]any{"object": live.Object})
	switch {
	case err != nil && isSecret(live):
		return false, fmt.Errorf("failed to eval the program")
	case err != nil:
		return false, fmt.Errorf("failed to eval the program: %w", err)
	}
	ready, is := out.(types.Bool)
	if !is {
		return false, fmt.Errorf("celQuery does not return a bool type")
	}
	return bool(ready), nil
}
