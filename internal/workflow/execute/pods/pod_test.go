package pods

import (
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

const (
	simple = `
name: say
container: {image: alpine, command: [echo], args: [hello]}
`
	withOutputs = simple + `
outputs:
  parameters: [{name: a, valueFrom: {path: /tmp/a}}]
`
)

func workflow() *v1alpha1.Workflow {
	return &v1alpha1.Workflow{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "wf", UID: "11-22"}}
}

// runOf is an execution of a template, with settings of the workflow, both as YAML.
func runOf(t *testing.T, template, settings string) *plan.Run {
	t.Helper()
	run := &plan.Run{Kind: plan.Pod, NodeID: "wf-1", NodeName: "wf[0].say", Name: "wf-say-1", Template: &v1alpha1.Template{}}
	if err := yaml.UnmarshalStrict([]byte(template), run.Template); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(settings), &run.Settings); err != nil {
		t.Fatal(err)
	}
	return run
}

func containerOf(pod *corev1.Pod, name string) *corev1.Container {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if c.Name == name {
			return &c
		}
	}
	return nil
}

func TestBuild(t *testing.T) {
	const script = "name: say\nscript: {image: alpine, command: [sh], args: [-e], source: echo hello}\n"
	names := func(p *corev1.Pod) any {
		var all []string
		for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
			all = append(all, c.Name)
		}
		return all
	}
	command := func(p *corev1.Pod) any {
		main := containerOf(p, "main")
		return strings.Join(slices.Concat(main.Command, main.Args), " ")
	}
	mounts := func(name string) func(p *corev1.Pod) any {
		return func(p *corev1.Pod) any {
			all := map[string]string{}
			for _, mount := range containerOf(p, name).VolumeMounts {
				all[mount.MountPath] = mount.Name + "/" + mount.SubPath
			}
			return all
		}
	}
	for name, tc := range map[string]struct {
		reason, template, settings string
		of                         func(p *corev1.Pod) any
		want                       any
	}{
		"Labels": {
			"commands and dashboards of Argo Workflows select by labels, which the user cannot replace",
			simple + "metadata: {labels: {a: template, workflows.argoproj.io/workflow: other}}", "podMetadata: {labels: {a: all, b: all}}",
			func(p *corev1.Pod) any { return p.Labels },
			map[string]string{"a": "template", "b": "all", "workflows.argoproj.io/workflow": "wf", "workflows.argoproj.io/completed": "false"},
		},
		"Annotations": {
			"a pod names its node, and the attempt that it is adopted by", simple, "",
			func(p *corev1.Pod) any { return p.Annotations },
			map[string]string{
				"workflows.argoproj.io/node-id": "wf-1", "workflows.argoproj.io/node-name": "wf[0].say", "workflows.headgate.dev/run": "11-22/wf-1",
				"kubectl.kubernetes.io/default-container": "main",
			},
		},
		"Owner": {
			"the cluster deletes the pods of a workflow that is gone", simple, "",
			func(p *corev1.Pod) any {
				return []string{p.Namespace, p.Name, p.OwnerReferences[0].Kind, string(p.OwnerReferences[0].UID)}
			},
			[]string{"team", "wf-say-1", "Workflow", "11-22"},
		},
		"Command": {"the program runs under the wrapper", simple, "", command, "/var/run/headgate/headgate workflow-pod run /var/run/headgate /dev/termination-log -- echo hello"},
		"Script": {
			"a script is the last argument", script, "", command,
			"/var/run/headgate/headgate workflow-pod run /var/run/headgate /dev/termination-log -- sh -e /argo/staging/script",
		},
		"ScriptMount": {"its source is mounted where images expect it", script, "", mounts("main"), map[string]string{"/var/run/headgate": "headgate/", "/argo/staging": "headgate/staging"}},
		"NoOutputs":   {"what reports nothing needs no container for it", simple, "", names, []string{"init", "main"}},
		"Outputs":     {"outputs may need one", withOutputs, "", names, []string{"init", "wait", "main"}},
		"Artifacts": {
			"input artifacts are mounted at their paths, as files or as directories", simple + "inputs: {artifacts: [{name: src, path: /src, raw: {data: x}}, {name: none, path: /none, optional: true}]}", "",
			mounts("main"),
			map[string]string{"/var/run/headgate": "headgate/", "/src": "headgate/inputs/src"},
		},
		"Secrets": {
			"Secrets of artifacts are read by the kubelet", simple + "inputs: {artifacts: [{name: src, path: /src, git: {repo: https://g/r, passwordSecret: {name: login, key: token}}}]}", "",
			func(p *corev1.Pod) any {
				env := containerOf(p, "init").Env
				return env[len(env)-1].ValueFrom.SecretKeyRef.Name + "/" + env[len(env)-1].ValueFrom.SecretKeyRef.Key
			}, "login/token",
		},
		"Template": {
			"settings of the template come first", simple + "serviceAccountName: mine\nnodeSelector: {a: template}\npriorityClassName: high\nautomountServiceAccountToken: true\nactiveDeadlineSeconds: \"30\"\n",
			"serviceAccountName: theirs\nnodeSelector: {b: all}\npodPriorityClassName: low\nautomountServiceAccountToken: false\nschedulerName: mine\nhostNetwork: true\ndnsPolicy: Default\nimagePullSecrets: [{name: registry}]",
			func(p *corev1.Pod) any {
				return []any{
					p.Spec.ServiceAccountName, p.Spec.NodeSelector, p.Spec.PriorityClassName, *p.Spec.AutomountServiceAccountToken, *p.Spec.ActiveDeadlineSeconds, p.Spec.SchedulerName,
					p.Spec.HostNetwork, string(p.Spec.DNSPolicy), p.Spec.ImagePullSecrets[0].Name, string(p.Spec.RestartPolicy),
				}
			},
			[]any{"mine", map[string]string{"a": "template"}, "high", true, int64(30), "mine", true, "Default", "registry", "Never"},
		},
		"Volumes": {
			"only volumes that are mounted are in the pod; those of the template come first",
			"name: say\ncontainer: {image: alpine, command: [ls], volumeMounts: [{name: work, mountPath: /work}]}\nvolumes: [{name: work, configMap: {name: own}}]",
			"volumes: [{name: work, emptyDir: {}}, {name: other, emptyDir: {}}]",
			func(p *corev1.Pod) any {
				return []string{p.Spec.Volumes[0].Name, p.Spec.Volumes[1].Name, p.Spec.Volumes[1].ConfigMap.Name}
			},
			[]string{"headgate", "work", "own"},
		},
		"InitContainers": {
			"init containers of the user run after that of the engine, with the mounts of the program if they mirror them",
			"name: say\ninitContainers: [{name: fetch, image: alpine, mirrorVolumeMounts: true, volumeMounts: [{name: work, mountPath: /mine}]}]\ncontainer: {image: alpine, command: [ls], volumeMounts: [{name: work, mountPath: /work}]}",
			"volumes: [{name: work, emptyDir: {}}]",
			func(p *corev1.Pod) any { return []any{names(p), mounts("fetch")(p)} },
			[]any{[]string{"init", "fetch", "main"}, map[string]string{"/mine": "work/", "/work": "work/", "/var/run/headgate": "headgate/"}},
		},
		"Messages": {
			"what a program prints is no message", "name: say\ncontainer: {image: alpine, command: [ls], terminationMessagePolicy: FallbackToLogsOnError, terminationMessagePath: /tmp/x}", "",
			func(p *corev1.Pod) any {
				main := containerOf(p, "main")
				return []string{string(main.TerminationMessagePolicy), main.TerminationMessagePath}
			},
			[]string{"File", "/dev/termination-log"},
		},
		"Root": {
			"containers of the engine are no root even if the others are", withOutputs, "securityContext: {runAsUser: 0}",
			func(p *corev1.Pod) any {
				own := containerOf(p, "wait").SecurityContext
				return []any{*own.RunAsNonRoot, *own.RunAsUser, *own.AllowPrivilegeEscalation}
			},
			[]any{true, int64(65532), false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod, err := build(workflow(), runOf(t, tc.template, tc.settings), "headgate:1", nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, tc.of(pod)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestBuildRefuses(t *testing.T) {
	random := make([]byte, 2<<20)
	source := rand.NewChaCha8([32]byte{})
	_, _ = source.Read(random)
	for name, tc := range map[string]struct{ reason, template, want string }{
		"NoCommand": {"the command of an image is not looked up", "name: say\ncontainer: {image: argosay, args: [x]}", `image "argosay": container.command is required`},
		"NoVolume":  {"a volume has to exist", "name: say\ncontainer: {image: a, command: [b], volumeMounts: [{name: work, mountPath: /w}]}", "volume 'work' not found in workflow spec"},
		"NoPlace":   {"an artifact has to be somewhere", simple + "inputs: {artifacts: [{name: src, path: /src}]}", `"src" is in no place that is supported`},
		"Deadline":  {"tags that were not replaced", simple + `activeDeadlineSeconds: "{{x}}"`, `activeDeadlineSeconds "{{x}}" is not a number`},
		"TooLarge": {
			"inputs have to fit into the object of a pod",
			simple + "inputs: {artifacts: [{name: src, path: /src, raw: {data: " + base64.StdEncoding.EncodeToString(random) + "}}]}", "use a volume",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := build(workflow(), runOf(t, tc.template, ""), "headgate:1", nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// One of several terms of a node selector has to match: each of them has to avoid the machine.
func TestBuildAvoids(t *testing.T) {
	run := runOf(t, simple, `
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
      - matchExpressions: [{key: disk, operator: In, values: [ssd]}]
      - matchExpressions: [{key: disk, operator: In, values: [nvme]}]
`)
	run.Avoid = []string{"node-1"}
	pod, err := build(workflow(), run, "headgate:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		last := term.MatchExpressions[len(term.MatchExpressions)-1]
		if last.Key != "kubernetes.io/hostname" || last.Operator != corev1.NodeSelectorOpNotIn || !slices.Equal(last.Values, run.Avoid) {
			t.Errorf("term %d does not avoid the machine of the previous attempt: %v", i, term)
		}
	}
	if len(run.Settings.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions) != 1 {
		t.Error("the settings of the workflow were changed")
	}
}
