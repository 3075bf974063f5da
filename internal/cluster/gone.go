package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// Resolve is how a kind is reached, in the version requested or in another one. It is an error when the kind is not served and it
// is unknown whether it is gone.
func (k *Kinds) Resolve(ctx context.Context, gvk schema.GroupVersionKind) (Resource, bool, error) {
	if r, served := k.find(gvk); served {
		return r, true, nil
	}
	err := k.Gone(ctx, gvk.GroupKind())
	if r, served := k.find(gvk); served {
		return r, true, nil
	}
	return Resource{}, false, err
}

// Gone is nil when a cluster has no kind any more: the end of its definition was seen, or a discovery that was begun now, and had an
// answer for its group, lacks it. Otherwise it says why that is not so: whether objects of the kind exist is unknown then. A server
// that has just started lists no kinds of definitions before it is ready.
func (k *Kinds) Gone(ctx context.Context, gk schema.GroupKind) error {
	if k.hasEnded(gk) {
		return nil
	}
	if err := k.ready(ctx); err != nil {
		return &UnknownKind{Kind: gk, Err: err}
	}
	if err := k.discoverSince(time.Now()); err != nil {
		return &UnknownKind{Kind: gk, Err: err}
	}
	return k.unknown(gk)
}

// ready is an error while the server says that it is not ready; one that does not say so counts as ready.
func (k *Kinds) ready(ctx context.Context) error {
	err := k.discovery.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	switch {
	case err == nil, apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), apierrors.IsNotFound(err):
		return nil
	}
	return fmt.Errorf("the API server is not ready: %w", err)
}

// find is Find in the version requested, or else in another one.
func (k *Kinds) find(gvk schema.GroupVersionKind) (Resource, bool) {
	if r, ok := k.Find(gvk); ok {
		return r, true
	}
	return k.Lookup(gvk.GroupKind().WithVersion(""))
}

// UnknownKind reports whether it is unknown whether a cluster serves a kind. It may pass without a change.
type UnknownKind struct {
	Kind schema.GroupKind
	Err  error
}

// Error says what could not be asked.
func (e *UnknownKind) Error() string {
	return fmt.Sprintf("it is unknown whether the cluster still serves %s: %s; see kubectl get apiservices", e.Kind, e.Err)
}

// Unwrap returns the cause.
func (e *UnknownKind) Unwrap() error { return e.Err }

// Undiscovered reports which API groups are unknown, since the last discovery failed for them; nil when none is.
func (k *Kinds) Undiscovered() error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if len(k.failed) == 0 {
		return nil
	}
	return &discovery.ErrGroupDiscoveryFailed{Groups: k.failed}
}

// unknown reports why it is unknown whether a kind is served, nil when it is not served.
func (k *Kinds) unknown(gk schema.GroupKind) error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for gv, err := range k.failed {
		if gv.Group == gk.Group || gv == allGroups && gk.Group != "" {
			return &UnknownKind{Kind: gk, Err: fmt.Errorf("discovering %s: %w", gv, err)}
		}
	}
	if k.listed[gk] {
		return &UnknownKind{Kind: gk, Err: errListed}
	}
	return nil
}

// allGroups stands for every group but that without a name.
var allGroups = schema.GroupVersion{Group: "/apis"}

var (
	errListed  = errors.New("it is listed, and not found")
	errRefused = errors.New("nothing is listed; the account needs get of /api and /apis")
)

// incomplete adds to the groups that could not be discovered those that nothing was said of: the client takes a list of groups
// that is refused for an empty one.
func incomplete(lists []*metav1.APIResourceList, failed map[schema.GroupVersion]error) map[schema.GroupVersion]error {
	all := maps.Clone(failed)
	if all == nil {
		all = map[schema.GroupVersion]error{}
	}
	core, named := corev1.SchemeGroupVersion.String(), false
	for _, l := range lists {
		named = named || strings.Contains(l.GroupVersion, "/")
	}
	if !named {
		all[allGroups] = errRefused
	}
	if !slices.ContainsFunc(lists, func(l *metav1.APIResourceList) bool { return l.GroupVersion == core }) {
		all[corev1.SchemeGroupVersion] = errRefused
	}
	return all
}

// hasEnded reports whether the end of the definition of a kind was seen, and nothing defines it since.
func (k *Kinds) hasEnded(gk schema.GroupKind) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.ended[gk]
}

// discoverSince discovers what the cluster serves, unless that was done by a discovery which began after a time.
func (k *Kinds) discoverSince(t time.Time) error {
	k.discovering.Lock()
	defer k.discovering.Unlock()
	k.mu.RLock()
	done := !k.began.Before(t)
	k.mu.RUnlock()
	if done {
		return nil
	}
	return k.discover()
}
