package apply

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestApplied(t *testing.T) {
	live := readYAML(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: x, namespace: ns, uid: u, labels: {a: "1", b: "2"}, finalizers: [one, two]}
spec:
  replicas: 3
  selector: {matchLabels: {app: x}}
  template:
    spec:
      containers: [{name: first, image: i}, {name: second, image: j, ports: [{containerPort: 80, protocol: TCP, name: web}]}]
status: {replicas: 3}`)
	live.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "ours", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{
			"f:metadata": {"f:labels": {"f:a": {}}, "f:finalizers": {"v:\"two\"": {}}},
			"f:spec": {"f:selector": {}, "f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"second\"}": {
				".": {}, "f:name": {}, "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}}}}}}}`)},
		{Manager: "ours", Operation: metav1.ManagedFieldsOperationApply, Subresource: "status", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:replicas":{}}}`)},
		{Manager: "ours", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:b":{}}}}`)},
		{Manager: "other", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`)},
	})
	want := readYAML(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: x, namespace: ns, labels: {a: "1"}, finalizers: [two]}
spec:
  selector: {matchLabels: {app: x}}
  template: {spec: {containers: [{name: second, ports: [{containerPort: 80}]}]}}`)
	got, err := Names{Manager: "ours"}.Applied(live)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Object, got.Object); diff != "" {
		t.Error(diff)
	}
	nothing, err := Names{Manager: "somebody"}.Applied(live)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(readYAML(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}}").Object, nothing.Object); diff != "" {
		t.Error(diff)
	}
}

func readYAML(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := u.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return u
}
