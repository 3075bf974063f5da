package scenario

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/kit"
)

// killable are workflows in a namespace of their own: a run that creates objects with generated names, one after the other and in a loop, and
// a schedule whose runs wait, of which there may be one.
const killable = `apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: builder, namespace: %[1]s}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: builder, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: builder, namespace: %[1]s}]
---
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: run, namespace: %[1]s}
spec:
  entrypoint: main
  serviceAccountName: builder
  onExit: make
  arguments: {parameters: [{name: of, value: exit}]}
  templates:
  - name: main
    steps:
    - - {name: one, template: one, arguments: {parameters: [{name: of, value: one}]}}
    - - {name: each, template: one, arguments: {parameters: [{name: of, value: "each-{{item}}"}]}, withItems: [a, b]}
    - - {name: patch, template: patch, arguments: {parameters: [{name: name, value: "{{steps.one.outputs.parameters.name}}"}]}}
  - name: one
    inputs: {parameters: [{name: of}]}
    retryStrategy: {limit: 1}
    resource:
      action: create
      manifest: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {generateName: "{{inputs.parameters.of}}-"}
        data: {k: made}
      successCondition: data.k == made
    outputs: {parameters: [{name: name, valueFrom: {jsonPath: "{.metadata.name}"}}]}
  - name: make
    resource: {action: create, manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: '{{workflow.parameters.of}}-'}, data: {k: made}}"}
  - name: patch
    inputs: {parameters: [{name: name}]}
    resource: {action: patch, mergeStrategy: merge, manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: '{{inputs.parameters.name}}'}, data: {k: patched}}"}
---
apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata: {name: tick, namespace: %[1]s}
spec:
  schedules: ["@every 1s"]
  concurrencyPolicy: Forbid
  workflowSpec:
    entrypoint: main
    templates: [{name: main, suspend: {}}]
`

// errKilled is what every request gets after the end of the process that it stands for.
var errKilled = errors.New("the process was killed")

// killer is a connection of an engine to its cluster that is cut after one of the writes in a namespace, whose answer is lost: nothing that the engine
// does from then on has an effect, as if its process had been killed there.
type killer struct {
	namespace string
	// at is the number of the write.
	at int

	mu     sync.Mutex
	writes int
	dead   chan struct{}
	what   string
}

// by passes a request on, unless the end has come.
func (k *killer) by(inner http.RoundTripper, r *http.Request) (*http.Response, error) {
	k.mu.Lock()
	select {
	case <-k.dead:
		k.mu.Unlock()
		return nil, errKilled
	default:
	}
	ends := false
	if k.counts(r) {
		k.writes++
		if ends = k.writes == k.at; ends {
			k.what = r.Method + " " + r.URL.Path
		}
	}
	k.mu.Unlock()
	response, err := inner.RoundTrip(r)
	if ends {
		k.mu.Lock()
		close(k.dead)
		k.mu.Unlock()
		if err == nil {
			_ = response.Body.Close()
		}
		return nil, errKilled
	}
	return response, err
}

// counts reports whether a request writes what the workflows are about.
func (k *killer) counts(r *http.Request) bool {
	return r.Method != http.MethodGet && strings.Contains(r.URL.Path, "/namespaces/"+k.namespace+"/") && !strings.HasSuffix(r.URL.Path, "/events")
}

// TestKilledWorkflows ends the process of an engine after every write that a run and a schedule take, starts another one each time, and expects that
// each object was created once, that everything was done, and that a schedule has the one run that it may have.
func TestKilledWorkflows(t *testing.T) {
	t.Parallel()
	k := startKit(t, kit.Options{Serve: []string{"workflows"}})
	k.StopEngine()
	client, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{kit: k, client: client}
	for at := 1; ; at++ {
		what := killedAt(t, w, &killer{namespace: fmt.Sprintf("killed-%d", at), at: at, dead: make(chan struct{})})
		if what == "" {
			if at < 8 {
				t.Errorf("only %d writes were found: the engine was not ended in between", at-1)
			}
			break
		}
		t.Logf("ended after %s", what)
	}
}

// killedAt begins the workflows with an engine that ends at some write, continues with another one, and checks what is there. It returns the write, or nothing if
// there are not as many.
func killedAt(t *testing.T, w *world, end *killer) string {
	t.Helper()
	own := w.kit.Own
	defer func() { w.kit.Own = own }()
	w.kit.Own = rest.CopyConfig(own)
	w.kit.Own.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		return &through{end, inner}
	})
	if err := w.kit.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.put(fmt.Sprintf(killable, end.namespace)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine is ended, or all is done", func() (bool, string) {
		select {
		case <-end.dead:
			return true, ""
		default:
			return allDone(t, w, end.namespace)
		}
	})
	w.kit.StopEngine()
	w.kit.Own = own
	if err := w.kit.StartEngine(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the next engine has done the rest after "+end.what, func() (bool, string) { return allDone(t, w, end.namespace) })
	createdOnce(t, w, end)
	w.kit.StopEngine()
	removeWorkflows(t, w, end.namespace)
	return end.what
}

// through is one transport of a killer: an engine has several.
type through struct {
	*killer
	inner http.RoundTripper
}

// RoundTrip passes a request on by this transport.
func (t *through) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.killer.by(t.inner, r)
}

// allDone reports whether the run has ended and the schedule has a run that waits.
func allDone(t *testing.T, w *world, namespace string) (bool, string) {
	t.Helper()
	phases := map[string]string{}
	for _, u := range objectsOf(t, w, "workflows", namespace) {
		phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
		phases[u.GetName()] = phase
	}
	run := phases["run"]
	delete(phases, "run")
	waits := 0
	for _, phase := range phases {
		if phase == "Running" {
			waits++
		}
	}
	return run == "Succeeded" && waits == 1, fmt.Sprintf("the run is %q, those of the schedule are %v", run, phases)
}

// createdOnce checks which objects there are.
func createdOnce(t *testing.T, w *world, end *killer) {
	t.Helper()
	var found []string
	for _, u := range objectsOf(t, w, "configmaps", end.namespace) {
		value, is, _ := unstructured.NestedString(u.Object, "data", "k")
		if is {
			found = append(found, u.GetName()[:strings.LastIndex(u.GetName(), "-")]+" "+value)
		}
	}
	slices.Sort(found)
	if want := []string{"each-a made", "each-b made", "exit made", "one patched"}; !slices.Equal(found, want) {
		t.Errorf("ended at %s: there are %v, want %v", end.what, found, want)
	}
	var runs []string
	for _, u := range objectsOf(t, w, "workflows", end.namespace) {
		if u.GetName() != "run" {
			runs = append(runs, u.GetName())
		}
	}
	if len(runs) != 1 {
		t.Errorf("ended at %s: the schedule has the runs %v, and may have one", end.what, runs)
	}
}

// objectsOf are the objects of a namespace.
func objectsOf(t *testing.T, w *world, resource, namespace string) []unstructured.Unstructured {
	t.Helper()
	r := schemaGVR{Version: "v1", Resource: resource}
	if resource != "configmaps" {
		r.Group, r.Version = "argoproj.io", "v1alpha1"
	}
	all, err := w.client.Resource(r).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil
	}
	return all.Items
}

// removeWorkflows deletes what engines that come would serve.
func removeWorkflows(t *testing.T, w *world, namespace string) {
	t.Helper()
	for _, resource := range []string{"cronworkflows", "workflows"} {
		err := w.client.Resource(schemaGVR{Group: "argoproj.io", Version: "v1alpha1", Resource: resource}).Namespace(namespace).
			DeleteCollection(context.WithoutCancel(t.Context()), metav1.DeleteOptions{}, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
}
