package workload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Timing says how often a probe is made, in seconds; what is 0 is left to the API server.
type Timing struct {
	InitialDelay, Period, Timeout int32
	// Failures in a row that count as one, and Successes after which it is over.
	Failures, Successes int32
}

// HTTP is a probe that gets a path from a port; the number of the port, or its name.
func (t Timing) HTTP(path string, port intstr.IntOrString) *corev1.Probe {
	return t.probe(corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: port}})
}

// TCP is a probe that connects to a port.
func (t Timing) TCP(port int32) *corev1.Probe {
	return t.probe(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}})
}

// GRPC is a probe that asks the health service of a port.
func (t Timing) GRPC(port int32) *corev1.Probe {
	return t.probe(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: port}})
}

// Command is a probe that runs a command in the container.
func (t Timing) Command(command ...string) *corev1.Probe {
	return t.probe(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}})
}

func (t Timing) probe(handler corev1.ProbeHandler) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: handler, InitialDelaySeconds: t.InitialDelay, PeriodSeconds: t.Period, TimeoutSeconds: t.Timeout,
		FailureThreshold: t.Failures, SuccessThreshold: t.Successes,
	}
}
