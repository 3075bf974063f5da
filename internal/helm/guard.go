package helm

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"helm.sh/helm/v4/pkg/kube"
	"helm.sh/helm/v4/pkg/release"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Guard is asked by the actions of a Client about objects, before these are touched.
type Guard interface {
	// Claim is called with the objects that a revision is about to have. An error ends the action: nothing has been recorded or
	// written then.
	Claim(ctx context.Context, objects []engine.Entry) error
	// Outdated are objects that the next revision does not have; those that it returns are not deleted.
	Outdated(ctx context.Context, objects []engine.Entry) (stay map[engine.ObjectID]bool, err error)
	// Uninstalled is Outdated for a release that goes as a whole.
	Uninstalled(ctx context.Context, objects []engine.Entry) (stay map[engine.ObjectID]bool, err error)
}

// Guarded returns a Client whose actions ask a guard.
func (c *Client) Guarded(g Guard) *Client {
	out := *c
	out.guard = g
	return &out
}

// claim tells the guard what a revision is about to have.
func (w *written) claim(r release.Releaser) error {
	made, ok := r.(*releasev1.Release)
	if !ok || w.client == nil || w.client.guard == nil {
		return nil
	}
	objects, err := w.client.rendered(made)
	if err != nil {
		return err
	}
	entries := make([]engine.Entry, len(objects.Objects))
	for i, o := range objects.Objects {
		entries[i] = engine.EntryOf(o)
	}
	return w.client.guard.Claim(w.ctx, entries)
}

// without are resources but for those of the doomed that the guard says stay.
func (c *cluster) without(resources, doomed kube.ResourceList) (kube.ResourceList, error) {
	if c.guard == nil {
		return resources, nil
	}
	var entries []engine.Entry
	for _, info := range doomed {
		if !kept(info.Object) {
			entries = append(entries, entryOf(info.Mapping.GroupVersionKind, info.Namespace, info.Name))
		}
	}
	if len(entries) == 0 {
		return resources, nil
	}
	ask := c.guard.Outdated
	if c.uninstalling {
		ask = c.guard.Uninstalled
	}
	stay, err := ask(c.ctx, entries)
	if err != nil {
		return nil, fmt.Errorf("asking what may be deleted: %w", err)
	}
	maps.Copy(c.stays, stay)
	return but(resources, stay), nil
}

// but are resources without some.
func but(resources kube.ResourceList, some map[engine.ObjectID]bool) kube.ResourceList {
	var left kube.ResourceList
	for _, info := range resources {
		if !some[entryOf(info.Mapping.GroupVersionKind, info.Namespace, info.Name).ID] {
			left = append(left, info)
		}
	}
	return left
}

func entryOf(gvk schema.GroupVersionKind, namespace, name string) engine.Entry {
	return engine.Entry{ID: engine.ObjectID{Group: gvk.Group, Kind: gvk.Kind, Namespace: namespace, Name: name}, Version: gvk.Version}
}

// kept reports whether a chart says that an object is never deleted.
func kept(object runtime.Object) bool {
	o, err := meta.Accessor(object)
	return err == nil && o.GetAnnotations()[kube.ResourcePolicyAnno] == kube.KeepPolicy
}

// ErrClaimed is what a guard returns for objects that other units are about to release.
var ErrClaimed = errors.New("objects belong to other units that are about to release them")
