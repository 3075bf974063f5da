package pods

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
)

// forged is a termination message as the program itself could write it.
func forged(t *testing.T, report string) string {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(report), &value); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return "headgate/1 " + base64.StdEncoding.EncodeToString(packed.Bytes())
}

// A program that writes the report of its pod itself has the outputs that its template declares and no others: it names neither outputs of the workflow, nor places
// and Secrets that another step would read.
func TestForgedReport(t *testing.T) {
	const elsewhere = "http: {url: 'http://elsewhere/', auth: {basicAuth: {passwordSecret: {name: admin, key: password}}}}"
	for name, tc := range map[string]struct{ reason, template, report, want string }{
		"Parameters": {
			"an output of the workflow is named, and one that is not declared", withOutputs,
			"outputs: {result: printed, parameters: [{name: a, value: x, globalName: image, valueFrom: {path: /b}}, {name: b, value: y}]}",
			"exitCode: '0'\nparameters: [{name: a, value: x, valueFrom: {path: /tmp/a}}]",
		},
		"NoValue": {"a parameter has no value", withOutputs, "outputs: {parameters: [{name: a}]}", "exitCode: '0'"},
		"Place": {
			"an artifact is elsewhere, with a Secret that the template does not name", simple + "outputs: {artifacts: [{name: a, path: /tmp/a, globalName: g, http: {url: 'http://declared/'}}]}",
			"outputs: {artifacts: [{name: a, path: /x, globalName: other, " + elsewhere + "}, {name: b, " + elsewhere + "}]}",
			"exitCode: '0'\nartifacts: [{name: a, path: /tmp/a, globalName: g, http: {url: 'http://declared/'}}]",
		},
		"Stored": {
			"an artifact of the store is elsewhere", simple + "outputs: {artifacts: [{name: a, path: /tmp/a}]}",
			"outputs: {artifacts: [{name: a, " + elsewhere + "}]}",
			"exitCode: '0'\nartifacts: [{name: a, path: /tmp/a, local: {digest: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'}}]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			wf := workflow()
			pod, err := build(wf, runOf(t, tc.template, ""), "headgate", nil)
			if err != nil {
				t.Fatal(err)
			}
			pod.UID, pod.ResourceVersion = "pod", "1"
			pod.Status = corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{
				Name: mainContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: forged(t, tc.report)}},
			}}}
			store, err := artifacts.OpenStore(t.TempDir(), artifacts.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			p := &Pods{Options: Options{Store: store}, records: newRecords()}
			p.records.put(pod)
			of := execute.Of(wf)
			one, known := p.records.get(of, "wf-1")
			if !known {
				t.Fatal("the pod is not known")
			}
			leaf, err := p.settled(t.Context(), of, "wf-1", one)
			if err != nil || leaf.Phase != v1alpha1.NodeSucceeded {
				t.Fatalf("%s: %s %q, %v", tc.reason, leaf.Phase, leaf.Message, err)
			}
			want := &v1alpha1.Outputs{}
			if err := yaml.UnmarshalStrict([]byte(tc.want), want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, leaf.Outputs); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
