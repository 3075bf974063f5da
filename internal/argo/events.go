package argo

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// events writes Kubernetes events, in the background and in bounds.
type events struct {
	broadcaster record.EventBroadcaster
	recorder    record.EventRecorder
}

// Reasons of events, by the upstream's names.
const (
	reasonStarted   = "OperationStarted"
	reasonCompleted = "OperationCompleted"
	reasonUpdated   = "ResourceUpdated"
)

// maxEvent is the longest message that the API takes.
const maxEvent = 1024

func newEvents(client kubernetes.Interface) (events, error) {
	b := record.NewBroadcaster()
	b.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	return events{broadcaster: b, recorder: b.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: component})}, nil
}

func (e events) stop() { e.broadcaster.Shutdown() }

// operation tells that an operation begins, or how it ended.
func (e events) operation(obj *v1alpha1.Application, op *running) {
	who := orDefault(op.request.InitiatedBy.Username, "automated sync")
	revision := ""
	if op.state.SyncResult != nil {
		revision = op.state.SyncResult.Revision
	}
	switch {
	case op.state.FinishedAt == nil:
		e.of(obj, corev1.EventTypeNormal, reasonStarted, fmt.Sprintf("%s: sync to %s", who, revision)+reasonsOf(op.request))
	case op.state.Phase == v1alpha1.OperationSucceeded:
		e.of(obj, corev1.EventTypeNormal, reasonCompleted, fmt.Sprintf("%s: sync operation to %s succeeded", who, revision))
	default:
		e.of(obj, corev1.EventTypeWarning, reasonCompleted, fmt.Sprintf("%s: sync operation to %s failed: %s", who, revision, op.state.Message))
	}
}

// reasonsOf are why an operation was requested, if the request says so.
func reasonsOf(request v1alpha1.Operation) string {
	text := ""
	for _, line := range request.Info {
		if line.Name == v1alpha1.ReasonInfo {
			text += ": " + line.Value
		}
	}
	return text
}

func (e events) of(obj *v1alpha1.Application, eventType, reason, message string) {
	if len(message) > maxEvent {
		message = message[:maxEvent-3] + "..."
	}
	ref := &corev1.ObjectReference{
		APIVersion: groupVersion.String(), Kind: applicationKind.Kind, Namespace: obj.Namespace, Name: obj.Name,
		UID: obj.UID, ResourceVersion: obj.ResourceVersion,
	}
	e.recorder.Event(ref, eventType, reason, message)
}

// changed reports a changed sync status or health.
func (e events) changed(before *v1alpha1.Application, after *unstructured.Unstructured) {
	sync, _, _ := unstructured.NestedString(after.Object, "status", "sync", "status")
	health, _, _ := unstructured.NestedString(after.Object, "status", "health", "status")
	if was := string(before.Status.Sync.Status); was != sync {
		e.of(before, corev1.EventTypeNormal, reasonUpdated, fmt.Sprintf("Updated sync status: %s -> %s", was, sync))
	}
	if was := string(before.Status.Health.Status); was != health {
		e.of(before, corev1.EventTypeNormal, reasonUpdated, fmt.Sprintf("Updated health status: %s -> %s", was, health))
	}
}
