package flow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/execute/process"
)

// mainContainer is that of a pod which the template declares.
const mainContainer = "main"

// podLogs reads the logs of pods.
type podLogs struct{ client kubernetes.Interface }

// Logs is what the pod of a node printed.
func (p podLogs) Logs(ctx context.Context, of execute.Workflow, node string, follow bool) (io.ReadCloser, error) {
	pods, err := p.client.CoreV1().Pods(of.Namespace).List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelWorkflow + "=" + of.Name})
	if err != nil {
		return nil, fmt.Errorf("listing the pods of workflow %q: %w", of.Name, err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Annotations[v1alpha1.AnnotationNodeID] != node || !owned(pod, of) {
			continue
		}
		o := &corev1.PodLogOptions{Container: mainContainer, Follow: follow}
		log, err := p.client.CoreV1().Pods(of.Namespace).GetLogs(pod.Name, o).Stream(ctx)
		if apierrors.IsNotFound(err) {
			return nil, fs.ErrNotExist
		}
		if err != nil {
			return nil, fmt.Errorf("reading the log of pod %q: %w", pod.Name, err)
		}
		return log, nil
	}
	return nil, fs.ErrNotExist
}

// owned reports whether a pod is that of a workflow, and not of another one that had the name.
func owned(pod *corev1.Pod, of execute.Workflow) bool {
	for _, owner := range pod.OwnerReferences {
		if owner.UID == of.UID {
			return true
		}
	}
	return len(pod.OwnerReferences) == 0
}

// places are several places where a log may be.
type places []execute.Logged

// Logs is the log of the first place that has it.
func (p places) Logs(ctx context.Context, of execute.Workflow, node string, follow bool) (io.ReadCloser, error) {
	for _, one := range p {
		log, err := one.Logs(ctx, of, node, follow)
		if !errors.Is(err, fs.ErrNotExist) {
			return log, err
		}
	}
	return nil, fs.ErrNotExist
}

// reader reads the logs of nodes: from the state directories of engines of this machine, where containers are processes, or from pods. A
// log is found by the UID of its workflow, so that it does not matter which of the engines had it.
func (p *place) reader(node string) (*logReader, error) {
	config, err := p.RestConfig()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	state, err := p.State()
	if err != nil {
		return nil, err
	}
	var from places
	for _, dir := range []string{console.ClusterDir(state, true), console.ClusterDir(state, false), console.EngineDir(state, config.Host)} {
		from = append(from, process.Open(process.Dir(dir)))
	}
	return &logReader{place: *p, node: node, from: append(from, podLogs{client})}, nil
}

// ended is no error for the end of a log.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
