package argocd

import (
	"encoding/json"
	"fmt"
	"slices"
)

type balanced struct {
	Spec struct {
		Type string `json:"type"`
	} `json:"spec"`
	Status struct {
		LoadBalancer struct {
			Ingress []any `json:"ingress"`
		} `json:"loadBalancer"`
	} `json:"status"`
}

func serviceHealth(s *balanced) (Health, error) {
	if s.Spec.Type != "LoadBalancer" {
		return healthy("")
	}
	return ingressHealth(s)
}

func ingressHealth(s *balanced) (Health, error) {
	if len(s.Status.LoadBalancer.Ingress) > 0 {
		return healthy("")
	}
	return progressing("")
}

type phased struct {
	Status struct {
		Phase   string `json:"phase"`
		Message string `json:"message"`
	} `json:"status"`
}

func claimHealth(c *phased) (Health, error) {
	switch c.Status.Phase {
	case "Bound":
		return healthy("")
	case "Pending":
		return progressing("")
	case "Lost":
		return degraded("")
	}
	return Health{Status: Unknown}, nil
}

func workflowHealth(w *phased) (Health, error) {
	message := w.Status.Message
	switch w.Status.Phase {
	case "", "Pending", "Running":
		return Health{Status: Progressing, Message: message}, nil
	case "Succeeded":
		return healthy(message)
	case "Failed", "Error":
		return degraded(message)
	}
	return Health{Status: Unknown, Message: message}, nil
}

type conditioned struct {
	APIVersion string `json:"apiVersion"`
	Metadata   meta   `json:"metadata"`
	Status     struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

func apiServiceHealth(a *conditioned) (Health, error) {
	c, found := find(a.Status.Conditions, "Available")
	switch {
	case !found:
		return progressing("Waiting to be processed")
	case c.Status == "True":
		return healthy(c.Reason + ": " + c.Message)
	}
	return progressing("%s: %s", c.Reason, c.Message)
}

// virtualClusterHealth tells a cluster that starts from one that has ended or cannot be reached.
func virtualClusterHealth(v *conditioned) (Health, error) {
	c, found := find(v.Status.Conditions, "Ready")
	switch {
	case !found:
		return progressing("Waiting for its control plane")
	case c.Status == "True":
		return healthy(c.Message)
	case c.Reason == "ControlPlaneEnded" || c.Reason == "NameTaken":
		return degraded(c.Message)
	}
	return progressing("%s: %s", c.Reason, c.Message)
}

// autoscalerConditions is where version 1 keeps the conditions, for want of a field.
const autoscalerConditions = "autoscaling.alpha.kubernetes.io/conditions"

// autoscalerHealth follows the conditions: one that reports a failure outweighs all others.
func autoscalerHealth(a *conditioned) (Health, error) {
	conditions := a.Status.Conditions
	if a.APIVersion == "autoscaling/v1" {
		conditions = nil
		if text, ok := a.Metadata.Annotations[autoscalerConditions]; ok {
			if err := json.Unmarshal([]byte(text), &conditions); err != nil {
				return Health{}, fmt.Errorf("failed to convert conditions annotation to typed: %w", err)
			}
		}
	}
	for _, c := range conditions {
		if slices.Contains(autoscalerFailures(c.Type), c.Reason) {
			return degraded(c.Message)
		}
	}
	for _, c := range conditions {
		if (c.Type == "AbleToScale" || c.Type == "ScalingLimited") && c.Status == "True" {
			return healthy(c.Message)
		}
	}
	return progressing("Waiting to Autoscale")
}

// autoscalerFailures are the reasons by which a condition reports a failure.
func autoscalerFailures(kind string) []string {
	switch kind {
	case "AbleToScale":
		return []string{"FailedGetScale", "FailedUpdateScale"}
	case "ScalingActive":
		return []string{
			"FailedGetResourceMetric", "FailedGetObjectMetric", "FailedGetPodsMetric", "FailedGetExternalMetric",
			"FailedComputeMetricsReplicas", "InvalidSelector",
		}
	}
	return nil
}
