package pods

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// Messages are those of Argo Workflows, since people and scripts match on them.
func TestObserve(t *testing.T) {
	const ended = "terminated: {exitCode: 1, reason: Error, startedAt: 2026-11-22T10:00:01Z, finishedAt: 2026-11-22T10:00:05Z}"
	type want struct {
		Phase, Message, ExitCode string
		Transient                bool
	}
	for name, tc := range map[string]struct {
		reason, status string
		change         func(*corev1.Pod)
		want           want
	}{
		"New":           {reason: "nothing is known", status: "{}", want: want{Phase: "Pending"}},
		"Unschedulable": {reason: "there is no machine", status: "{phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: 0/3 nodes are available}]}", want: want{Phase: "Pending", Message: "Unschedulable: 0/3 nodes are available"}},
		"Image":         {reason: "the image is not there", status: "{phase: Pending, initContainerStatuses: [{name: init, state: {waiting: {reason: PodInitializing}}}], containerStatuses: [{name: main, state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image \"x\"'}}}]}", want: want{Phase: "Pending", Message: `ImagePullBackOff: Back-off pulling image "x"`}},
		"Creating":      {reason: "a wait without a message", status: "{phase: Pending, containerStatuses: [{name: main, state: {waiting: {reason: ContainerCreating}}}]}", want: want{Phase: "Pending", Message: "ContainerCreating"}},
		"Running":       {reason: "it runs", status: "{phase: Running, containerStatuses: [{name: main, state: {running: {startedAt: 2026-11-22T10:00:01Z}}}]}", want: want{Phase: "Running"}},
		"Reporting":     {reason: "the program has ended, and its outputs are printed", status: "{phase: Running, containerStatuses: [{name: main, state: {" + ended + "}}]}", want: want{Phase: "Running"}},
		"Printing":      {reason: "the same, as a kubelet that is ahead says it", status: "{phase: Succeeded, initContainerStatuses: [{name: wait, state: {running: {}}}], containerStatuses: [{name: main, state: {terminated: {exitCode: 0}}}]}", want: want{Phase: "Running"}},
		"Succeeded":     {reason: "the exit code is 0", status: "{phase: Succeeded, containerStatuses: [{name: main, state: {terminated: {exitCode: 0, reason: Completed}}}]}", want: want{Phase: "Succeeded", ExitCode: "0"}},
		"Silent":        {reason: "outputs were declared and not reported", status: "{phase: Succeeded, initContainerStatuses: [{name: wait, state: {terminated: {exitCode: 0}}}], containerStatuses: [{name: main, state: {terminated: {exitCode: 0}}}]}", want: want{Phase: "Error", Message: "the outputs were not reported: the termination message of container main has none", ExitCode: "0"}},
		"Failed":        {reason: "the exit code is another one", status: "{phase: Failed, containerStatuses: [{name: main, state: {" + ended + "}}]}", want: want{Phase: "Failed", Message: "main: Error (exit code 1)", ExitCode: "1"}},
		"OwnMessage":    {reason: "the program left a message", status: "{phase: Failed, containerStatuses: [{name: main, state: {terminated: {exitCode: 2, reason: Error, message: no disk}}}]}", want: want{Phase: "Failed", Message: "main: Error (exit code 2): no disk", ExitCode: "2"}},
		"InLog":         {reason: "outputs of a failure that are in the log are no message", status: "{phase: Failed, containerStatuses: [{name: main, state: {terminated: {exitCode: 2, reason: Error, message: headgate/1 log abc}}}]}", want: want{Phase: "Failed", Message: "main: Error (exit code 2)", ExitCode: "2"}},
		"Garbage":       {reason: "a program wrote what is no report", status: "{phase: Succeeded, containerStatuses: [{name: main, state: {terminated: {exitCode: 0, message: headgate/1 xyz}}}]}", want: want{Phase: "Error", Message: "reading what the pod reported: illegal base64 data at input byte 0", ExitCode: "0"}},
		"Killed":        {reason: "it took too much memory", status: "{phase: Failed, containerStatuses: [{name: main, state: {terminated: {exitCode: 137, reason: OOMKilled}}}]}", want: want{Phase: "Failed", Message: "main: OOMKilled (exit code 137)", ExitCode: "137"}},
		"Init":          {reason: "inputs were not laid out", status: "{phase: Failed, initContainerStatuses: [{name: init, state: {terminated: {exitCode: 64, reason: Error, message: no such repository}}}], containerStatuses: [{name: main, state: {waiting: {reason: PodInitializing}}}]}", want: want{Phase: "Error", Message: "init: Error (exit code 64): no such repository"}},
		"UsersInit":     {reason: "an init container of the user failed", status: "{phase: Failed, initContainerStatuses: [{name: init, state: {terminated: {exitCode: 0}}}, {name: fetch, state: {terminated: {exitCode: 3, reason: Error}}}]}", want: want{Phase: "Failed", Message: "fetch: Error (exit code 3)"}},
		"Printer":       {reason: "how the container of the engine ends says nothing", status: "{phase: Failed, initContainerStatuses: [{name: wait, state: {terminated: {exitCode: 2, reason: Error}}}], containerStatuses: [{name: main, state: {" + ended + "}}]}", want: want{Phase: "Failed", Message: "main: Error (exit code 1)", ExitCode: "1"}},
		"Evicted":       {reason: "the machine had no more memory: another attempt may succeed", status: "{phase: Failed, reason: Evicted, message: 'The node was low on resource: memory.'}", want: want{Phase: "Failed", Message: "The node was low on resource: memory.", Transient: true}},
		"Disrupted":     {reason: "the pod was preempted", status: "{phase: Failed, conditions: [{type: DisruptionTarget, status: 'True'}], containerStatuses: [{name: main, state: {terminated: {exitCode: 143, reason: Error}}}]}", want: want{Phase: "Failed", Message: "main: Error (exit code 143)", ExitCode: "143", Transient: true}},
		"Deadline":      {reason: "it was active for too long", status: "{phase: Failed, reason: DeadlineExceeded, message: Pod was active on the node longer than the specified deadline}", want: want{Phase: "Failed", Message: "Pod was active on the node longer than the specified deadline"}},
		"Stopped": {
			reason: "this engine had it stopped", status: "{phase: Failed, reason: DeadlineExceeded, message: Pod was active on the node longer than the specified deadline}",
			change: func(p *corev1.Pod) { p.Annotations = map[string]string{annotationStop: "Stopped with strategy 'Stop'"} },
			want:   want{Phase: "Failed", Message: "Stopped with strategy 'Stop'"},
		},
		"StoppedLate": {
			reason: "it failed on its own before", status: "{phase: Failed, containerStatuses: [{name: main, state: {" + ended + "}}]}",
			change: func(p *corev1.Pod) { p.Annotations = map[string]string{annotationStop: "Stopped with strategy 'Stop'"} },
			want:   want{Phase: "Failed", Message: "main: Error (exit code 1)", ExitCode: "1"},
		},
		"Deleted": {
			reason: "a user deleted it while it was running", status: "{phase: Failed, containerStatuses: [{name: main, state: {" + ended + "}}]}",
			change: deletedAt("2026-11-22T10:00:04Z"), want: want{Phase: "Error", Message: "pod deleted", ExitCode: "1"},
		},
		"DeletedLater": {
			reason: "a user deleted it after its end", status: "{phase: Failed, containerStatuses: [{name: main, state: {" + ended + "}}]}",
			change: deletedAt("2026-11-22T10:00:10Z"), want: want{Phase: "Failed", Message: "main: Error (exit code 1)", ExitCode: "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{}
			if err := yaml.UnmarshalStrict([]byte(tc.status), &pod.Status); err != nil {
				t.Fatal(err)
			}
			if tc.change != nil {
				tc.change(pod)
			}
			leaf := observe(pod).leaf
			got := want{Phase: string(leaf.Phase), Message: leaf.Message, Transient: leaf.Transient}
			if leaf.Outputs != nil && leaf.Outputs.ExitCode != nil {
				got.ExitCode = *leaf.Outputs.ExitCode
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// deletedAt has the deletion requested at a time, with a grace period.
func deletedAt(text string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			panic(err)
		}
		grace := int64(30)
		end := metav1.NewTime(at.Add(time.Duration(grace) * time.Second))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &end, &grace
	}
}

func TestObserveTimes(t *testing.T) {
	pod := &corev1.Pod{}
	status := "{phase: Failed, startTime: 2026-11-22T09:00:00Z, containerStatuses: [{name: main, state: {terminated: {exitCode: 1, startedAt: 2026-11-22T10:00:01Z, finishedAt: 2026-11-22T10:00:05Z}}}]}"
	if err := yaml.UnmarshalStrict([]byte(status), &pod.Status); err != nil {
		t.Fatal(err)
	}
	pod.Spec.NodeName = "node-1"
	leaf := observe(pod).leaf
	want := plan.Leaf{StartedAt: time.Date(2026, 11, 22, 10, 0, 1, 0, time.UTC), FinishedAt: time.Date(2026, 11, 22, 10, 0, 5, 0, time.UTC), Host: "node-1"}
	if !leaf.StartedAt.Equal(want.StartedAt) || !leaf.FinishedAt.Equal(want.FinishedAt) || leaf.Host != want.Host {
		t.Errorf("%v - %v on %q, want %v", leaf.StartedAt, leaf.FinishedAt, leaf.Host, want)
	}
}

// TestEndsOnce keeps how a pod ended that was deleted while it ran: the API server sets its grace period to zero, and the moment of its deletion to
// now, before it goes.
func TestEndsOnce(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "p", UID: "u", ResourceVersion: "1", Annotations: map[string]string{v1alpha1.AnnotationRun: "w/n"}, Labels: map[string]string{v1alpha1.LabelWorkflow: "wf"},
	}}
	status := "{phase: Failed, containerStatuses: [{name: main, state: {terminated: {exitCode: 143, startedAt: 2026-11-22T10:00:01Z, finishedAt: 2026-11-22T10:00:05Z}}}]}"
	if err := yaml.UnmarshalStrict([]byte(status), &pod.Status); err != nil {
		t.Fatal(err)
	}
	r := newRecords()
	for i, grace := range []int64{30, 0} {
		at := metav1.NewTime(time.Date(2026, 11, 22, 10, 0, 35, 0, time.UTC))
		if grace == 0 {
			at = metav1.NewTime(time.Date(2026, 11, 22, 10, 0, 6, 0, time.UTC))
		}
		pod.ResourceVersion, pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = strconv.Itoa(i+1), &at, &grace
		of, changed := r.put(pod)
		one, known := r.get(of, "n")
		if !changed || !known || !one.ended || one.seen.leaf.Message != "pod deleted" {
			t.Errorf("with a grace period of %d s it is known: %v, and %s: %q", grace, known, one.seen.leaf.Phase, one.seen.leaf.Message)
		}
	}
}
