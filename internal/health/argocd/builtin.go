package argocd

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// builtins are the checks that Argo CD has in Go, and that of VirtualClusters, which may stand for a chart.
func builtins() map[schema.GroupKind]check {
	return map[schema.GroupKind]check{
		{Group: "apps", Kind: "Deployment"}:                     typed(deploymentHealth, "v1"),
		{Group: "apps", Kind: "StatefulSet"}:                    typed(statefulSetHealth, "v1"),
		{Group: "apps", Kind: "ReplicaSet"}:                     typed(replicaSetHealth, "v1"),
		{Group: "apps", Kind: "DaemonSet"}:                      typed(daemonSetHealth, "v1"),
		{Group: "batch", Kind: "Job"}:                           typed(jobHealth, "v1"),
		{Kind: "Pod"}:                                           typed(podHealth, "v1"),
		{Kind: "Service"}:                                       typed(serviceHealth, "v1"),
		{Kind: "PersistentVolumeClaim"}:                         typed(claimHealth, "v1"),
		{Group: "extensions", Kind: "Ingress"}:                  typed(ingressHealth),
		{Group: "networking.k8s.io", Kind: "Ingress"}:           typed(ingressHealth),
		{Group: "apiregistration.k8s.io", Kind: "APIService"}:   typed(apiServiceHealth, "v1", "v1beta1"),
		{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: typed(autoscalerHealth, "v1", "v2", "v2beta1", "v2beta2"),
		{Group: "argoproj.io", Kind: "Workflow"}:                typed(workflowHealth),
		{Group: "cluster.headgate.dev", Kind: "VirtualCluster"}: typed(virtualClusterHealth),
	}
}

// typed converts an object to the fields that a check reads. The versions are those that Argo CD knows; none given means any.
func typed[T any](judge func(*T) (Health, error), versions ...string) check {
	return func(_ context.Context, u *unstructured.Unstructured) (Health, error) {
		gvk := u.GroupVersionKind()
		known := len(versions) == 0
		for _, version := range versions {
			known = known || gvk.Version == version
		}
		if !known {
			return Health{}, fmt.Errorf("unsupported %s GVK: %s", shortKind(gvk.Kind), gvk)
		}
		var object T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &object); err != nil {
			return Health{}, fmt.Errorf("failed to convert unstructured %s to typed: %w", shortKind(gvk.Kind), err)
		}
		return judge(&object)
	}
}

// shortKind is how Argo CD's messages name a kind.
func shortKind(kind string) string {
	switch kind {
	case "HorizontalPodAutoscaler":
		return "HPA"
	case "Workflow":
		return "argoworkflow"
	default:
		return kind
	}
}

type meta struct {
	Name        string            `json:"name"`
	Generation  int64             `json:"generation"`
	Annotations map[string]string `json:"annotations"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func find(conditions []condition, kind string) (condition, bool) {
	for _, c := range conditions {
		if c.Type == kind {
			return c, true
		}
	}
	return condition{}, false
}

func healthy(message string) (Health, error) { return Health{Status: Healthy, Message: message}, nil }

func progressing(format string, args ...any) (Health, error) {
	return Health{Status: Progressing, Message: fmt.Sprintf(format, args...)}, nil
}

func degraded(message string) (Health, error) { return Health{Status: Degraded, Message: message}, nil }
