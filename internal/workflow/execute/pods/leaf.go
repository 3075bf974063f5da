package pods

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/execute/pods/wrapper"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// seen is what the status of a pod says of an execution.
type seen struct {
	leaf plan.Leaf
	// report is what the program's container reported; digest is set instead if it is in a log.
	report *wrapper.Report
	digest string
	// declared is what the pod was handed, if it reported anything: a program may report whatever it likes.
	declared *wrapper.Task
}

// reasonDeadline is that of a pod that was active for longer than it may.
const reasonDeadline = "DeadlineExceeded"

// observe reads the status of a pod. Messages are those of Argo Workflows.
func observe(pod *corev1.Pod) seen {
	s := seen{leaf: plan.Leaf{Host: pod.Spec.NodeName, StartedAt: startOf(pod), Labels: pod.Labels}}
	program := statusOf(pod.Status.ContainerStatuses, mainContainer)
	switch {
	case prints(pod), pod.Status.Phase == corev1.PodRunning:
		s.leaf.Phase = v1alpha1.NodeRunning
		return s
	case pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		s.leaf.FinishedAt = endOf(pod)
	default:
		s.leaf.Phase, s.leaf.Message = v1alpha1.NodePending, pendingReason(pod)
		return s
	}
	if program != nil && program.State.Terminated != nil {
		code := strconv.Itoa(int(program.State.Terminated.ExitCode))
		s.leaf.Outputs = &v1alpha1.Outputs{ExitCode: &code}
		var err error
		if s.report, s.digest, err = wrapper.Reported(program.State.Terminated.Message); err != nil {
			s.leaf.Phase, s.leaf.Message = v1alpha1.NodeError, err.Error()
			return s
		}
		if s.report != nil || s.digest != "" {
			s.declared = declaredBy(pod)
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		s.fail(pod)
		return s
	}
	s.leaf.Phase = v1alpha1.NodeSucceeded
	if s.report == nil && s.digest == "" && statusOf(pod.Status.InitContainerStatuses, waitContainer) != nil {
		s.leaf.Phase, s.leaf.Message = v1alpha1.NodeError, "the outputs were not reported: the termination message of container main has none"
	}
	return s
}

// declaredBy is what a pod was handed, from its spec, which no one can change; nil for one that this executor did not make.
func declaredBy(pod *corev1.Pod) *wrapper.Task {
	at := slices.IndexFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == initContainer })
	if at < 0 {
		return nil
	}
	task, err := wrapper.Handed(func(name string) (string, bool) {
		env := pod.Spec.InitContainers[at].Env
		found := slices.IndexFunc(env, func(e corev1.EnvVar) bool { return e.Name == name })
		if found < 0 {
			return "", false
		}
		return env[found].Value, true
	})
	if err != nil {
		return nil
	}
	return &wrapper.Task{Outputs: task.Outputs, Result: task.Result}
}

// prints reports whether a pod has outputs that are still being printed, although it has succeeded.
func prints(pod *corev1.Pod) bool {
	printer := statusOf(pod.Status.InitContainerStatuses, waitContainer)
	return pod.Status.Phase == corev1.PodSucceeded && printer != nil && printer.State.Running != nil
}

// fail says why a pod failed. The failure of a pod whose machine failed, or was needed otherwise, may not occur again.
func (s *seen) fail(pod *corev1.Pod) {
	disrupted := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
	s.leaf.Transient = disrupted || slices.Contains(passing, pod.Status.Reason)
	stopped, isStopped := pod.Annotations[annotationStop]
	switch {
	case isStopped && pod.Status.Reason == reasonDeadline:
		s.leaf.Phase, s.leaf.Message = v1alpha1.NodeFailed, stopped
	case pod.DeletionTimestamp != nil && !endOf(pod).Before(pod.DeletionTimestamp.Add(-gracePeriod(pod))):
		// It was running when it was deleted.
		s.leaf.Phase, s.leaf.Message = v1alpha1.NodeError, "pod deleted"
	case pod.Status.Message != "":
		s.leaf.Phase, s.leaf.Message = v1alpha1.NodeFailed, pod.Status.Message
	default:
		s.leaf.Phase, s.leaf.Message = failure(pod, s.report)
	}
}

// passing are the reasons of failures that are not those of the program.
var passing = []string{
	"Evicted", "NodeLost", "NodeShutdown", "Shutdown", "Terminated", "Preempting", "NodeAffinity", "UnexpectedAdmissionError", "OutOfcpu", "OutOfmemory", "OutOfpods", "OutOfephemeral-storage",
}

// gracePeriod is how long the pod has to end after its deletion was requested; the time of deletion is the end of it.
func gracePeriod(pod *corev1.Pod) time.Duration {
	if pod.DeletionGracePeriodSeconds == nil {
		return 0
	}
	return time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
}

// failure is that of the container which explains it: an init container, else the program, else any other.
func failure(pod *corev1.Pod, report *wrapper.Report) (v1alpha1.NodePhase, string) {
	containers := slices.Clone(pod.Status.ContainerStatuses)
	slices.SortStableFunc(containers, func(a, b corev1.ContainerStatus) int { return cmp.Compare(rank(a.Name), rank(b.Name)) })
	// What the container reports that prints outputs follows from how the others ended.
	inits := slices.DeleteFunc(slices.Clone(pod.Status.InitContainerStatuses), func(c corev1.ContainerStatus) bool { return c.Name == waitContainer })
	all := append(inits, containers...)
	if len(all) == 0 {
		return v1alpha1.NodeFailed, fmt.Sprintf("can't find failed message for pod %s namespace %s", pod.Name, pod.Namespace)
	}
	for _, container := range all {
		if waiting := container.State.Waiting; waiting != nil {
			return v1alpha1.NodeError, fmt.Sprintf("Pod failed before %s container starts due to %s: %s", container.Name, waiting.Reason, waiting.Message)
		}
		ended := container.State.Terminated
		if ended == nil || ended.ExitCode == 0 {
			continue
		}
		message := fmt.Sprintf("%s: %s (exit code %d)", container.Name, ended.Reason, ended.ExitCode)
		switch {
		case container.Name == mainContainer && report != nil && report.Error != "":
			return v1alpha1.NodeError, message + ": " + report.Error
		case container.Name == initContainer:
			return v1alpha1.NodeError, withText(message, ended.Message)
		case container.Name == mainContainer && report != nil:
			return v1alpha1.NodeFailed, message
		default:
			if _, digest, err := wrapper.Reported(ended.Message); digest != "" || err != nil {
				return v1alpha1.NodeFailed, message
			}
			return v1alpha1.NodeFailed, withText(message, ended.Message)
		}
	}
	return v1alpha1.NodeFailed, "pod failed: main container did not complete successfully"
}

func rank(name string) int {
	if name == mainContainer {
		return 0
	}
	return 1
}

func withText(message, text string) string {
	if text == "" {
		return message
	}
	return message + ": " + text
}

// pendingReason says what a pod waits for: an image, or a machine.
func pendingReason(pod *corev1.Pod) string {
	short := ""
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		waiting := container.State.Waiting
		switch {
		case waiting == nil:
		case waiting.Message != "":
			return waiting.Reason + ": " + waiting.Message
		case short == "":
			short = waiting.Reason
		}
	}
	if short != "" {
		return short
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Reason == corev1.PodReasonUnschedulable {
			return withText(condition.Reason, condition.Message)
		}
	}
	return ""
}

func statusOf(all []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	at := slices.IndexFunc(all, func(c corev1.ContainerStatus) bool { return c.Name == name })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// startOf is when the program began, else when the kubelet began with the pod.
func startOf(pod *corev1.Pod) time.Time {
	if program := statusOf(pod.Status.ContainerStatuses, mainContainer); program != nil {
		switch state := program.State; {
		case state.Running != nil:
			return state.Running.StartedAt.Time
		case state.Terminated != nil && !state.Terminated.StartedAt.IsZero():
			return state.Terminated.StartedAt.Time
		}
	}
	if pod.Status.StartTime == nil {
		return time.Time{}
	}
	return pod.Status.StartTime.Time
}

// endOf is when the last container ended.
func endOf(pod *corev1.Pod) time.Time {
	var last time.Time
	for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if ended := container.State.Terminated; ended != nil && ended.FinishedAt.After(last) {
			last = ended.FinishedAt.Time
		}
	}
	return last
}
