package receivers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/webhook"
)

const (
	// askTimeout bounds what a request asks of the cluster, askAtOnce the objects that it changes at a time.
	askTimeout = 30 * time.Second
	askAtOnce  = 8
	// listPage bounds the objects of one answer.
	listPage = 500
)

// asked is an object for which a pass is requested.
type asked struct {
	client    dynamic.ResourceInterface
	key, name string
	// single is set when the object was named: then it has to be there.
	single bool
}

// deliver asks for a pass of whatever a Receiver names. Requests that say the same, in a short time, are
// one: the first is done at once, and the others by one more that comes last.
func (r *Keeper) deliver(id engine.UnitID, plan receiverPlan, d webhook.Delivery) error {
	key := "hook " + id.String()
	var request map[string]any
	if plan.filtered {
		var err error
		if request, err = d.Payload(); err != nil {
			return err
		}
		key = fmt.Sprintf("%s %x", key, d.Digest())
	}
	failed := func(err error) { r.failed(id, err) }
	err := r.turns.do(key, func() error {
		// What was requested is done, even if the sender has disconnected.
		ctx, cancel := context.WithTimeout(r.ctx, askTimeout)
		defer cancel()
		return r.ask(ctx, plan, request, failed)
	}, failed)
	if err != nil {
		failed(err)
	}
	return err
}

// failed reports what could not be done, by an event.
func (r *Keeper) failed(id engine.UnitID, err error) {
	if o, there := r.Get(id); there && r.ctx.Err() == nil {
		r.Events.Record(o, corev1.EventTypeWarning, meta.FailedReason, "a request could not be forwarded to all objects: "+err.Error(), nil)
	}
}

// ask asks for a pass of every object that is meant. One that fails does not keep the others from it. What
// fails later, when a pass of an object was requested recently, is reported.
func (r *Keeper) ask(ctx context.Context, plan receiverPlan, request map[string]any, late func(error)) error {
	var (
		mu    sync.Mutex
		errs  []error
		group errgroup.Group
	)
	note := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	}
	group.SetLimit(askAtOnce)
	for _, t := range plan.targets {
		found, err := r.meant(ctx, t, request)
		if err != nil {
			note(err)
		}
		for _, a := range found {
			group.Go(func() error {
				note(guard.Catch(func() error { return r.turns.do("object "+a.key, func() error { return r.annotate(a) }, late) }))
				return nil
			})
		}
	}
	_ = group.Wait()
	return errors.Join(errs...)
}

// meant are the objects that a target means, now, for what was sent.
func (r *Keeper) meant(ctx context.Context, t receiverTarget, request map[string]any) ([]asked, error) {
	resource, served := r.Home.Kinds.Find(t.kind)
	if !served {
		if resource, served = r.Home.Kinds.Find(t.kind.GroupKind().WithVersion("")); !served {
			return nil, fmt.Errorf("%s: kind %s is not served", t, t.kind.GroupKind())
		}
	}
	client := r.Home.Dynamic.Resource(resource.GroupVersionResource).Namespace(t.namespace)
	of := func(name string) asked {
		return asked{client: client, key: t.kind.GroupKind().String() + "/" + t.namespace + "/" + name, name: name, single: t.name != anyName}
	}
	if t.name != anyName && len(t.filters) == 0 {
		return []asked{of(t.name)}, nil
	}
	objects, err := candidates(ctx, client, t)
	if err != nil {
		return nil, err
	}
	var (
		found []asked
		errs  []error
	)
	for i := range objects {
		wanted, err := t.wants(&objects[i], request)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s/%s/%s: %w", t.kind.Kind, t.namespace, objects[i].GetName(), err))
		}
		if wanted {
			found = append(found, of(objects[i].GetName()))
		}
	}
	return found, errors.Join(errs...)
}

// candidates are the objects of a target, before any filter.
func candidates(ctx context.Context, client dynamic.ResourceInterface, t receiverTarget) ([]unstructured.Unstructured, error) {
	if t.name != anyName {
		u, err := client.Get(ctx, t.name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", t, err)
		}
		return []unstructured.Unstructured{*u}, nil
	}
	var all []unstructured.Unstructured
	options := metav1.ListOptions{LabelSelector: t.labels, Limit: listPage}
	for {
		list, err := client.List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", t, err)
		}
		all = append(all, list.Items...)
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return all, nil
		}
	}
}

// wants reports whether all filters hold. They see of an object what says who it is, and no more.
func (t receiverTarget) wants(u *unstructured.Unstructured, request map[string]any) (bool, error) {
	vars := map[string]any{"req": request, "res": map[string]any{
		"apiVersion": u.GetAPIVersion(), "kind": u.GetKind(), "metadata": u.Object["metadata"],
	}}
	for _, filter := range t.filters {
		if holds, err := filter.Holds(vars); err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}

// annotate asks for a pass of an object, as "flux reconcile" does.
func (r *Keeper) annotate(a asked) error {
	ctx, cancel := context.WithTimeout(r.ctx, askTimeout)
	defer cancel()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"annotations": map[string]string{toolkit.RequestedAt: time.Now().Format(time.RFC3339Nano)},
	}})
	if err != nil {
		return fmt.Errorf("encoding a request: %w", err)
	}
	_, err = a.client.Patch(ctx, a.name, types.MergePatchType, patch, toolkit.PatchAs(toolkit.NotifierManager))
	if apierrors.IsNotFound(err) && !a.single {
		return nil
	}
	if err != nil {
		return fmt.Errorf("asking for a pass of %s: %w", a.key, err)
	}
	return nil
}
