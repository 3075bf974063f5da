package schema_test

import (
	"fmt"

	"github.com/headgate-dev/headgate/chart/schema"
)

func ExampleCheck_Validate() {
	deployment := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"replica":  int64(2),
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec": map[string]any{"containers": []any{map[string]any{
					"name": "web", "image": "web:1", "imagePullPolicy": "always",
				}}},
			},
		},
	}
	for _, found := range (schema.Check{}).Validate([]map[string]any{deployment}) {
		fmt.Printf("%s: %s\n", found.Field, found.Message)
	}
	// Output:
	// spec.replica: unknown field; did you mean "replicas"?
	// spec.template.spec.containers[0].imagePullPolicy: is "always", must be one of Always, IfNotPresent, Never; did you mean "Always"?
}

func ExampleKubernetes() {
	ingress := map[string]any{"apiVersion": "extensions/v1beta1", "kind": "Ingress", "metadata": map[string]any{"name": "web"}}
	for _, found := range schema.Kubernetes("1.34").Validate([]map[string]any{ingress}) {
		fmt.Println(found.Rule, found.Message)
	}
	// Output:
	// schema/removed-api Kubernetes 1.22 removed Ingress from extensions/v1beta1; use networking.k8s.io/v1
}

func ExampleVersions() {
	fmt.Println(schema.Versions())
	// Output:
	// [1.33 1.34 1.35 1.36 1.37]
}
