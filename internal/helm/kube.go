package helm

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"helm.sh/helm/v4/pkg/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/headgate-dev/headgate/internal/engine"
)

// cluster is Helm's client of a cluster for one action. It waits for hooks, and for nothing else
// unless it shall wait for the deletion of a release's objects.
type cluster struct {
	*kube.Client
	ctx context.Context
	// uninstall is set in an uninstall, whose first waiter is for the release's objects.
	uninstall, awaitDeletion bool
	// guard is asked before objects are deleted, and stays are those that it keeps; uninstalling is set when the release goes.
	guard        Guard
	stays        map[engine.ObjectID]bool
	uninstalling bool
	// refused is why objects could not be deleted; Helm drops it.
	refused []error
	// written are the objects as the server had them after they were written.
	written []*unstructured.Unstructured
}

func newCluster(g *getter, guard Guard) *cluster {
	client := &kube.Client{Factory: factory{cmdutil.NewFactory(g)}, Namespace: g.namespace}
	client.SetLogger(slog.DiscardHandler)
	return &cluster{Client: client, ctx: g.ctx, guard: guard, stays: map[engine.ObjectID]bool{}}
}

// IsReachable asks nothing: the first request of the action tells.
func (c *cluster) IsReachable() error { return nil }

// GetWaiter is part of what Helm asks for.
func (c *cluster) GetWaiter(strategy kube.WaitStrategy) (kube.Waiter, error) {
	return c.GetWaiterWithOptions(strategy)
}

// GetWaiterWithOptions returns a waiter for hooks, whatever the strategy.
func (c *cluster) GetWaiterWithOptions(_ kube.WaitStrategy, opts ...kube.WaitOption) (kube.Waiter, error) {
	watcher, err := c.Client.GetWaiterWithOptions(kube.StatusWatcherStrategy, append(opts, kube.WithWaitContext(c.ctx))...)
	if err != nil {
		return nil, err
	}
	ofRelease := c.uninstall
	c.uninstall = false
	return &waiter{Waiter: watcher, stays: c.stays, leaveDeletion: ofRelease && !c.awaitDeletion}, nil
}

// Build refuses labels and annotations that are not strings in what is validated: Helm would drop all that the object has.
func (c *cluster) Build(manifests io.Reader, validate bool) (kube.ResourceList, error) {
	resources, err := c.Client.Build(manifests, validate)
	if err != nil || !validate {
		return resources, err
	}
	for _, info := range resources {
		o, is := info.Object.(*unstructured.Unstructured)
		if !is {
			continue
		}
		if err := engine.Strings(o.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", engine.IDOf(o), err)
		}
	}
	return resources, nil
}

// Create keeps what was written.
func (c *cluster) Create(resources kube.ResourceList, options ...kube.ClientCreateOption) (*kube.Result, error) {
	result, err := c.Client.Create(resources, options...)
	c.keep(result)
	return result, err
}

// Update keeps what was written. What is no longer part of the release stays where the guard says so.
func (c *cluster) Update(originals, targets kube.ResourceList, options ...kube.ClientUpdateOption) (*kube.Result, error) {
	originals, err := c.without(originals, originals.Difference(targets))
	if err != nil {
		return &kube.Result{}, err
	}
	result, err := c.Client.Update(originals, targets, options...)
	c.keep(result)
	return result, err
}

func (c *cluster) keep(result *kube.Result) {
	if result == nil {
		return
	}
	for _, info := range slices.Concat(result.Created, result.Updated) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(info.Object)
		if err != nil {
			continue
		}
		o := &unstructured.Unstructured{Object: content}
		o.SetGroupVersionKind(info.Mapping.GroupVersionKind)
		if o.GetResourceVersion() != "" {
			c.written = append(c.written, o)
		}
	}
}

// Delete keeps the errors, and in an uninstall what the guard says stays.
func (c *cluster) Delete(resources kube.ResourceList, policy metav1.DeletionPropagation) (*kube.Result, []error) {
	if c.uninstalling {
		left, err := c.without(resources, resources)
		if err != nil {
			c.refused = append(c.refused, err)
			return &kube.Result{}, []error{err}
		}
		resources = left
	}
	result, errs := c.Client.Delete(resources, policy)
	c.refused = append(c.refused, errs...)
	return result, errs
}

// GetPodList finds no pods: Helm would only look for logs of hooks, which go nowhere.
func (c *cluster) GetPodList(string, metav1.ListOptions) (*corev1.PodList, error) {
	return &corev1.PodList{}, nil
}

// OutputContainerLogsForPodList writes nothing.
func (c *cluster) OutputContainerLogsForPodList(*corev1.PodList, string, func(namespace, pod, container string) io.Writer) error {
	return nil
}

// waiter waits for hooks and for deletions.
type waiter struct {
	kube.Waiter
	stays         map[engine.ObjectID]bool
	leaveDeletion bool
}

// Wait does not.
func (w *waiter) Wait(kube.ResourceList, time.Duration) error { return nil }

// WaitWithJobs does not.
func (w *waiter) WaitWithJobs(kube.ResourceList, time.Duration) error { return nil }

// WaitForDelete waits until objects are gone.
func (w *waiter) WaitForDelete(resources kube.ResourceList, timeout time.Duration) error {
	if w.leaveDeletion {
		return nil
	}
	return w.Waiter.WaitForDelete(but(resources, w.stays), timeout)
}
