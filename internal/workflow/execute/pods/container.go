package pods

import (
	"errors"
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/execute/pods/wrapper"
)

// errNoCommand is why a container is not started whose command is the one of its image.
var errNoCommand = errors.New("container.command is required: the command is run by a process that collects outputs, and that of an image is not looked up in its registry; " +
	"take it from the ENTRYPOINT and CMD of the image")

// programOf is the container of the template, with its program run by the wrapper.
func programOf(template *v1alpha1.Template, task *wrapper.Task) (*corev1.Container, error) {
	var program *corev1.Container
	switch {
	case template.Container != nil:
		program = template.Container.DeepCopy()
	case template.Script != nil:
		program = template.Script.Container.DeepCopy()
		program.Args = append(program.Args, path.Join(staging, wrapper.ScriptFile))
	default:
		return nil, fmt.Errorf("template %q has neither a container nor a script", template.Name)
	}
	if len(program.Command) == 0 {
		return nil, fmt.Errorf("image %q: %w", program.Image, errNoCommand)
	}
	program.Name = mainContainer
	program.Command = slices.Concat([]string{path.Join(shared, wrapper.Binary), wrapper.Command, wrapper.Run, shared, messageFile, "--"}, program.Command)
	// What a program prints is not a message: it may be secret.
	program.TerminationMessagePath, program.TerminationMessagePolicy = messageFile, corev1.TerminationMessageReadFile
	program.VolumeMounts = append(program.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: shared})
	// The wrapper uploads what has a place elsewhere; it keeps what it needs for that from the program.
	program.Env = append(program.Env, secretsOf(task.Outputs.Artifacts)...)
	if task.Source != nil {
		program.VolumeMounts = append(program.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: staging, SubPath: wrapper.Staging})
	}
	for _, artifact := range task.Inputs {
		program.VolumeMounts = append(program.VolumeMounts, corev1.VolumeMount{
			Name: volume, MountPath: artifact.Path, SubPath: path.Join(wrapper.Inputs, artifact.Name),
		})
	}
	return program, nil
}

// ownContainers are those of this engine: the first one lays out what the program needs; the other one, if there are outputs, runs as long as the program
// and prints those that a termination message has no room for. As a container that begins before the program and is ended after it by the kubelet, it changes neither
// the phase of the pod nor needs to know how the program ends.
func ownContainers(pod *corev1.PodSecurityContext, task *wrapper.Task, image string) ([]corev1.Container, error) {
	names, values, err := task.Environment()
	if err != nil {
		return nil, err
	}
	container := func(name, part string) corev1.Container {
		return corev1.Container{
			Name: name, Image: image, Args: []string{wrapper.Command, part, shared, messageFile},
			TerminationMessagePath: messageFile, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			VolumeMounts:    []corev1.VolumeMount{{Name: volume, MountPath: shared}},
			SecurityContext: confined(pod),
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
			}},
		}
	}
	first := container(initContainer, wrapper.Prepare)
	for i := range names {
		first.Env = append(first.Env, corev1.EnvVar{Name: names[i], Value: values[i]})
	}
	first.Env = append(first.Env, secretsOf(task.Inputs)...)
	all := []corev1.Container{first}
	if task.HasOutputs() {
		printer := container(waitContainer, wrapper.Print)
		always := corev1.ContainerRestartPolicyAlways
		printer.RestartPolicy = &always
		all = append(all, printer)
	}
	return all, nil
}

// confined is what containers of this engine may do: what the strictest policy of pods permits. A pod that runs as root has them run as another user.
func confined(pod *corev1.PodSecurityContext) *corev1.SecurityContext {
	yes, no := true, false
	confined := &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, RunAsNonRoot: &yes,
		Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if pod != nil && pod.RunAsUser != nil && *pod.RunAsUser == 0 {
		user := int64(65532)
		confined.RunAsUser = &user
	}
	return confined
}

// secretsOf has the kubelet read the Secrets that artifacts name.
func secretsOf(artifacts []v1alpha1.Artifact) []corev1.EnvVar {
	var all []corev1.EnvVar
	add := func(keys ...*corev1.SecretKeySelector) {
		for _, key := range keys {
			if key == nil {
				continue
			}
			name := wrapper.SecretVariable(key.Name, key.Key)
			if !slices.ContainsFunc(all, func(e corev1.EnvVar) bool { return e.Name == name }) {
				all = append(all, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: key}})
			}
		}
	}
	for _, artifact := range artifacts {
		if git := artifact.Git; git != nil {
			add(git.UsernameSecret, git.PasswordSecret, git.SSHPrivateKeySecret)
		}
		if http := artifact.HTTP; http != nil && http.Auth != nil && http.Auth.BasicAuth != nil {
			add(http.Auth.BasicAuth.UsernameSecret, http.Auth.BasicAuth.PasswordSecret)
		}
	}
	return all
}

// usersContainers are the init containers of the template; they run after that of this engine.
func usersContainers(template *v1alpha1.Template, program *corev1.Container) []corev1.Container {
	var all []corev1.Container
	for i := range template.InitContainers {
		declared := &template.InitContainers[i]
		container := declared.Container.DeepCopy()
		if declared.MirrorVolumeMounts != nil && *declared.MirrorVolumeMounts {
			for _, mount := range program.VolumeMounts {
				if !slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == mount.MountPath }) {
					container.VolumeMounts = append(container.VolumeMounts, mount)
				}
			}
		}
		all = append(all, *container)
	}
	return all
}
