package workload

import (
	corev1 "k8s.io/api/core/v1"
)

// Policy fills in what a pod leaves open.
type Policy interface {
	// Apply changes the pod. What is set in it stays.
	Apply(pod *corev1.PodSpec)
}

// Restricted is what the Pod Security Standard of this name demands: no root, no privilege escalation, no capabilities, the seccomp
// profile of the runtime.
type Restricted struct {
	// ReadOnlyRoot makes the files of the image read-only too, which the standard does not demand.
	ReadOnlyRoot bool
}

// Apply fills in the security contexts.
func (r Restricted) Apply(pod *corev1.PodSpec) {
	if pod.SecurityContext == nil {
		pod.SecurityContext = &corev1.PodSecurityContext{}
	}
	setDefault(&pod.SecurityContext.RunAsNonRoot, true)
	if pod.SecurityContext.SeccompProfile == nil {
		pod.SecurityContext.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	eachContainer(pod, func(c *corev1.Container) {
		if c.SecurityContext == nil {
			c.SecurityContext = &corev1.SecurityContext{}
		}
		setDefault(&c.SecurityContext.AllowPrivilegeEscalation, false)
		if c.SecurityContext.Capabilities == nil {
			c.SecurityContext.Capabilities = &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}
		}
		if r.ReadOnlyRoot {
			setDefault(&c.SecurityContext.ReadOnlyRootFilesystem, true)
		}
	})
}

// NoToken keeps the token of the service account out of pods, which few need.
type NoToken struct{}

// Apply turns the mount of the token off.
func (NoToken) Apply(pod *corev1.PodSpec) { setDefault(&pod.AutomountServiceAccountToken, false) }

// Resources are the requests and limits of containers that have neither.
type Resources corev1.ResourceRequirements

// Apply gives them to the containers.
func (r Resources) Apply(pod *corev1.PodSpec) {
	eachContainer(pod, func(c *corev1.Container) {
		if c.Resources.Requests == nil && c.Resources.Limits == nil {
			(*corev1.ResourceRequirements)(&r).DeepCopyInto(&c.Resources)
		}
	})
}

// PullSecrets are the Secrets with logins for registries, for pods that name none.
type PullSecrets []string

// Apply names them.
func (s PullSecrets) Apply(pod *corev1.PodSpec) {
	if len(pod.ImagePullSecrets) > 0 {
		return
	}
	for _, name := range s {
		pod.ImagePullSecrets = append(pod.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
}

// Pull is when images are pulled, for containers that do not say.
type Pull corev1.PullPolicy

// Apply sets the policy.
func (p Pull) Apply(pod *corev1.PodSpec) {
	eachContainer(pod, func(c *corev1.Container) {
		if c.ImagePullPolicy == "" {
			c.ImagePullPolicy = corev1.PullPolicy(p)
		}
	})
}

// eachContainer visits the containers of a pod, those that run first included.
func eachContainer(pod *corev1.PodSpec, visit func(*corev1.Container)) {
	for i := range pod.InitContainers {
		visit(&pod.InitContainers[i])
	}
	for i := range pod.Containers {
		visit(&pod.Containers[i])
	}
}

// setDefault gives a value to a field that has none.
func setDefault[T any](to **T, value T) {
	if *to == nil {
		*to = &value
	}
}
