package simulate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/simulate"
)

func TestPodNeeds(t *testing.T) {
	pods := []unstructured.Unstructured{
		*object(t, `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: nn}, spec: {
			initContainers: [{name: i, env: [{name: X, valueFrom: {secretKeyRef: {name: b, key: first}}}, {name: Z, valueFrom: {secretKeyRef: {name: o, key: x, optional: true}}}]}],
			containers: [{name: c, envFrom: [{secretRef: {name: a}}, {secretRef: {name: p, optional: true}}, {configMapRef: {name: q}}, {configMapRef: {name: p, optional: true}}]}],
			volumes: [{name: v, secret: {secretName: c, items: [{key: tls.crt, path: x}]}}, {name: w, secret: {secretName: r, optional: true}}, {name: e, emptyDir: {}},
				{name: j, projected: {sources: [{secret: {name: d, items: [{key: k, path: k}]}}, {configMap: {name: s}}, {serviceAccountToken: {path: token}}]}}]}}`),
		*object(t, `{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: nn}, spec: {containers: [{name: c, env: [{name: X, valueFrom: {secretKeyRef: {name: b, key: second}}}]}]}}`),
		*object(t, `{apiVersion: v1, kind: Pod, metadata: {name: c, namespace: mm}, spec: {containers: [{name: c, env: [{name: X, value: plain}]}], volumes: [{name: v, secret: {secretName: z}}, {name: w, configMap: {name: z, items: [{key: f, path: f}]}}]}}`),
	}
	want := []simulate.Need{
		{Kind: "ConfigMap", Namespace: "mm", Name: "z", Values: map[string]string{"f": "simulated-f"}},
		{Kind: "Secret", Namespace: "mm", Name: "z", Values: map[string]string{}},
		{Kind: "Secret", Namespace: "nn", Name: "a", Values: map[string]string{}},
		{Kind: "Secret", Namespace: "nn", Name: "b", Values: map[string]string{"first": "simulated-first", "second": "simulated-second"}},
		{Kind: "Secret", Namespace: "nn", Name: "c", Values: map[string]string{"tls.crt": "simulated-tls.crt"}},
		{Kind: "Secret", Namespace: "nn", Name: "d", Values: map[string]string{"k": "simulated-k"}},
		{Kind: "ConfigMap", Namespace: "nn", Name: "q", Values: map[string]string{}},
		{Kind: "ConfigMap", Namespace: "nn", Name: "s", Values: map[string]string{}},
	}
	if diff := cmp.Diff(want, simulate.PodNeeds(pods)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPodOf(t *testing.T) {
	template := "template: {spec: {containers: [{name: c, envFrom: [{secretRef: {name: a}}]}]}}"
	for name, c := range map[string]struct {
		reason, workload string
		want             []simulate.Need
	}{
		"deployment":   {"one replica is what is made", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w, namespace: nn}, spec: {" + template + "}}", []simulate.Need{{Kind: "Secret", Namespace: "nn", Name: "a", Values: map[string]string{}}}},
		"replicas":     {"their pods are alike", "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: w, namespace: nn}, spec: {replicas: 2, " + template + "}}", []simulate.Need{{Kind: "Secret", Namespace: "nn", Name: "a", Values: map[string]string{}}}},
		"none":         {"a workload that is scaled down starts nothing", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w, namespace: nn}, spec: {replicas: 0, " + template + "}}", nil},
		"suspended":    {"nor does a Job that is suspended", "{apiVersion: batch/v1, kind: Job, metadata: {name: w, namespace: nn}, spec: {suspend: true, " + template + "}}", nil},
		"no container": {"what has no template has no needs", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: w, namespace: nn}, spec: {}}", nil},
	} {
		var pods []unstructured.Unstructured
		if pod := simulate.PodOf(object(t, c.workload)); pod != nil {
			pods = append(pods, *pod)
		}
		if diff := cmp.Diff(c.want, simulate.PodNeeds(pods)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
	}
}

func TestNeedLacks(t *testing.T) {
	values := map[string]string{"has": "1", "lacks": "2"}
	for name, c := range map[string]struct {
		reason, object string
		want           map[string]any
	}{
		"stand-in":  {"a stand-in gets what it lacks", "{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {headgate.dev/simulated: secret}}, data: {has: eA==}}", map[string]any{"lacks": "Mg=="}},
		"real":      {"a real one stays as it is", "{apiVersion: v1, kind: Secret, metadata: {name: a}}", nil},
		"target":    {"so does that of an ExternalSecret", "{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {headgate.dev/simulated: 'true'}}}", nil},
		"ConfigMap": {"a ConfigMap has its values in clear", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {headgate.dev/simulated: configmap}}, data: {has: x}}", map[string]any{"lacks": "2"}},
	} {
		o := object(t, c.object)
		need := simulate.Need{Kind: o.GetKind(), Namespace: "nn", Name: "a", Values: values}
		if diff := cmp.Diff(c.want, need.Lacks(o)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
		if made := need.Object(); made.GetNamespace() != "nn" || made.GetName() != "a" || made.GetKind() != need.Kind || len(need.Lacks(made)) != 0 {
			t.Errorf("%s: what was made for it lacks something: %v", name, made.Object)
		}
	}
}
