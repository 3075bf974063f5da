package argocd

import (
	"fmt"
	"slices"
	"strings"
)

type pod struct {
	Spec struct {
		RestartPolicy string `json:"restartPolicy"`
	} `json:"spec"`
	Status struct {
		Phase                 string      `json:"phase"`
		Message               string      `json:"message"`
		Conditions            []condition `json:"conditions"`
		InitContainerStatuses []container `json:"initContainerStatuses"`
		ContainerStatuses     []container `json:"containerStatuses"`
	} `json:"status"`
}

type container struct {
	Name  string `json:"name"`
	State struct {
		Waiting *struct {
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"waiting"`
		Terminated *termination `json:"terminated"`
	} `json:"state"`
	LastState struct {
		Terminated *termination `json:"terminated"`
	} `json:"lastState"`
}

type termination struct {
	ExitCode int32  `json:"exitCode"`
	Reason   string `json:"reason"`
	Message  string `json:"message"`
}

// podHealth lets a container that cannot start count against a pod only when it is to run always: others may be hooks, which would fail
// although the cause may still go away.
func podHealth(p *pod) (Health, error) {
	always := p.Spec.RestartPolicy == "Always"
	if messages := stuck(p.Status.ContainerStatuses); always && messages != nil {
		return degraded(strings.Join(messages, ", "))
	}
	message := p.Status.Message
	switch p.Status.Phase {
	case "Pending":
		return Health{Status: Progressing, Message: message}, nil
	case "Succeeded":
		return healthy(message)
	case "Failed":
		return degraded(failureOf(p))
	case "Running":
		if always || p.Spec.RestartPolicy == "OnFailure" || p.Spec.RestartPolicy == "Never" {
			return runningHealth(p, always)
		}
	}
	return Health{Status: Unknown, Message: message}, nil
}

// runningHealth is that of a pod that runs. One that is meant to end is on its way until it has ended.
func runningHealth(p *pod, always bool) (Health, error) {
	message := p.Status.Message
	if !always {
		return Health{Status: Progressing, Message: message}, nil
	}
	if ready, _ := find(p.Status.Conditions, "Ready"); ready.Status == "True" {
		return healthy(message)
	}
	if slices.ContainsFunc(p.Status.ContainerStatuses, func(c container) bool { return c.LastState.Terminated != nil }) {
		return degraded(message)
	}
	return Health{Status: Progressing, Message: message}, nil
}

// stuck are the messages of the containers that wait because of an error.
func stuck(containers []container) []string {
	var messages []string
	for _, c := range containers {
		w := c.State.Waiting
		if w != nil && (strings.HasPrefix(w.Reason, "Err") || strings.HasSuffix(w.Reason, "Error") || strings.HasSuffix(w.Reason, "BackOff")) {
			messages = append(messages, w.Message)
		}
	}
	return messages
}

// failureOf says why a pod has failed: in its own words, or else those of the first container that has some.
func failureOf(p *pod) string {
	if p.Status.Message != "" {
		return p.Status.Message
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		end := c.State.Terminated
		switch {
		case end == nil:
		case end.Message != "":
			return end.Message
		case end.Reason == "OOMKilled":
			return end.Reason
		case end.ExitCode != 0:
			return fmt.Sprintf("container %q failed with exit code %d", c.Name, end.ExitCode)
		}
	}
	return ""
}
