package argo

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
)

// events are about Applications, in the words of the upstream.
type events struct{ *declared.Events }

// Reasons of events, by the upstream's names.
const (
	reasonStarted   = "OperationStarted"
	reasonCompleted = "OperationCompleted"
	reasonUpdated   = "ResourceUpdated"
)

// operation reports whether an operation begins, or how it ended.
func (e events) operation(obj *v1alpha1.Application, op *running) {
	who := cmp.Or(op.request.InitiatedBy.Username, "automated sync")
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

// left reports whether a sync continues without the health of a child.
func (e events) left(obj *v1alpha1.Application, why string) {
	e.of(obj, corev1.EventTypeNormal, reasonUpdated, why)
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
	ref := &corev1.ObjectReference{
		APIVersion: groupVersion.String(), Kind: applicationKind.Kind, Namespace: obj.Namespace, Name: obj.Name,
		UID: obj.UID, ResourceVersion: obj.ResourceVersion,
	}
	e.Emit(obj, ref, declared.Event{Component: component, Type: eventType, Reason: reason, Message: message})
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
