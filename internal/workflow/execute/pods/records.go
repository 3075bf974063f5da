package pods

import (
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// record is what is kept of a pod.
type record struct {
	name    string
	uid     types.UID
	version uint64
	// bound is set once the pod has a machine, ended once nothing of it runs, owned while it belongs to its workflow.
	bound, ended, owned bool
	seen                seen
	// settled has the outputs, once they were read.
	settled *plan.Leaf
}

// records are the pods of all workflows, by the workflow and the ID of the node, as the watch and this executor saw them last. They are safe for concurrent use.
type records struct {
	mu     sync.Mutex
	pods   map[execute.Workflow]map[string]*record
	places map[types.UID]place
	// refused are executions that have no pod, and never will, or wait.
	refused map[execute.Workflow]map[string]plan.Leaf
}

// place is where the record of a pod is.
type place struct {
	of   execute.Workflow
	node string
}

func newRecords() *records {
	return &records{
		pods: map[execute.Workflow]map[string]*record{}, places: map[types.UID]place{}, refused: map[execute.Workflow]map[string]plan.Leaf{},
	}
}

// identify reports which execution a pod is; false for one that this executor did not create.
func identify(pod *corev1.Pod) (of execute.Workflow, node string, ok bool) {
	uid, node, found := strings.Cut(pod.Annotations[v1alpha1.AnnotationRun], "/")
	workflow := pod.Labels[v1alpha1.LabelWorkflow]
	if !found || workflow == "" || node == "" {
		return execute.Workflow{}, "", false
	}
	return execute.Workflow{NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: workflow}, UID: types.UID(uid)}, node, true
}

// put enters a pod, unless a later version of it is known. It reports whether anything changed for its workflow.
func (r *records) put(pod *corev1.Pod) (of execute.Workflow, changed bool) {
	of, node, ok := identify(pod)
	if !ok {
		return of, false
	}
	version, _ := strconv.ParseUint(pod.ResourceVersion, 10, 64)
	fresh := &record{
		name: pod.Name, uid: pod.UID, version: version, bound: pod.Spec.NodeName != "",
		owned: metav1.GetControllerOf(pod) != nil,
		seen:  observe(pod),
	}
	fresh.ended = fresh.seen.leaf.Phase.Fulfilled()
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.pods[of][node]
	if known != nil && known.version >= version {
		return of, false
	}
	if known != nil && known.uid == fresh.uid && known.ended {
		// It has ended once and for all. That of a pod which was deleted shows only as long as its grace period does.
		fresh.settled, fresh.ended, fresh.seen.leaf = known.settled, true, known.seen.leaf
	}
	if r.pods[of] == nil {
		r.pods[of] = map[string]*record{}
	}
	if known != nil {
		delete(r.places, known.uid)
	}
	r.pods[of][node], r.places[fresh.uid] = fresh, place{of, node}
	return of, true
}

// drop removes a pod that went.
func (r *records) drop(uid types.UID) (of execute.Workflow, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, known := r.places[uid]
	if !known {
		return at.of, false
	}
	delete(r.places, uid)
	if one := r.pods[at.of][at.node]; one != nil && one.uid == uid {
		delete(r.pods[at.of], at.node)
	}
	if len(r.pods[at.of]) == 0 {
		delete(r.pods, at.of)
	}
	return at.of, true
}

func (r *records) get(of execute.Workflow, node string) (record, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one, known := r.pods[of][node]
	if !known {
		return record{}, false
	}
	return *one, true
}

// refuse keeps the end of an execution that has no pod, or what it waits for.
func (r *records) refuse(of execute.Workflow, node string, leaf plan.Leaf) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused[of] == nil {
		r.refused[of] = map[string]plan.Leaf{}
	}
	r.refused[of][node] = leaf
}

// expire forgets what an execution waits for, unless something else has happened.
func (r *records) expire(of execute.Workflow, node string, leaf plan.Leaf) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, waits := r.refused[of][node]
	if !waits || known.Phase != leaf.Phase {
		return false
	}
	delete(r.refused[of], node)
	return true
}

// waits reports whether an execution waits for its pod to be permitted.
func (r *records) waits(of execute.Workflow, node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	leaf, waits := r.refused[of][node]
	return waits && !leaf.Phase.Fulfilled()
}

// accept forgets such an end.
func (r *records) accept(of execute.Workflow, node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.refused[of], node)
	if len(r.refused[of]) == 0 {
		delete(r.refused, of)
	}
}

// all are copies of what is known of a workflow.
func (r *records) all(of execute.Workflow) (pods map[string]record, refused map[string]plan.Leaf) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pods, refused = map[string]record{}, map[string]plan.Leaf{}
	for node, one := range r.pods[of] {
		pods[node] = *one
	}
	for node, leaf := range r.refused[of] {
		refused[node] = leaf
	}
	return pods, refused
}

// settle keeps the outputs of a pod that has ended.
func (r *records) settle(of execute.Workflow, node string, uid types.UID, leaf plan.Leaf) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.pods[of][node]; one != nil && one.uid == uid {
		// What was reported is not needed any more, and may be large.
		one.settled, one.seen.report, one.seen.declared = &leaf, nil, nil
	}
}

func (r *records) forget(of execute.Workflow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.pods[of] {
		delete(r.places, one.uid)
	}
	delete(r.pods, of)
	delete(r.refused, of)
}

// podOf is a pod that a watch brought.
func podOf(u *unstructured.Unstructured) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, pod)
	return pod, err
}
