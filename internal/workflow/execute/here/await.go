package here

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

const (
	// unwatched is how often an object is read that the account may read and not watch.
	unwatched = 5 * time.Second
	// rewatch is how long it is until an object is read again whose watch has ended.
	rewatch = time.Second
)

// await waits until the conditions decide, by a watch of the object.
func (e *Executor) await(ctx context.Context, x *execution, t *target, live *unstructured.Unstructured) (*unstructured.Unstructured, plan.Leaf) {
	var p patience
	for {
		leaf := e.judge(x, t, live)
		if leaf.Phase != v1alpha1.NodeRunning {
			return live, leaf
		}
		next, err := t.change(ctx, live)
		if err == nil {
			p, live = patience{}, next
			continue
		}
		var gone *deletedError
		if errors.As(err, &gone) {
			return live, failed(v1alpha1.NodeError, "%s", gone)
		}
		if ctx.Err() != nil {
			return live, failed(v1alpha1.NodeRunning, "it was stopped")
		}
		wait, again := p.again(err)
		if !again {
			return live, failed(v1alpha1.NodeError, "%s", told(t, err))
		}
		if !pause(ctx, wait) {
			return live, failed(v1alpha1.NodeRunning, "it was stopped")
		}
	}
}

// judge reports how an object stands, and what it waits for.
func (e *Executor) judge(x *execution, t *target, live *unstructured.Unstructured) plan.Leaf {
	data, err := json.Marshal(live.Object)
	if err != nil {
		return failed(v1alpha1.NodeError, "encoding %s: %s", t, err)
	}
	phase, message := t.conditions.Judge(data)
	if phase == v1alpha1.NodeRunning {
		e.progress(x, phase, message)
	}
	return plan.Leaf{Phase: phase, Message: message}
}

// change waits for another version of an object than the one that was seen.
func (t *target) change(ctx context.Context, seen *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stream, err := t.client.Watch(ctx, metav1.ListOptions{
		FieldSelector: "metadata.name=" + t.GetName(), ResourceVersion: seen.GetResourceVersion(),
	})
	if err != nil {
		wait := rewatch
		if apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
			wait = unwatched
		}
		return t.readAfter(ctx, wait)
	}
	defer stream.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case event, open := <-stream.ResultChan():
			if !open || event.Type == watch.Error {
				return t.readAfter(ctx, rewatch)
			}
			u, is := event.Object.(*unstructured.Unstructured)
			switch {
			case !is:
			case event.Type == watch.Deleted:
				return nil, &deletedError{t.String()}
			case event.Type == watch.Added || event.Type == watch.Modified:
				return u, nil
			}
		}
	}
}

// readAfter reads the object that is waited for, after a while.
func (t *target) readAfter(ctx context.Context, wait time.Duration) (*unstructured.Unstructured, error) {
	if !pause(ctx, wait) {
		return nil, context.Cause(ctx)
	}
	live, err := t.get(ctx)
	if apierrors.IsNotFound(err) {
		return nil, &deletedError{t.String()}
	}
	return live, err
}
