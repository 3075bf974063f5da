package pods

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/execute/pods/wrapper"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// Names of the containers, as Argo Workflows has them.
const (
	mainContainer = "main"
	initContainer = "init"
	// waitContainer prints the outputs for which a termination message has no room.
	waitContainer = "wait"
)

const (
	// volume is the one that the containers share, mounted at shared.
	volume = "headgate"
	shared = "/var/run/headgate"
	// staging is where a script is.
	staging = "/argo/staging"
	// messageFile is where the kubelet reads the termination message of a container.
	messageFile = "/dev/termination-log"

	// defaultContainer is what kubectl shows the log of.
	defaultContainer = "kubectl.kubernetes.io/default-container"
)

// build is the pod of an execution. Contents are those of the input artifacts that the pod cannot download, by name. An error says what to
// change in the template.
func build(wf *v1alpha1.Workflow, run *plan.Run, image string, contents map[string][]byte) (*corev1.Pod, error) {
	task, err := taskOf(run, contents)
	if err != nil {
		return nil, err
	}
	program, err := programOf(run.Template, task)
	if err != nil {
		return nil, err
	}
	spec := settings(run)
	own, err := ownContainers(spec.SecurityContext, task, image)
	if err != nil {
		return nil, err
	}
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.InitContainers = append(own, usersContainers(run.Template, program)...)
	spec.Containers = []corev1.Container{*program}
	if spec.ActiveDeadlineSeconds, err = deadlineOf(run.Template); err != nil {
		return nil, err
	}
	if spec.Volumes, err = volumesOf(run, spec); err != nil {
		return nil, err
	}
	spec.Affinity = avoiding(spec.Affinity, run.Avoid)
	return &corev1.Pod{ObjectMeta: metadataOf(wf, run), Spec: spec}, nil
}

// metadataOf has the names by which commands, dashboards and this executor know a pod. What the user declares cannot replace them.
func metadataOf(wf *v1alpha1.Workflow, run *plan.Run) metav1.ObjectMeta {
	labels, annotations := map[string]string{}, map[string]string{defaultContainer: mainContainer}
	for _, declared := range []*v1alpha1.Metadata{run.Settings.PodMetadata, &run.Template.Metadata} {
		if declared != nil {
			maps.Copy(labels, declared.Labels)
			maps.Copy(annotations, declared.Annotations)
		}
	}
	labels[v1alpha1.LabelWorkflow] = wf.Name
	labels[v1alpha1.LabelCompleted] = "false"
	annotations[v1alpha1.AnnotationNodeID] = run.NodeID
	annotations[v1alpha1.AnnotationNodeName] = run.NodeName
	annotations[v1alpha1.AnnotationRun] = string(wf.UID) + "/" + run.NodeID
	return metav1.ObjectMeta{
		Name: run.Name, Namespace: wf.Namespace, Labels: labels, Annotations: annotations,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(wf, v1alpha1.GroupVersion.WithKind(v1alpha1.WorkflowKind))},
	}
}

// settings are those of the template, else those of the workflow.
func settings(run *plan.Run) corev1.PodSpec {
	all, own := &run.Settings, &run.Template.TemplatePodSettings
	spec := corev1.PodSpec{
		ServiceAccountName:           first(own.ServiceAccountName, all.ServiceAccountName),
		AutomountServiceAccountToken: first(own.AutomountServiceAccountToken, all.AutomountServiceAccountToken),
		NodeSelector:                 all.NodeSelector,
		Affinity:                     first(own.Affinity, all.Affinity).DeepCopy(),
		Tolerations:                  all.Tolerations,
		SchedulerName:                first(own.SchedulerName, all.SchedulerName),
		PriorityClassName:            first(own.PriorityClassName, all.PodPriorityClassName),
		Priority:                     first(own.Priority, all.PodPriority),
		HostAliases:                  all.HostAliases,
		SecurityContext:              first(own.SecurityContext, all.SecurityContext),
		ImagePullSecrets:             all.ImagePullSecrets,
		DNSConfig:                    all.DNSConfig,
	}
	if len(own.NodeSelector) > 0 {
		spec.NodeSelector = own.NodeSelector
	}
	if len(own.Tolerations) > 0 {
		spec.Tolerations = own.Tolerations
	}
	if len(own.HostAliases) > 0 {
		spec.HostAliases = own.HostAliases
	}
	if all.HostNetwork != nil {
		spec.HostNetwork = *all.HostNetwork
	}
	if all.DNSPolicy != nil {
		spec.DNSPolicy = *all.DNSPolicy
	}
	return spec
}

// first is the first value that is set.
func first[T comparable](one, other T) T {
	var none T
	if one != none {
		return one
	}
	return other
}

// deadlineOf is how long the pod may run.
func deadlineOf(template *v1alpha1.Template) (*int64, error) {
	if template.ActiveDeadlineSeconds == nil {
		return nil, nil
	}
	seconds, err := strconv.ParseInt(template.ActiveDeadlineSeconds.String(), 10, 32)
	if err != nil {
		return nil, fmt.Errorf("activeDeadlineSeconds %q is not a number", template.ActiveDeadlineSeconds.String())
	}
	return &seconds, nil
}

// volumesOf are the volumes that a container mounts, from the template, else from the workflow.
func volumesOf(run *plan.Run, spec corev1.PodSpec) ([]corev1.Volume, error) {
	all := []corev1.Volume{{Name: volume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	for _, container := range slices.Concat(spec.InitContainers, spec.Containers) {
		var names []string
		for _, mount := range container.VolumeMounts {
			names = append(names, mount.Name)
		}
		for _, device := range container.VolumeDevices {
			names = append(names, device.Name)
		}
		for _, name := range names {
			named := func(v corev1.Volume) bool { return v.Name == name }
			if slices.ContainsFunc(all, named) {
				continue
			}
			declared := slices.Concat(run.Template.Volumes, run.Settings.Volumes)
			at := slices.IndexFunc(declared, named)
			if at < 0 {
				return nil, fmt.Errorf("volume '%s' not found in workflow spec", name)
			}
			all = append(all, declared[at])
		}
	}
	return all, nil
}

// avoiding requires other machines than those of earlier attempts.
func avoiding(affinity *corev1.Affinity, hosts []string) *corev1.Affinity {
	if len(hosts) == 0 {
		return affinity
	}
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		required = &corev1.NodeSelector{}
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	if len(required.NodeSelectorTerms) == 0 {
		required.NodeSelectorTerms = []corev1.NodeSelectorTerm{{}}
	}
	// One of the terms has to match.
	for i := range required.NodeSelectorTerms {
		term := &required.NodeSelectorTerms[i]
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
			Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpNotIn, Values: hosts,
		})
	}
	return affinity
}

// taskOf is what is handed into the pod.
func taskOf(run *plan.Run, contents map[string][]byte) (*wrapper.Task, error) {
	template := run.Template
	task := &wrapper.Task{Contents: contents, Outputs: template.Outputs, Result: run.Result, Room: roomOf(len(template.InitContainers))}
	if template.Script != nil {
		task.Source = &template.Script.Source
	}
	for _, artifact := range template.Inputs.Artifacts {
		placed := artifact.Raw != nil || artifact.HTTP != nil || artifact.Git != nil || artifact.Local != nil
		switch {
		case placed:
			task.Inputs = append(task.Inputs, artifact)
		case !artifact.Optional:
			return nil, fmt.Errorf("inputs.artifacts: %q is in no place that is supported: raw, http, git, or the output of a step or task", artifact.Name)
		}
	}
	return task, nil
}

// roomOf is how many bytes a termination message has: the kubelet divides 12 KiB among the containers of a pod, and reads 4 KiB of each at most.
func roomOf(users int) int {
	const ours, each, all = 3, 4096, 12 << 10
	return min(each, all/(ours+users))
}
