// Package pods carries out containers and scripts of workflows as pods of a cluster.
//
// A pod has the name that Argo Workflows gives it, and an annotation with the attempt that created it, by which it is adopted after a crash. Its program
// runs under a wrapper that needs no permission: outputs are read from the status of the pod, or from the log of one of its containers. Nothing polls: a watch
// delivers the pods. The package refuses to decide anything, and pods of others.
package pods

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/execute/pods/wrapper"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// annotationStop is why a pod was stopped: the message of its end.
const annotationStop = "workflows.headgate.dev/stopped"

// Options say what pods are made of.
type Options struct {
	// Image is that of this engine: its binary runs in every pod. Without one, nothing is started.
	Image string
	// Store has the artifacts of workflows.
	Store *artifacts.Store
	// Listener is notified of changes.
	Listener execute.Listener
}

// Pods is the executor.
type Pods struct {
	Options
	client  kubernetes.Interface
	home    *cluster.Cluster
	records *records

	// life is that of the watch; mu keeps it one.
	life     context.Context
	mu       sync.Mutex
	followed bool
}

var (
	_ execute.Executor = (*Pods)(nil)
	_ execute.Logged   = (*Pods)(nil)
)

// New returns an executor for a cluster. It makes no request; pods are followed from the first use on, until ctx ends.
func New(ctx context.Context, config *rest.Config, home *cluster.Cluster, o Options) (*Pods, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = -1, -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for %s: %w", config.Host, err)
	}
	return &Pods{Options: o, client: client, home: home, records: newRecords(), life: ctx}, nil
}

// follow has the pods of all workflows followed, and waits until all are known that there are.
func (p *Pods) follow(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.followed {
		return nil
	}
	err := cluster.Within(ctx, "pods", func() error {
		return p.home.Watch(p.life, corev1.SchemeGroupVersion.WithResource("pods"), v1alpha1.LabelWorkflow, cluster.Sink{Put: p.put, Dropped: p.dropped})
	})
	if err != nil {
		return fmt.Errorf("following the pods of workflows: %w", err)
	}
	p.followed = true
	return nil
}

func (p *Pods) put(u *unstructured.Unstructured) {
	pod, err := podOf(u)
	if err != nil {
		return // it is of the API server, which has checked it
	}
	if of, changed := p.records.put(pod); changed {
		p.Listener.LeavesChanged(of)
	}
}

func (p *Pods) dropped(u *unstructured.Unstructured) {
	if of, known := p.records.drop(u.GetUID()); known {
		p.Listener.LeavesChanged(of)
	}
}

// Start creates a pod, or adopts the one of the same node.
func (p *Pods) Start(ctx context.Context, wf *v1alpha1.Workflow, run plan.Run) error {
	of := execute.Of(wf)
	pod, err := p.build(wf, &run)
	if err != nil {
		var passing *unreadError
		if errors.As(err, &passing) {
			return err
		}
		p.refuse(of, run.NodeID, err.Error())
		return nil
	}
	created, err := p.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return p.adopt(ctx, of, pod)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		p.refuse(of, run.NodeID, err.Error())
		return nil
	case apierrors.IsForbidden(err):
		p.await(of, run.NodeID, err.Error())
		return nil
	case err != nil:
		return fmt.Errorf("creating pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	p.records.accept(of, run.NodeID)
	p.records.put(created)
	return nil
}

// build is the pod of an execution, with what it is handed.
func (p *Pods) build(wf *v1alpha1.Workflow, run *plan.Run) (*corev1.Pod, error) {
	if p.Image == "" {
		return nil, errors.New("pods need the image of Headgate: start the controller with --executor-image")
	}
	contents, err := p.contents(wf.UID, run.Template.Inputs.Artifacts)
	if err != nil {
		return nil, err
	}
	return build(wf, run, p.Image, contents)
}

// refuse ends an execution that can never have a pod.
func (p *Pods) refuse(of execute.Workflow, node, message string) {
	p.records.refuse(of, node, plan.Leaf{Phase: v1alpha1.NodeError, Message: message, Final: true})
}

// again is how long an execution waits whose pod was forbidden: by a quota, a policy, or since its account does not exist yet.
const again = 5 * time.Second

// await has an execution wait for something that a person has to do, or that is about to happen. Afterwards it is requested again.
func (p *Pods) await(of execute.Workflow, node, message string) {
	leaf := plan.Leaf{Phase: v1alpha1.NodePending, Message: message}
	p.records.refuse(of, node, leaf)
	guard := p.home.Guard()
	time.AfterFunc(again, func() {
		guard.Run("pod of node "+node, func() {
			if p.life.Err() == nil && p.records.expire(of, node, leaf) {
				p.Listener.LeavesChanged(of)
			}
		})
	})
}

// adopt takes the pod that exists under the name, if the same attempt created it.
func (p *Pods) adopt(ctx context.Context, of execute.Workflow, pod *corev1.Pod) error {
	there, err := p.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	node := pod.Annotations[v1alpha1.AnnotationNodeID]
	attempt, ours := there.Annotations[v1alpha1.AnnotationRun]
	switch {
	case !ours:
		p.refuse(of, node, fmt.Sprintf("pod %s/%s exists and is not of this workflow; delete it, or rename the workflow", pod.Namespace, pod.Name))
	case attempt != pod.Annotations[v1alpha1.AnnotationRun]:
		return fmt.Errorf("pod %s/%s is of an earlier workflow of this name, and has to be deleted first", pod.Namespace, pod.Name)
	case there.DeletionTimestamp != nil:
		return fmt.Errorf("pod %s/%s is being deleted, and is created again afterwards", pod.Namespace, pod.Name)
	default:
		p.records.accept(of, node)
		p.records.put(there)
	}
	return nil
}

// Stop has the kubelet end a pod, as if it had been active for too long: it gets its grace period, and its status and log remain. A pod without a machine is
// deleted, since nothing would end it.
func (p *Pods) Stop(ctx context.Context, of execute.Workflow, node, reason string) error {
	if err := p.follow(ctx); err != nil {
		return err
	}
	one, known := p.records.get(of, node)
	if !known && p.records.waits(of, node) {
		p.records.refuse(of, node, plan.Leaf{Phase: v1alpha1.NodeFailed, Message: reason})
	}
	if !known || one.ended {
		return nil
	}
	api := p.client.CoreV1().Pods(of.Namespace)
	if !one.bound {
		version := fmt.Sprint(one.version)
		err := api.Delete(ctx, one.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &one.uid, ResourceVersion: &version}})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting pod %s/%s: %w", of.Namespace, one.name, err)
		}
		p.records.refuse(of, node, plan.Leaf{Phase: v1alpha1.NodeFailed, Message: reason})
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": one.uid, "annotations": map[string]string{annotationStop: reason}},
		"spec":     map[string]any{"activeDeadlineSeconds": 1},
	})
	if err != nil {
		return fmt.Errorf("stopping pod %s/%s: %w", of.Namespace, one.name, err)
	}
	_, err = api.Patch(ctx, one.name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("stopping pod %s/%s: %w", of.Namespace, one.name, err)
	}
	return nil
}

// Remove deletes a pod.
func (p *Pods) Remove(ctx context.Context, of execute.Workflow, node string) error {
	if err := p.follow(ctx); err != nil {
		return err
	}
	p.records.accept(of, node)
	one, known := p.records.get(of, node)
	if !known {
		return nil
	}
	return p.remove(ctx, of.Namespace, one)
}

func (p *Pods) remove(ctx context.Context, namespace string, one record) error {
	err := p.client.CoreV1().Pods(namespace).Delete(ctx, one.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &one.uid}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting pod %s/%s: %w", namespace, one.name, err)
	}
	return nil
}

// Leaves are the pods of a workflow, and what has none.
func (p *Pods) Leaves(ctx context.Context, of execute.Workflow) (map[string]plan.Leaf, error) {
	if err := p.follow(ctx); err != nil {
		return nil, err
	}
	pods, refused := p.records.all(of)
	leaves := make(map[string]plan.Leaf, len(pods)+len(refused))
	for node, one := range pods {
		leaf, err := p.settled(ctx, of, node, one)
		if err != nil {
			return nil, fmt.Errorf("reading the outputs of pod %s/%s: %w", of.Namespace, one.name, err)
		}
		leaves[node] = leaf
	}
	for node, leaf := range refused {
		leaves[node] = leaf
	}
	return leaves, nil
}

// Forget deletes the pods and the artifacts of a workflow. A pod that was released from it, by a deletion that orphans, is not deleted by the cluster either.
func (p *Pods) Forget(ctx context.Context, of execute.Workflow) error {
	if err := p.follow(ctx); err != nil {
		return err
	}
	pods, _ := p.records.all(of)
	var errs []error
	for _, one := range pods {
		if one.owned {
			errs = append(errs, p.remove(ctx, of.Namespace, one))
		}
	}
	if err := errors.Join(append(errs, p.Store.Forget(of.UID))...); err != nil {
		return err
	}
	p.records.forget(of)
	return nil
}

// Logs is the log of the program.
func (p *Pods) Logs(ctx context.Context, of execute.Workflow, node string, follow bool) (io.ReadCloser, error) {
	if err := p.follow(ctx); err != nil {
		return nil, err
	}
	one, known := p.records.get(of, node)
	if !known {
		return nil, fmt.Errorf("pod of node %s: %w", node, fs.ErrNotExist)
	}
	if one.seen.leaf.Phase == v1alpha1.NodePending {
		return nil, fmt.Errorf("pod %s/%s has printed nothing yet (%s): %w", of.Namespace, one.name, one.seen.leaf.Message, fs.ErrNotExist)
	}
	log, err := p.client.CoreV1().Pods(of.Namespace).GetLogs(one.name, &corev1.PodLogOptions{Container: mainContainer, Follow: follow}).Stream(ctx)
	if apierrors.IsNotFound(err) {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the log of pod %s/%s: %w", of.Namespace, one.name, err)
	}
	return log, nil
}

// contents are those of input artifacts that are in the store. What is there and cannot be read is an unreadError: it is tried again.
func (p *Pods) contents(owner types.UID, inputs []v1alpha1.Artifact) (map[string][]byte, error) {
	contents := map[string][]byte{}
	for _, artifact := range inputs {
		if artifact.Local == nil {
			continue
		}
		stored, err := p.Store.Get(owner, *artifact.Local)
		if errors.Is(err, artifacts.ErrNone) {
			return nil, fmt.Errorf("input artifact %q: %w", artifact.Name, err)
		}
		if err != nil {
			return nil, &unreadError{artifact.Name, err}
		}
		var content bytes.Buffer
		_, err = io.Copy(&content, io.LimitReader(stored, wrapper.Largest+1))
		stored.Close()
		if err != nil {
			return nil, &unreadError{artifact.Name, err}
		}
		if content.Len() > wrapper.Largest {
			return nil, fmt.Errorf("input artifact %q: it has more than %d bytes: %w", artifact.Name, wrapper.Largest, wrapper.ErrTooLarge)
		}
		contents[artifact.Name] = content.Bytes()
	}
	return contents, nil
}

// unreadError is an artifact that could not be read this time.
type unreadError struct {
	name string
	err  error
}

func (e *unreadError) Error() string {
	return fmt.Sprintf("reading input artifact %q: %s", e.name, e.err)
}

func (e *unreadError) Unwrap() error { return e.err }
