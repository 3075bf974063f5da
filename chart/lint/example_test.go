package lint_test

import (
	"fmt"

	"github.com/headgate-dev/headgate/chart/lint"
)

func ExamplePolicy_Validate() {
	job := map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "migrate"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "migrate", "image": "example.com:5000/migrate"}},
		}}},
	}
	policy := lint.Policy{
		Disable:    []string{"security", "cpu-limit", "cpu-request", "memory-limit"},
		Exceptions: []lint.Exception{{Rules: []string{"labels"}, Kind: "Job"}},
	}
	for _, found := range policy.Validate([]map[string]any{job}) {
		fmt.Println(found.Severity, found.Rule, found.Field)
		fmt.Println("  it", found.Message)
	}
	// Output:
	// error lint/image-tag spec.template.spec.containers[0].image
	//   it has no tag, which means "latest"; write example.com:5000/migrate:VERSION or @sha256:DIGEST
	// info lint/memory-request spec.template.spec.containers[0].resources.requests.memory
	//   it is missing; write how much memory the container needs
}
