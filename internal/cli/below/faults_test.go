package below

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestFaults reports what a status says against an object, and nothing that only sums that up.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"Unschedulable": {`
apiVersion: v1
kind: Pod
status:
  phase: Pending
  conditions:
  - {type: PodScheduled, status: "False", reason: Unschedulable, message: "0/3 nodes are available"}
  - {type: Ready, status: "False", message: containers are not ready}
`, []string{"0/3 nodes are available"}},
		"Crashing": {`
apiVersion: v1
kind: Pod
status:
  containerStatuses:
  - {name: a, state: {waiting: {reason: CrashLoopBackOff, message: back-off 10s}}}
  - {name: b, state: {waiting: {reason: ContainerCreating}}}
  - {name: c, state: {terminated: {exitCode: 2, reason: Error}}}
  - {name: d, state: {terminated: {exitCode: 0}}}
`, []string{`container "a" waits: CrashLoopBackOff: back-off 10s`, `container "c" ended with exit code 2: Error`}},
		"Evicted": {`
apiVersion: v1
kind: Pod
status: {phase: Failed, reason: Evicted, message: the node was low on memory}
`, []string{"Evicted: the node was low on memory"}},
		"Job": {`
apiVersion: batch/v1
kind: Job
status:
  conditions:
  - {type: FailureTarget, status: "True", message: Job has reached the specified backoff limit}
  - {type: Failed, status: "True", message: Job has reached the specified backoff limit}
  - {type: Suspended, status: "False"}
`, []string{"Job has reached the specified backoff limit"}},
		"Healthy": {`
apiVersion: apps/v1
kind: Deployment
status:
  conditions:
  - {type: Progressing, status: "True", message: ReplicaSet has successfully progressed}
  - {type: Available, status: "True"}
`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, faults(object(t, c.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSaid reports the last two events, the latest first, each once, however their times are written.
func TestSaid(t *testing.T) {
	var events []unstructured.Unstructured
	for _, text := range []string{
		`{reason: Old, message: first, lastTimestamp: "2026-01-01T00:00:00Z"}`,
		`{reason: FailedCreate, message: again, lastTimestamp: "2026-01-01T00:00:05Z"}`,
		`{reason: FailedCreate, message: again, eventTime: "2026-01-01T00:00:04Z"}`,
		`{reason: Series, message: last, eventTime: "2026-01-01T00:00:01Z", series: {lastObservedTime: "2026-01-01T00:00:09Z"}}`,
	} {
		fields := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &fields); err != nil {
			t.Fatal(err)
		}
		events = append(events, unstructured.Unstructured{Object: fields})
	}
	if diff := cmp.Diff([]string{"Series: last", "FailedCreate: again"}, said(events)); diff != "" {
		t.Error(diff)
	}
}

// TestReplicas counts what is ready of what is wanted.
func TestReplicas(t *testing.T) {
	for text, want := range map[string]string{
		"{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 3}, status: {readyReplicas: 1}}":              "1 of 3 replicas are ready",
		"{apiVersion: apps/v1, kind: DaemonSet, spec: {}, status: {desiredNumberScheduled: 2, numberReady: 0}}": "0 of 2 replicas are ready",
		"{apiVersion: batch/v1, kind: Job, spec: {}}":                                                           "not complete",
		"{apiVersion: v1, kind: Pod, spec: {}}":                                                                 "",
	} {
		if got := replicas(object(t, text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestSame compares what two objects say: it is the same when only their names differ.
func TestSame(t *testing.T) {
	one, other := Finding{Text: `pods "web-1" is forbidden`}, Finding{Text: `pods "web-2" is forbidden`}
	one.ID.Name, other.ID.Name = "web-1", "web-2"
	if !one.same(other) {
		t.Error("they say the same")
	}
	if other.Text = "another thing"; one.same(other) {
		t.Error("they do not say the same")
	}
}
