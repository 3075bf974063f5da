package process

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// needsPaths skips a test where processes cannot be confined. CI can: there it fails.
func (w *world) needsPaths() {
	w.t.Helper()
	reason := w.Able()
	switch {
	case reason == "":
	case os.Getenv("CI") != "":
		w.t.Fatal("processes cannot be confined here: " + reason)
	default:
		w.t.Skip("processes cannot be confined here: " + reason)
	}
}

func from(name, path string) v1alpha1.Parameter {
	return v1alpha1.Parameter{Name: name, ValueFrom: &v1alpha1.ValueFrom{Path: path}}
}

// values are the parameters of a leaf.
func values(l plan.Leaf) map[string]string {
	all := map[string]string{}
	if l.Outputs != nil {
		for _, p := range l.Outputs.Parameters {
			all[p.Name] = p.Value.String()
		}
	}
	return all
}

func succeeded(t *testing.T, w *world, node string, l plan.Leaf) {
	t.Helper()
	if l.Phase != v1alpha1.NodeSucceeded {
		t.Fatalf("%s is %s: %s; log: %s", node, l.Phase, l.Message, w.log(node))
	}
}

func TestScript(t *testing.T) {
	w := newWorld(t)
	w.needsPaths()
	template := shell(`
echo first; echo problem >&2
printf 'value\n\n' > /tmp/out/p; printf deep > /opt/of/my/own/q; printf root > /r
echo relative > here; cat here > /data/s
touch /usr/written /etc/written /home/written 2>/dev/null && echo CHANGED
ls -A /tmp > /data/listing
(sleep 600 &)
echo last`)
	template.Outputs.Parameters = []v1alpha1.Parameter{
		from("p", "/tmp/out/p"), from("q", "/opt/of/my/own/q"), from("r", "/r"), from("s", "/data/s"), from("listing", "/data/listing"),
		{Name: "absent", ValueFrom: &v1alpha1.ValueFrom{Path: "/tmp/absent", Default: v1alpha1.Any("else")}},
	}
	leaf := w.outcome("n", template)
	succeeded(t, w, "n", leaf)
	want := map[string]string{"p": "value\n", "q": "deep", "r": "root", "s": "relative", "listing": "out", "absent": "else"}
	if diff := cmp.Diff(want, values(leaf)); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	if *leaf.Outputs.Result != "first\nlast" || *leaf.Outputs.ExitCode != "0" {
		t.Errorf("result %q and exit code %s", *leaf.Outputs.Result, *leaf.Outputs.ExitCode)
	}
	if log := w.log("n"); !strings.Contains(log, "problem") || strings.Contains(log, "CHANGED") {
		t.Errorf("log: %s", log)
	}
	if _, err := os.Stat("/opt/of/my/own"); err == nil {
		t.Error("a directory was created on the machine")
	}
	if leaf.Host == "" || leaf.StartedAt.IsZero() || leaf.FinishedAt.Before(leaf.StartedAt) {
		t.Errorf("host %q, from %s to %s", leaf.Host, leaf.StartedAt, leaf.FinishedAt)
	}
	left, _ := filepath.Glob(filepath.Join(w.dir, "steps", "runs", "*", "*", "*"))
	if len(left) != 3 {
		t.Errorf("what is left of an execution that has ended: %q", left)
	}
}

// TestEnvironment is about what a process gets to know, and that secret values are not shown.
func TestEnvironment(t *testing.T) {
	t.Setenv("OF_THE_ENGINE", "1")
	w := newWorld(t, func(o *Options) {
		hidden := filepath.Join(t.TempDir(), "..", "..")
		o.Hidden = []string{"/usr/share/doc", hidden, "/opt", "/usr/share"}
	})
	w.needsPaths()
	template := shell(`env | cut -d= -f1 | sort | tr '\n' ' '; echo
echo "$PASSWORD $COLOUR $COMBINED $cfg_colour $NAME"; cat /conf/file.txt; cat /login/password /only
find /opt /usr/share/doc | wc -l; cat /usr/share/of/the/step/file.txt; echo x > /usr/share/written; grep -c token-of-b''uilder $KUBECONFIG; cat /var/run/secrets/kubernetes.io/serviceaccount/namespace; echo
echo "[$1]"; printf "$PASSWORD" > /tmp/p; printf %s "$PASSWORD" | cut -c1-7 | tr -d '\n'; printf 'is %s' "$PASSWORD" | cut -c4-9`)
	key := corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "login"}, Key: "password"}
	c := &template.Script.Container
	c.EnvFrom = []corev1.EnvFromSource{{Prefix: "cfg_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	c.Env = []corev1.EnvVar{
		{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &key}},
		{Name: "COLOUR", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "colour"}}},
		{Name: "COMBINED", Value: "$(COLOUR)-$$(COLOUR)-$(UNKNOWN)"},
		{Name: "NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}},
		{Name: "MISSING", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}, Key: "x", Optional: ptr.To(true)}}},
	}
	template.Volumes = []corev1.Volume{
		{Name: "conf", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}},
		{Name: "login", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "login"}}},
	}
	c.VolumeMounts = []corev1.VolumeMount{{Name: "conf", MountPath: "/conf"}, {Name: "conf", MountPath: "/usr/share/of/the/step"}, {Name: "login", MountPath: "/login"}, {Name: "login", MountPath: "/only", SubPath: "user"}}
	template.Outputs.Parameters = []v1alpha1.Parameter{from("p", "/tmp/p")}
	leaf := w.outcome("n", template)
	succeeded(t, w, "n", leaf)
	want := `COLOUR COMBINED HOME KUBECONFIG KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT NAME PASSWORD PATH PWD TMPDIR cfg_colour 
*** green green-$(COLOUR)-$(UNKNOWN) green team
from a file
***ann2
from a file
1
team
[]
hunter2hunter`
	if got := *leaf.Outputs.Result; got != want {
		t.Errorf("it printed (-want +got):\n%s", cmp.Diff(want, got))
	}
	if log := strings.TrimSpace(w.log("n")); log != want {
		t.Errorf("log (-want +got):\n%s", cmp.Diff(want, log))
	}
	if got := values(leaf)["p"]; got != "***" {
		t.Errorf("the parameter is %q", got)
	}
	w.nowhere(secretValue)
	w.nowhere("token-of-builder")
}

// nowhere fails if a text is in any file of the executor.
func (w *world) nowhere(text string) {
	w.t.Helper()
	_ = filepath.WalkDir(w.dir, func(file string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), text) {
				w.t.Errorf("%s contains a secret", file)
			}
		}
		return nil
	})
}

// TestSecretsStayInMemory is about a process that runs, when everything that it needs is somewhere.
func TestSecretsStayInMemory(t *testing.T) {
	w := newWorld(t)
	w.needsPaths()
	template := shell("echo ready; while [ ! -e /shared/go ]; do :; done; cat /login/password > /dev/null")
	template.Script.VolumeMounts = []corev1.VolumeMount{{Name: "login", MountPath: "/login"}, {Name: "shared", MountPath: "/shared"}}
	template.Volumes = []corev1.Volume{
		{Name: "login", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "login"}}},
		{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	w.run("n", template)
	w.until("n", func(plan.Leaf) bool { return strings.Contains(w.log("n"), "ready") })
	w.nowhere(secretValue)
	w.nowhere("token-of-builder")
	// The volume is a directory of this machine, which this process may write to.
	if err := os.WriteFile(filepath.Join(w.dir, "steps", "runs", "11-22", "n", "private", "volumes", "shared", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	succeeded(t, w, "n", w.until("n", ended))
}

// TestWaiting is about what keeps a process from beginning, and that it begins when that is no longer so.
func TestWaiting(t *testing.T) {
	w := newWorld(t)
	w.api.forbidden = true
	template := shell("echo $P | wc -c")
	template.Script.Env = []corev1.EnvVar{{Name: "P", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "login"}, Key: "password"}}}}
	w.run("n", template)
	leaf := w.until("n", func(l plan.Leaf) bool { return l.Message != "" })
	if leaf.Phase != v1alpha1.NodePending || !strings.Contains(leaf.Message, `ServiceAccount "builder" may not get Secret "login"`) {
		t.Errorf("it is %s: %s", leaf.Phase, leaf.Message)
	}
	w.api.mu.Lock()
	w.api.forbidden = false
	w.api.mu.Unlock()
	leaf = w.until("n", ended)
	succeeded(t, w, "n", leaf)
	if *leaf.Outputs.Result != "18" {
		t.Errorf("it printed %q", *leaf.Outputs.Result)
	}
}

func TestEnds(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Limits = DefaultLimits()
		o.Limits.Log, o.Limits.Result, o.Limits.Parameter, o.Limits.Grace = 2000, 100, 50, 300*time.Millisecond
	})
	w.needsPaths()
	container := func(command ...string) *v1alpha1.Template {
		return &v1alpha1.Template{Name: "c", Container: &corev1.Container{Image: "busybox:1", Command: command}}
	}
	withOutput := func(t *v1alpha1.Template, path string) *v1alpha1.Template {
		t.Outputs.Parameters = []v1alpha1.Parameter{from("p", path)}
		return t
	}
	for name, c := range map[string]struct {
		reason   string
		template *v1alpha1.Template
		change   func(*plan.Run)
		phase    v1alpha1.NodePhase
		code     string
		message  string
		final    bool
	}{
		"Fails":      {"an exit code is that of the program", shell("exit 3"), nil, v1alpha1.NodeFailed, "3", "Error (exit code 3)", false},
		"Code126":    {"also one that others use for what cannot be executed", shell("exit 126"), nil, v1alpha1.NodeFailed, "126", "Error (exit code 126)", false},
		"Code64":     {"and one that keepers use", shell("exit 64"), nil, v1alpha1.NodeFailed, "64", "Error (exit code 64)", false},
		"Killed":     {"a signal is one, too", shell("kill -9 $$"), nil, v1alpha1.NodeFailed, "137", "Error (exit code 137)", false},
		"NoCommand":  {"a program that is not there is an error that no attempt avoids", container("no-such-program"), nil, v1alpha1.NodeError, "", `image "busybox:1" is not pulled: command "no-such-program" is not on this machine's PATH`, true},
		"NoFile":     {"one that is named by its path", container("/no/such"), nil, v1alpha1.NodeError, "", `there is no "/no/such" on this machine`, true},
		"Entrypoint": {"the entrypoint of an image is unknown", container(), nil, v1alpha1.NodeError, "", `image "busybox:1" is not pulled, so that its entrypoint is unknown: declare container.command`, true},
		"Missing":    {"an output that is missing", withOutput(shell("true"), "/tmp/none"), nil, v1alpha1.NodeError, "0", "outputs.parameters.p: ", false},
		"FailedFirst": {
			"the failure of the program counts before a missing output", withOutput(shell("exit 2"), "/tmp/none"), nil, v1alpha1.NodeFailed, "2", "Error (exit code 2)", false,
		},
		"Large":   {"a value that is too large", withOutput(shell("head -c 60 /dev/zero > /tmp/p"), "/tmp/p"), nil, v1alpha1.NodeError, "0", "has more than 50 bytes", false},
		"Special": {"an output that never ends", withOutput(shell("mkfifo /tmp/p"), "/tmp/p"), nil, v1alpha1.NodeError, "0", "is not a file", false},
		"Deadline": {
			"a deadline ends a program that does not listen", shell("trap '' TERM; while :; do :; done"), func(r *plan.Run) { r.Deadline = time.Now().Add(200 * time.Millisecond) },
			// It may come before the program does.
			v1alpha1.NodeFailed, "any", "Step exceeded its deadline", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			leaf := w.outcome(name, c.template, func(r *plan.Run) {
				if c.change != nil {
					c.change(r)
				}
			})
			code := ""
			if leaf.Outputs != nil {
				code = *leaf.Outputs.ExitCode
			}
			if leaf.Phase != c.phase || code != c.code && c.code != "any" || !strings.Contains(leaf.Message, c.message) || leaf.Final != c.final {
				t.Errorf("%s: phase %s, code %q, final %t: %s", c.reason, leaf.Phase, code, leaf.Final, leaf.Message)
			}
		})
	}
	t.Run("Log", func(t *testing.T) {
		leaf := w.outcome("log", shell("i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done"))
		if log := w.log("log"); !strings.HasPrefix(log, "line 0\n") || !strings.Contains(log, "[the log is cut at 2000 bytes]") || len(log) > 2100 {
			t.Errorf("the log has %d bytes: %s", len(log), log)
		}
		if got := *leaf.Outputs.Result; len(got) > 100 || !strings.HasSuffix(got, "line 999") {
			t.Errorf("the result is %q", got)
		}
	})
	t.Run("NoResult", func(t *testing.T) {
		leaf := w.outcome("quiet", shell("echo printed"), func(r *plan.Run) { r.Result = false })
		if leaf.Outputs.Result != nil {
			t.Errorf("what nothing uses gets into the status: %q", *leaf.Outputs.Result)
		}
	})
}

func TestStop(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.AtOnce = 1 })
	w.run("n", shell("trap 'echo asked; exit 7' TERM; echo ready; sleep 600 & wait"))
	w.until("n", func(plan.Leaf) bool { return strings.Contains(w.log("n"), "ready") })
	w.run("queued", shell("echo never"))
	logs, err := w.Logs(t.Context(), w.of, "n", true)
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close()
	if leaf := w.until("queued", func(plan.Leaf) bool { return true }); leaf.Phase != v1alpha1.NodePending {
		t.Errorf("the second one is %s, with room for one", leaf.Phase)
	}
	for node, reason := range map[string]string{"queued": "not wanted", "n": "workflow shutdown with strategy:  Stop"} {
		if err := w.Stop(t.Context(), w.of, node, reason); err != nil {
			t.Fatal(err)
		}
		leaf := w.until(node, ended)
		if leaf.Phase != v1alpha1.NodeFailed || leaf.Message != reason {
			t.Errorf("%s is %s: %s", node, leaf.Phase, leaf.Message)
		}
	}
	data, err := io.ReadAll(logs)
	if err != nil || string(data) != "ready\nasked\n" {
		t.Errorf("the log that was followed: %q, %v", data, err)
	}
	if err := w.Remove(t.Context(), w.of, "n"); err != nil {
		t.Fatal(err)
	}
	if leaves, err := w.Leaves(t.Context(), w.of); err != nil || len(leaves) != 1 {
		t.Errorf("after the removal of one of two: %v, %v", leaves, err)
	}
	if w.log("n") != "ready\nasked\n" {
		t.Error("the log is gone with the execution")
	}
	if kept, err := w.Kept(t.Context()); err != nil || len(kept) != 1 || kept[0] != w.of {
		t.Errorf("something is kept of %v, %v", kept, err)
	}
	if err := w.Forget(context.Background(), w.of); err != nil {
		t.Fatal(err)
	}
	if kept, err := w.Kept(t.Context()); err != nil || len(kept) != 0 {
		t.Errorf("something is kept of %v, %v", kept, err)
	}
	if left, _ := filepath.Glob(filepath.Join(w.dir, "steps", "*", "11-22")); len(left) > 0 {
		t.Errorf("left of a workflow that is gone: %q", left)
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	run := func(do func(*plan.Run)) *plan.Run {
		r := &plan.Run{Template: shell("true")}
		do(r)
		return r
	}
	c := func(do func(*corev1.Container)) *plan.Run {
		return run(func(r *plan.Run) { do(&r.Template.Script.Container) })
	}
	for want, r := range map[string]*plan.Run{
		"script.lifecycle":                  c(func(c *corev1.Container) { c.Lifecycle = &corev1.Lifecycle{} }),
		"script.livenessProbe":              c(func(c *corev1.Container) { c.LivenessProbe = &corev1.Probe{} }),
		"script.securityContext.privileged": c(func(c *corev1.Container) { c.SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true)} }),
		"script.securityContext.runAsUser": c(func(c *corev1.Container) {
			c.SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.To(int64(54321))}
		}),
		"script.resources nvidia.com/gpu": c(func(c *corev1.Container) {
			c.Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
		}),
		"sidecars":              run(func(r *plan.Run) { r.Template.Sidecars = make([]runtime.RawExtension, 1) }),
		"daemon":                run(func(r *plan.Run) { r.Template.Daemon = ptr.To(true) }),
		"initContainers":        run(func(r *plan.Run) { r.Template.InitContainers = make([]v1alpha1.UserContainer, 1) }),
		"hostAliases":           run(func(r *plan.Run) { r.Settings.HostAliases = make([]corev1.HostAlias, 1) }),
		"podSpecPatch":          run(func(r *plan.Run) { r.Settings.PodSpecPatch = "{}" }),
		"nodeSelector disk=ssd": run(func(r *plan.Run) { r.Template.NodeSelector = map[string]string{"disk": "ssd"} }),
		"volumes host: anything but emptyDir": run(func(r *plan.Run) {
			r.Template.Volumes = []corev1.Volume{{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc"}}}}
			r.Template.Script.VolumeMounts = []corev1.VolumeMount{{Name: "host", MountPath: "/x"}}
		}),
		"volumes claim: anything but emptyDir": run(func(r *plan.Run) {
			r.Settings.Volumes = []corev1.Volume{{Name: "claim", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "../../x"}}}}
			r.Template.Script.VolumeMounts = []corev1.VolumeMount{{Name: "claim", MountPath: "/x"}}
		}),
		"volumes ../../../../machine: this name": run(func(r *plan.Run) {
			r.Template.Volumes = []corev1.Volume{{Name: "../../../../machine", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
			r.Template.Script.VolumeMounts = []corev1.VolumeMount{{Name: "../../../../machine", MountPath: "/x"}}
		}),
		"volumeMounts v: mountPath /usr": run(func(r *plan.Run) {
			r.Template.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
			r.Template.Script.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/usr/"}}
		}),
		"inputs.artifacts a: path /": run(func(r *plan.Run) { r.Template.Inputs.Artifacts = []v1alpha1.Artifact{{Name: "a", Path: "/"}} }),
	} {
		if got := w.refusal(r); !strings.Contains(got, "(--allow-local-exec) do not support "+want) {
			t.Errorf("%s: refused by %q", want, got)
		}
	}
	harmless := run(func(r *plan.Run) {
		r.Template.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}
		r.Template.Script.Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
		r.Template.Tolerations = make([]corev1.Toleration, 1)
		r.Template.Script.Ports = make([]corev1.ContainerPort, 1)
	})
	if got := w.refusal(harmless); got != "" {
		t.Errorf("what has no effect here is refused: %s", got)
	}
	harmless.Template.Outputs.Parameters = []v1alpha1.Parameter{from("p", "/tmp/out/p")}
	w.ability, w.options.Unconfined = ability{Reason: "user.max_user_namespaces is 0"}, true
	if got := w.refusal(harmless); !strings.Contains(got, "outputs.parameters.p (/tmp/out/p)") || !strings.Contains(got, "user.max_user_namespaces is 0") {
		t.Errorf("without namespaces: %q", got)
	}
}

// TestWithoutNamespaces is about a machine that does not permit them: nothing runs there, whether it is requested then or was recorded before.
func TestWithoutNamespaces(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.AtOnce = 1 })
	w.needsPaths()
	w.run("first", shell("echo ready; sleep 600"))
	w.until("first", func(plan.Leaf) bool { return strings.Contains(w.log("first"), "ready") })
	w.run("recorded", shell("echo ran"))
	w.ability = ability{Host: "here", Reason: "user.max_user_namespaces is 0: set it"}
	if err := w.Stop(t.Context(), w.of, "first", "enough"); err != nil {
		t.Fatal(err)
	}
	w.run("then", shell("echo ran"))
	for _, node := range []string{"recorded", "then"} {
		leaf := w.until(node, ended)
		if leaf.Phase != v1alpha1.NodeError || !leaf.Final || strings.Contains(w.log(node), "ran") {
			t.Errorf("%s is %s, final %t: %s", node, leaf.Phase, leaf.Final, w.log(node))
		}
		for _, want := range []string{"user.max_user_namespaces is 0: set it", "--allow-local-exec=unconfined"} {
			if !strings.Contains(leaf.Message, want) {
				t.Errorf("%s lacks %q: %s", node, want, leaf.Message)
			}
		}
	}
}

// TestUnconfined is about such a machine where a person permits that nothing is confined.
func TestUnconfined(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Unconfined = true })
	w.ability = ability{Host: "here", Reason: "not permitted"}
	template := shell("echo $HOME; pwd; grep -c token-of-b''uilder $KUBECONFIG; env | wc -l; (sleep 600 &)")
	leaf := w.outcome("n", template)
	succeeded(t, w, "n", leaf)
	home := filepath.Join(w.options.Dir, "runs", "11-22", "n", "private", "tmp")
	if want := home + "\n" + home + "\n1\n5"; *leaf.Outputs.Result != want {
		t.Errorf("it printed %q, want %q", *leaf.Outputs.Result, want)
	}
	w.nowhere("token-of-builder")
}
