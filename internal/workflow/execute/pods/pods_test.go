package pods_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/execute/pods"
	"github.com/headgate-dev/headgate/internal/workflow/execute/pods/wrapper"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// This binary is also the one that runs inside of pods, with an exit code.
func TestMain(m *testing.M) {
	if code, is := wrapper.Serve(os.Args); is {
		syscall.Exit(code)
	}
	m.Run()
}

// world is a cluster with a kubelet, and an executor.
type world struct {
	*testing.T
	ctx     context.Context
	config  *rest.Config
	client  kubernetes.Interface
	kubelet *kubelet
	pods    *pods.Pods
	stop    context.CancelFunc
	changed chan struct{}
	dir     string
	begun   int
}

// LeavesChanged notifies what waits.
func (w *world) LeavesChanged(execute.Workflow) {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (*world) ObjectChanged(engine.ObjectID) {}
func (*world) KindChanged(schema.GroupKind)  {}
func (*world) Reconnected()                  {}

func newWorld(t *testing.T) *world {
	plane, err := controlplane.Start(t.Context(), controlplane.Config{Dir: filepath.Join(t.TempDir(), "c"), Ephemeral: true, Nodes: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	w := &world{T: t, ctx: t.Context(), config: plane.RESTConfig(), changed: make(chan struct{}, 1), dir: t.TempDir()}
	if w.client, err = kubernetes.NewForConfig(w.config); err != nil {
		t.Fatal(err)
	}
	w.kubelet = startKubelet(t.Context(), t, w.client)
	w.define()
	w.begin()
	return w
}

var resource = v1alpha1.GroupVersion.WithResource("workflows")

// define has the cluster serve Workflows: pods whose owner does not exist are deleted.
func (w *world) define() {
	client, err := dynamic.NewForConfig(w.config)
	if err != nil {
		w.Fatal(err)
	}
	definitions, err := deploy.WorkflowCRDs()
	if err != nil {
		w.Fatal(err)
	}
	for _, one := range definitions {
		if _, err := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).Create(w.Context(), one, metav1.CreateOptions{}); err != nil {
			w.Fatal(err)
		}
	}
	w.until("Workflows are served", func() bool {
		_, err := client.Resource(resource).List(w.Context(), metav1.ListOptions{})
		return err == nil
	})
}

// begin starts an executor, as a process that starts.
func (w *world) begin() {
	w.begun++
	store, err := artifacts.OpenStore(filepath.Join(w.dir, fmt.Sprint("store", w.begun)), artifacts.DefaultLimits())
	if err != nil {
		w.Fatal(err)
	}
	home, err := cluster.Connect(w.config, "", cluster.Ownership{Manager: "headgate"}, w, guard.Guard{})
	if err != nil {
		w.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.ctx)
	w.stop = stop
	if err := home.Start(ctx); err != nil {
		w.Fatal(err)
	}
	if w.pods, err = pods.New(ctx, w.kubelet.withLogs(w.config), home, pods.Options{Image: engineImage, Store: store, Listener: w}); err != nil {
		w.Fatal(err)
	}
}

// kill ends the executor, and starts another one that knows nothing.
func (w *world) kill() {
	w.stop()
	w.begin()
}

// until waits for a condition, up to a minute.
func (w *world) until(what string, is func() bool) {
	w.Helper()
	late := time.After(time.Minute)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-w.changed:
		case <-tick.C:
		case <-late:
			w.Fatalf("%s: it did not happen within a minute", what)
		}
	}
}

// create creates a Workflow.
func (w *world) create(name string) *v1alpha1.Workflow {
	w.Helper()
	client, err := dynamic.NewForConfig(w.config)
	if err != nil {
		w.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"entrypoint": "say"}}}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Workflow"))
	object.SetName(name)
	created, err := client.Resource(resource).Namespace("default").Create(w.Context(), object, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	wf := &v1alpha1.Workflow{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(created.Object, wf); err != nil {
		w.Fatal(err)
	}
	return wf
}

// run is an execution of a template. DIR in it is a directory of this test.
func (w *world) run(wf *v1alpha1.Workflow, node, template string) plan.Run {
	w.Helper()
	run := plan.Run{Kind: plan.Pod, NodeID: wf.Name + "-" + node, NodeName: wf.Name + "." + node, Name: wf.Name + "-say-" + node, Template: &v1alpha1.Template{Name: "say"}}
	if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(template, "DIR", w.dir)), run.Template); err != nil {
		w.Fatal(err)
	}
	if run.Template.SchedulerName == "" {
		run.Template.SchedulerName = "kubelet"
	}
	return run
}

// start starts an execution; the account of its pod may not be there yet.
func (w *world) start(wf *v1alpha1.Workflow, run plan.Run) {
	w.Helper()
	w.until("starting "+run.Name, func() bool {
		if err := w.pods.Start(w.Context(), wf, run); err != nil {
			w.Fatal(err)
		}
		leaves, err := w.pods.Leaves(w.Context(), execute.Of(wf))
		if err != nil {
			w.Fatal(err)
		}
		leaf, exists := leaves[run.NodeID]
		if !exists {
			w.Fatalf("%s was started, and is not there", run.Name)
		}
		return !strings.Contains(leaf.Message, `serviceaccount "default" not found`)
	})
}

// leaf waits until an execution is in a phase.
func (w *world) leaf(wf *v1alpha1.Workflow, run plan.Run, phase v1alpha1.NodePhase) plan.Leaf {
	w.Helper()
	var leaf plan.Leaf
	w.until(run.Name+" is "+string(phase), func() bool {
		leaves, err := w.pods.Leaves(w.Context(), execute.Of(wf))
		if err != nil {
			w.Fatal(err)
		}
		leaf = leaves[run.NodeID]
		if leaf.Phase.Fulfilled() && leaf.Phase != phase {
			w.Fatalf("%s is %s (%s), want %s", run.Name, leaf.Phase, leaf.Message, phase)
		}
		return leaf.Phase == phase
	})
	return leaf
}

func (w *world) get(run plan.Run) *corev1.Pod {
	w.Helper()
	pod, err := w.client.CoreV1().Pods("default").Get(w.Context(), run.Name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return pod
}

// endless runs until it is ended.
const endless = `container: {image: shell, command: [sh, -c], args: ["trap 'exit 3' TERM; echo begun; while :; do sleep 0.1; done"]}`

func TestPods(t *testing.T) {
	w := newWorld(t)
	wf := w.create("wf")
	of := execute.Of(wf)

	t.Run("Outputs", func(t *testing.T) {
		w := w.of(t)
		run := w.run(wf, "outputs", `
script:
  image: shell
  command: [sh]
  source: |
    cat DIR/in > DIR/small; cat DIR/in > DIR/artifact
    echo printed
inputs: {artifacts: [{name: in, path: DIR/in, raw: {data: "content\n"}}]}
outputs:
  parameters: [{name: small, globalName: all, valueFrom: {path: DIR/small}}, {name: missing, valueFrom: {path: DIR/none, default: instead}}]
  artifacts: [{name: file, path: DIR/artifact, archive: {none: {}}}, {name: none, path: DIR/none, optional: true}]
`)
		run.Result = true
		w.start(wf, run)
		leaf := w.leaf(wf, run, v1alpha1.NodeSucceeded)
		if diff := cmp.Diff([]string{"printed", "0", "small=content", "missing=instead", "file"}, summary(leaf)); diff != "" {
			t.Errorf("outputs (-want +got):\n%s", diff)
		}
		if leaf.Outputs.Parameters[0].GlobalName != "all" {
			t.Error("the name that the output has everywhere is lost")
		}
		content, err := w.pods.Store.Get(wf.UID, *leaf.Outputs.Artifacts[0].Local)
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		if data, err := io.ReadAll(content); err != nil || string(data) != "content\n" {
			t.Errorf("the artifact has %q, %v", data, err)
		}
		if log := w.log(of, run); log != "printed\n" {
			t.Errorf("the log has %q", log)
		}
		// What another process reads of the same pod is the same, and another execution gets the artifact.
		w.kill()
		if diff := cmp.Diff(summary(leaf), summary(w.leaf(wf, run, v1alpha1.NodeSucceeded))); diff != "" {
			t.Errorf("after a restart (-want +got):\n%s", diff)
		}
		next := w.run(wf, "next", `
container: {image: shell, command: [cat, DIR/next]}
inputs: {artifacts: [{name: file, path: DIR/next, archive: {none: {}}}]}
`)
		next.Template.Inputs.Artifacts[0].Local = leaf.Outputs.Artifacts[0].Local
		next.Result = true
		w.start(wf, next)
		if got := summary(w.leaf(wf, next, v1alpha1.NodeSucceeded)); got[0] != "content" {
			t.Errorf("the artifact that another execution wrote has %q", got)
		}
	})

	t.Run("Upload", func(t *testing.T) {
		w := w.of(t)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "login"}, StringData: map[string]string{"name": "me", "password": "hidden"}}
		if _, err := w.client.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		var sent []string
		server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
			name, password, _ := r.BasicAuth()
			content, _ := io.ReadAll(r.Body)
			sent = append(sent, r.Method, r.URL.Path, name, password, string(content))
			answer.WriteHeader(http.StatusCreated)
		}))
		defer server.Close()
		run := w.run(wf, "upload", `
container: {image: shell, command: [sh, -c], args: ["echo image > DIR/image; env | grep -c hidden"]}
outputs:
  artifacts:
  - name: image
    path: DIR/image
    archive: {none: {}}
    http: {url: `+server.URL+`/image, auth: {basicAuth: {usernameSecret: {name: login, key: name}, passwordSecret: {name: login, key: password}}}}
`)
		run.Result = true
		run.Template.Container.Args[0] += "; true"
		w.start(wf, run)
		leaf := w.leaf(wf, run, v1alpha1.NodeSucceeded)
		if diff := cmp.Diff([]string{"PUT", "/image", "me", "hidden", "image\n"}, sent); diff != "" {
			t.Errorf("the server got (-want +got):\n%s", diff)
		}
		if *leaf.Outputs.Result != "0" {
			t.Errorf("the program saw the Secret: %q", *leaf.Outputs.Result)
		}
		if at := leaf.Outputs.Artifacts[0]; at.HTTP == nil || at.Local != nil {
			t.Errorf("the artifact is at %+v", at.ArtifactLocation)
		}
	})

	t.Run("Large", func(t *testing.T) {
		w := w.of(t)
		run := w.run(wf, "large", `
container: {image: shell, command: [sh, -c], args: ["head -c 60000 /dev/urandom | base64 -w0 > DIR/large; cat DIR/large"]}
outputs: {parameters: [{name: large, valueFrom: {path: DIR/large}}]}
`)
		run.Result = true
		w.start(wf, run)
		leaf := w.leaf(wf, run, v1alpha1.NodeSucceeded)
		if value := leaf.Outputs.Parameters[0].Value.String(); len(value) != 80000 || value != *leaf.Outputs.Result {
			t.Errorf("a value that has no room in a termination message has %d bytes, want 80000", len(value))
		}
	})

	t.Run("Failures", func(t *testing.T) {
		w := w.of(t)
		for name, tc := range map[string]struct {
			reason, template string
			phase            v1alpha1.NodePhase
			message          string
		}{
			"code":    {"the exit code is that of the program", `container: {image: shell, command: [sh, -c, "exit 7"]}`, v1alpha1.NodeFailed, "main: Error (exit code 7)"},
			"program": {"there is no such program", `container: {image: shell, command: [nothing-of-the-kind]}`, v1alpha1.NodeError, `main: Error (exit code 64): starting the program: exec: "nothing-of-the-kind": executable file not found in $PATH`},
			"output": {
				"an output was not written", "container: {image: shell, command: ['true']}\noutputs: {parameters: [{name: a, valueFrom: {path: DIR/nothing}}]}", v1alpha1.NodeError,
				`main: Error (exit code 64): output parameter "a": open ` + w.dir + "/nothing: no such file or directory",
			},
			"input": {
				"an input is not there", "container: {image: shell, command: ['true']}\ninputs: {artifacts: [{name: a, path: /a, http: {url: 'http://127.0.0.1:1/a'}}]}", v1alpha1.NodeError,
				`init: Error (exit code 64): input artifact "a": requesting "http://127.0.0.1:1/a": dial tcp 127.0.0.1:1: connect: connection refused`,
			},
			"command": {"the image's command is not looked up", `container: {image: shell}`, v1alpha1.NodeError, `image "shell": container.command is required`},
			"invalid": {"the API server refuses it", `container: {image: shell, command: [x], ports: [{containerPort: 0}]}`, v1alpha1.NodeError, `Pod "wf-say-invalid" is invalid`},
		} {
			run := w.run(wf, name, tc.template)
			w.start(wf, run)
			if leaf := w.leaf(wf, run, tc.phase); !strings.HasPrefix(leaf.Message, tc.message) {
				t.Errorf("%s: %q, want %q", tc.reason, leaf.Message, tc.message)
			}
		}
	})

	t.Run("Adopted", func(t *testing.T) {
		w := w.of(t)
		run := w.run(wf, "adopted", endless)
		w.start(wf, run)
		w.leaf(wf, run, v1alpha1.NodeRunning)
		first := w.get(run).UID
		w.kill()
		w.leaf(wf, run, v1alpha1.NodeRunning)
		w.start(wf, run)
		if second := w.get(run).UID; second != first {
			t.Errorf("the pod of the killed process is %s, and there is %s", first, second)
		}
		// Another workflow of the name is another one.
		twin := wf.DeepCopy()
		twin.UID = "other"
		if err := w.pods.Start(t.Context(), twin, run); err == nil || !strings.Contains(err.Error(), "is of an earlier workflow of this name") {
			t.Errorf("a pod of another workflow was adopted: %v", err)
		}
		w.until("the program has begun", func() bool { return w.log(of, run) == "begun\n" })
		if err := w.pods.Stop(t.Context(), of, run.NodeID, "Stopped with strategy 'Stop'"); err != nil {
			t.Fatal(err)
		}
		leaf := w.leaf(wf, run, v1alpha1.NodeFailed)
		if leaf.Message != "Stopped with strategy 'Stop'" || *leaf.Outputs.ExitCode != "3" {
			t.Errorf("it was stopped gracefully: %q, exit code %q", leaf.Message, *leaf.Outputs.ExitCode)
		}
		if err := w.pods.Remove(t.Context(), of, run.NodeID); err != nil {
			t.Fatal(err)
		}
		w.gone(wf, run)
	})

	// Every pass that starts something is carried out twice: the process is killed before it has stored what it decided.
	t.Run("Workflow", func(t *testing.T) {
		w := w.of(t)
		wf := w.create("steps")
		spec := `
entrypoint: all
onExit: say
podMetadata: {labels: {a: b}}
templates:
- name: all
  steps:
  - - {name: build, template: build}
  - - name: use
      template: say
      arguments:
        parameters: [{name: word, value: "{{steps.build.outputs.parameters.word}}"}]
        artifacts: [{name: file, from: "{{steps.build.outputs.artifacts.file}}"}]
  outputs: {parameters: [{name: said, valueFrom: {parameter: "{{steps.use.outputs.result}}"}}]}
- name: build
  schedulerName: kubelet
  retryStrategy: {limit: 2}
  script: {image: shell, command: [sh], source: "echo {{retries}} > DIR/word; echo content > DIR/file; exit $((1 - {{retries}}))"}
  outputs: {parameters: [{name: word, valueFrom: {path: DIR/word}}], artifacts: [{name: file, path: DIR/file}]}
- name: say
  schedulerName: kubelet
  inputs: {parameters: [{name: word, default: none}], artifacts: [{name: file, path: DIR/given, optional: true}]}
  container: {image: shell, command: [sh, -c], args: ["echo {{inputs.parameters.word}}; cat DIR/given || true"]}
`
		if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(spec, "DIR", w.dir)), &wf.Spec); err != nil {
			t.Fatal(err)
		}
		kills := map[string]bool{}
		w.until("the workflow has ended", func() bool {
			leaves, err := w.pods.Leaves(t.Context(), execute.Of(wf))
			if err != nil {
				t.Fatal(err)
			}
			decision := plan.Next(wf, plan.Facts{Now: time.Now(), Leaves: leaves})
			for _, action := range decision.Actions {
				if action.Do != plan.Start {
					t.Fatalf("%s of %s", action.Do, action.Node)
				}
				w.start(wf, *action.Run)
				if !kills[action.Node] {
					kills[action.Node] = true
					w.kill()
					return false
				}
			}
			wf = decision.Workflow
			return wf.Status.Phase.Completed()
		})
		if wf.Status.Phase != v1alpha1.WorkflowSucceeded {
			t.Errorf("the workflow is %s: %s", wf.Status.Phase, wf.Status.Message)
		}
		root := wf.Status.Nodes[wf.Name]
		if got := root.Outputs.Parameters[0].Value.String(); got != "1\ncontent" {
			t.Errorf("the workflow has the output %q", got)
		}
		pods, err := w.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: v1alpha1.LabelWorkflow + "=steps,a=b"})
		if err != nil {
			t.Fatal(err)
		}
		// One attempt that fails, one that does not, the step after it, the exit handler.
		if len(pods.Items) != 4 || len(kills) != 4 {
			t.Errorf("there are %d pods, and the process was killed %d times, want 4", len(pods.Items), len(kills))
		}
	})

	t.Run("Foreign", func(t *testing.T) {
		w := w.of(t)
		run := w.run(wf, "foreign", `container: {image: shell, command: ['true']}`)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: run.Name}, Spec: corev1.PodSpec{SchedulerName: "nobody", Containers: []corev1.Container{{Name: "main", Image: "x"}}}}
		if _, err := w.client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.start(wf, run)
		if leaf := w.leaf(wf, run, v1alpha1.NodeError); !strings.Contains(leaf.Message, "is not of this workflow") || !leaf.Final {
			t.Errorf("a pod of others was adopted: %+v", leaf)
		}
	})

	t.Run("Lost", func(t *testing.T) {
		w := w.of(t)
		evicted, deleted, waits := w.run(wf, "evicted", endless), w.run(wf, "deleted", endless), w.run(wf, "waits", endless+"\nschedulerName: nobody")
		w.start(wf, evicted)
		w.start(wf, deleted)
		w.start(wf, waits)
		w.leaf(wf, evicted, v1alpha1.NodeRunning)
		w.kubelet.evict(string(w.get(evicted).UID))
		if leaf := w.leaf(wf, evicted, v1alpha1.NodeFailed); leaf.Message != "The node was low on resource: memory." || !leaf.Transient {
			t.Errorf("a pod was evicted: %+v", leaf)
		}
		w.leaf(wf, deleted, v1alpha1.NodeRunning)
		if err := w.client.CoreV1().Pods("default").Delete(t.Context(), deleted.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.gone(wf, deleted)
		// What has no machine has no one to end it.
		w.leaf(wf, waits, v1alpha1.NodePending)
		if err := w.pods.Stop(t.Context(), of, waits.NodeID, "Step exceeded its deadline"); err != nil {
			t.Fatal(err)
		}
		if leaf := w.leaf(wf, waits, v1alpha1.NodeFailed); leaf.Message != "Step exceeded its deadline" {
			t.Errorf("a pod without a machine was stopped: %q", leaf.Message)
		}
	})

	t.Run("Forbidden", func(t *testing.T) {
		w := w.of(t)
		run := w.run(wf, "forbidden", "container: {image: shell, command: ['true']}\nserviceAccountName: later")
		w.start(wf, run)
		if leaf := w.leaf(wf, run, v1alpha1.NodePending); !strings.Contains(leaf.Message, `serviceaccount "later" not found`) {
			t.Errorf("it waits for its account: %q", leaf.Message)
		}
		never := w.run(wf, "never", "container: {image: shell, command: ['true']}\nserviceAccountName: never")
		w.start(wf, never)
		if err := w.pods.Stop(t.Context(), of, never.NodeID, "Step exceeded its deadline"); err != nil {
			t.Fatal(err)
		}
		if leaf := w.leaf(wf, never, v1alpha1.NodeFailed); leaf.Message != "Step exceeded its deadline" {
			t.Errorf("what waits was stopped: %q", leaf.Message)
		}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "later"}}
		if _, err := w.client.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		// It is requested again without a request.
		w.gone(wf, run)
		w.start(wf, run)
		w.leaf(wf, run, v1alpha1.NodeSucceeded)
	})

	t.Run("Forgotten", func(t *testing.T) {
		w := w.of(t)
		other := w.create("other")
		run := w.run(other, "x", endless)
		w.start(other, run)
		w.leaf(other, run, v1alpha1.NodeRunning)
		if err := w.pods.Forget(t.Context(), execute.Of(other)); err != nil {
			t.Fatal(err)
		}
		w.until("the pod is deleted", func() bool {
			pods, err := w.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: v1alpha1.LabelWorkflow + "=other"})
			return err == nil && len(pods.Items) == 0
		})
	})
}

// of is the world with another test.
func (w *world) of(t *testing.T) *world {
	w.T = t
	return w
}

// log is what an execution has printed.
func (w *world) log(of execute.Workflow, run plan.Run) string {
	w.Helper()
	log, err := w.pods.Logs(w.Context(), of, run.NodeID, false)
	if err != nil {
		w.Fatal(err)
	}
	defer log.Close()
	data, err := io.ReadAll(log)
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

// gone waits until an execution is not there any more.
func (w *world) gone(wf *v1alpha1.Workflow, run plan.Run) {
	w.Helper()
	w.until(run.Name+" is gone", func() bool {
		leaves, err := w.pods.Leaves(w.Context(), execute.Of(wf))
		if err != nil {
			w.Fatal(err)
		}
		leaf, exists := leaves[run.NodeID]
		if exists && leaf.Phase.Fulfilled() && leaf.Message != "pod deleted" && leaf.Message != "Stopped with strategy 'Stop'" {
			w.Fatalf("%s was deleted while it was running: %q", run.Name, leaf.Message)
		}
		return !exists
	})
}

// summary has the values of outputs.
func summary(leaf plan.Leaf) []string {
	var all []string
	if leaf.Outputs.Result != nil {
		all = append(all, *leaf.Outputs.Result)
	}
	if leaf.Outputs.ExitCode != nil {
		all = append(all, *leaf.Outputs.ExitCode)
	}
	for _, one := range leaf.Outputs.Parameters {
		all = append(all, one.Name+"="+one.Value.String())
	}
	for _, one := range leaf.Outputs.Artifacts {
		all = append(all, one.Name)
	}
	return all
}
