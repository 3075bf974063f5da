package process

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// refusal is why a process can never be what a template declares, by the name of the field; empty if it can.
func (e *Executor) refusal(run *plan.Run) string {
	t := run.Template
	kind, c := "container", containerOf(t)
	if t.Script != nil {
		kind = "script"
	}
	if c == nil {
		return fmt.Sprintf("template %q has neither container nor script, and nothing else is run as a process", t.Name)
	}
	var fields []string
	for _, refuse := range []func(*plan.Run, *corev1.Container) []string{later, ofContainer, ofPod, ofVolumes} {
		fields = append(fields, refuse(run, c)...)
	}
	if len(fields) > 0 {
		slices.Sort(fields)
		return fmt.Sprintf("template %q: processes of this machine (--allow-local-exec) do not support %s; remove it, or run the workflow on a cluster with nodes",
			t.Name, strings.ReplaceAll(strings.Join(slices.Compact(fields), ", "), "container.", kind+"."))
	}
	if len(c.Command) == 0 {
		return fmt.Sprintf("template %q: image %q is not pulled, so that its entrypoint is unknown: declare %s.command", t.Name, c.Image, kind)
	}
	if reason := e.unconfined(); reason != "" {
		return fmt.Sprintf("template %q: %s", t.Name, reason)
	}
	if e.ability.Reason != "" {
		if paths := own(run, c); len(paths) > 0 {
			return fmt.Sprintf("template %q: %s: processes of this machine cannot have paths of their own, since there are no mount namespaces: %s",
				t.Name, strings.Join(paths, ", "), e.ability.Reason)
		}
	}
	return ""
}

// unconfined is why nothing runs on a machine that cannot confine it; empty if it can, or if that is permitted.
func (e *Executor) unconfined() string {
	if e.ability.Reason == "" || e.options.Unconfined {
		return ""
	}
	return "processes cannot be confined on this machine, and are not run without that: " + e.ability.Reason +
		"; --allow-local-exec=unconfined has them run with all that your user may do"
}

// later are fields that nothing acts on.
func later(run *plan.Run, _ *corev1.Container) []string {
	var names []string
	value := reflect.ValueOf(run.Template.LaterTemplate)
	for i := range value.NumField() {
		if !value.Field(i).IsZero() {
			name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// ofContainer are fields of a container that would have an effect.
func ofContainer(_ *plan.Run, c *corev1.Container) []string {
	fields := map[string]bool{
		"livenessProbe": c.LivenessProbe != nil, "readinessProbe": c.ReadinessProbe != nil, "startupProbe": c.StartupProbe != nil,
		"lifecycle": c.Lifecycle != nil, "volumeDevices": len(c.VolumeDevices) > 0, "stdin": c.Stdin, "tty": c.TTY, "restartPolicy": c.RestartPolicy != nil,
	}
	if s := c.SecurityContext; s != nil {
		fields["securityContext.privileged"] = s.Privileged != nil && *s.Privileged
		fields["securityContext.capabilities.add"] = s.Capabilities != nil && len(s.Capabilities.Add) > 0
		fields["securityContext.runAsUser"] = s.RunAsUser != nil && *s.RunAsUser != int64(os.Geteuid())
		fields["securityContext.runAsNonRoot"] = s.RunAsNonRoot != nil && *s.RunAsNonRoot && os.Geteuid() == 0
	}
	for _, list := range []corev1.ResourceList{c.Resources.Limits, c.Resources.Requests} {
		for resource := range list {
			if !slices.Contains([]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}, resource) {
				fields["resources "+string(resource)] = true
			}
		}
	}
	return set("container.", fields)
}

// ofPod are fields of the pod that would have an effect.
func ofPod(run *plan.Run, _ *corev1.Container) []string {
	t, s := run.Template, &run.Settings
	fields := map[string]bool{
		"initContainers": len(t.InitContainers) > 0, "podSpecPatch": t.PodSpecPatch+s.PodSpecPatch != "", "hostAliases": len(t.HostAliases)+len(s.HostAliases) > 0,
		"dnsConfig": s.DNSConfig != nil, "affinity": demanding(t.Affinity) || demanding(s.Affinity),
	}
	for _, context := range []*corev1.PodSecurityContext{t.SecurityContext, s.SecurityContext} {
		if context == nil {
			continue
		}
		fields["securityContext.runAsUser"] = fields["securityContext.runAsUser"] || context.RunAsUser != nil && *context.RunAsUser != int64(os.Geteuid())
		fields["securityContext.runAsNonRoot"] = fields["securityContext.runAsNonRoot"] || context.RunAsNonRoot != nil && *context.RunAsNonRoot && os.Geteuid() == 0
		fields["securityContext.sysctls"] = fields["securityContext.sysctls"] || len(context.Sysctls) > 0
	}
	here := map[string]string{corev1.LabelOSStable: runtime.GOOS, corev1.LabelArchStable: runtime.GOARCH}
	for _, selector := range []map[string]string{t.NodeSelector, s.NodeSelector} {
		for label, value := range selector {
			if here[label] != value {
				fields[fmt.Sprintf("nodeSelector %s=%s", label, value)] = true
			}
		}
	}
	return set("", fields)
}

// demanding reports whether an affinity excludes machines.
func demanding(a *corev1.Affinity) bool {
	return a != nil && (a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil ||
		a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0)
}

// ofVolumes are volumes, and ways to mount them, that there are not.
func ofVolumes(run *plan.Run, c *corev1.Container) []string {
	fields := map[string]bool{}
	for _, m := range c.VolumeMounts {
		v := volumeOf(run, m.Name)
		if v == nil {
			continue
		}
		at := "volumeMounts " + m.Name + ": "
		// No API server has checked the name, and it is that of a directory here.
		fields["volumes "+m.Name+": this name"] = len(validation.IsDNS1123Label(m.Name)) > 0
		fields[at+"subPathExpr"] = m.SubPathExpr != ""
		fields[at+"mountPropagation"] = m.MountPropagation != nil && *m.MountPropagation != corev1.MountPropagationNone
		fields[at+"mountPath "+m.MountPath] = !filepath.IsAbs(m.MountPath) || unmountable(m.MountPath)
		fields[at+"subPath "+m.SubPath] = m.SubPath != "" && (!filepath.IsLocal(m.SubPath) || v.PersistentVolumeClaim != nil)
		fields["volumes "+m.Name+": anything but emptyDir, configMap, secret and claims of the workflow"] = !mountable(v) || foreign(run, v)
	}
	for _, a := range run.Template.Inputs.Artifacts {
		fields["inputs.artifacts "+a.Name+": path "+a.Path] = !filepath.IsAbs(a.Path) || unmountable(a.Path)
	}
	for _, a := range run.Template.Outputs.Artifacts {
		fields["outputs.artifacts "+a.Name+": raw and git"] = a.Raw != nil || a.Git != nil
	}
	return set("", fields)
}

// foreign reports whether a claim is not one of the workflow's own.
func foreign(run *plan.Run, v *corev1.Volume) bool {
	if v.PersistentVolumeClaim == nil {
		return false
	}
	return !slices.ContainsFunc(run.Settings.VolumeClaimTemplates, func(claim corev1.PersistentVolumeClaim) bool { return claim.Name == v.Name }) ||
		!filepath.IsLocal(v.PersistentVolumeClaim.ClaimName) || strings.Contains(v.PersistentVolumeClaim.ClaimName, "/")
}

// unmountable reports whether a path would hide what every program needs.
func unmountable(path string) bool {
	path = filepath.Clean(path)
	return path == "/" || slices.ContainsFunc([]string{"/proc", "/sys", "/dev", "/etc", "/usr", "/bin", "/lib", "/lib64", "/sbin"}, func(dir string) bool {
		return path == dir
	})
}

// volumeOf is the volume of a name.
func volumeOf(run *plan.Run, name string) *corev1.Volume {
	for _, volumes := range [][]corev1.Volume{run.Template.Volumes, run.Settings.Volumes} {
		for i := range volumes {
			if volumes[i].Name == name {
				return &volumes[i]
			}
		}
	}
	return nil
}

// own are the fields by which a template has paths of its own.
func own(run *plan.Run, c *corev1.Container) []string {
	var fields []string
	for _, m := range c.VolumeMounts {
		fields = append(fields, fmt.Sprintf("volumeMounts %s (%s)", m.Name, m.MountPath))
	}
	for _, list := range []struct {
		of  string
		all []v1alpha1.Artifact
	}{{"inputs", run.Template.Inputs.Artifacts}, {"outputs", run.Template.Outputs.Artifacts}} {
		for _, a := range list.all {
			fields = append(fields, fmt.Sprintf("%s.artifacts.%s (%s)", list.of, a.Name, a.Path))
		}
	}
	for _, p := range run.Template.Outputs.Parameters {
		if p.ValueFrom != nil && p.ValueFrom.Path != "" {
			fields = append(fields, fmt.Sprintf("outputs.parameters.%s (%s)", p.Name, p.ValueFrom.Path))
		}
	}
	if c.WorkingDir != "" {
		fields = append(fields, fmt.Sprintf("workingDir (%s)", c.WorkingDir))
	}
	return fields
}

// set are the names of those that are.
func set(prefix string, fields map[string]bool) []string {
	var names []string
	for name, is := range fields {
		if is {
			names = append(names, prefix+name)
		}
	}
	return names
}
