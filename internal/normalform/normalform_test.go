package normalform_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/normalform"
)

func TestOf(t *testing.T) {
	cases := map[string]struct{ reason, declared, want string }{
		"Texts": {
			"texts of a Secret are data, and go before data of the same key",
			"{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {a: Yg==, b: Yg==}, stringData: {a: '1'}}",
			"{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {a: MQ==, b: Yg==}}",
		},
		"Service": {
			"a port has a protocol, and none for its target is 0",
			"{apiVersion: v1, kind: Service, metadata: {name: x, creationTimestamp: null}, spec: {ports: [{port: 80}]}, status: {loadBalancer: {}}}",
			"{apiVersion: v1, kind: Service, metadata: {name: x, creationTimestamp: null}, spec: {ports: [{port: 80, protocol: TCP, targetPort: 0}]}}",
		},
		"Part": {
			"what a part of an object leaves to others is not null",
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replicas: 2}}",
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replicas: 2, strategy: {}, template: {metadata: {}, spec: {}}}}",
		},
		"Misspelt": {
			"a field that the type does not have stays, for the server to name it",
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replica: 2}}",
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replica: 2}}",
		},
		"Mistyped": {
			"so does a value of another type",
			"{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {port: 80}}",
			"{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {port: 80}}",
		},
		"Rules": {
			"no rules are not null rules, which would take those of others away",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x}, aggregationRule: {}}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x}, aggregationRule: {}}",
		},
		"Custom": {
			"a kind without a type loses its status",
			"{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}, spec: {a: null}, status: {b: c}}",
			"{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}, spec: {a: null}}",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			declared := object(t, c.declared)
			if diff := cmp.Diff(object(t, c.want), normalform.Of(declared)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(object(t, c.declared), declared); diff != "" {
				t.Errorf("the declaration was changed (-want +got):\n%s", diff)
			}
		})
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return o
}
