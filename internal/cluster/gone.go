package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// Resolve is how a kind is reached, in the version asked for or in another one. It is an error when the kind is not served and it
// is unknown whether it is gone.
func (k *Kinds) Resolve(gvk schema.GroupVersionKind) (Resource, bool, error) {
	if r, served := k.find(gvk); served {
		return r, true, nil
	}
	err := k.Gone(gvk.GroupKind())
	if r, served := k.find(gvk); served {
		return r, true, nil
	}
	return Resource{}, false, err
}

// Gone is nil when a cluster has no kind any more: the end of its definition was seen, or a discovery that was begun now, and had an
// answer for its group, lacks it. Otherwise it says why that is not so: whether objects of the kind exist is unknown then.
func (k *Kinds) Gone(gk schema.GroupKind) error {
	if k.hasEnded(gk) {
		return nil
	}
	if err := k.discoverSince(time.Now()); err != nil {
		return &UnknownKind{Kind: gk, Err: err}
	}
	return k.unknown(gk)
}

// find is Find in the version asked for, or else in another one.
func (k *Kinds) find(gvk schema.GroupVersionKind) (Resource, bool) {
	if r, ok := k.Find(gvk); ok {
		return r, true
	}
	return k.Lookup(gvk.GroupKind().WithVersion(""))
}

// UnknownKind tells that it is not known whether a cluster serves a kind. It may pass by itself.
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

// Undiscovered tells which API groups are unknown, since the last discovery failed for them; nil when none is.
func (k *Kinds) Undiscovered() error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if len(k.failed) == 0 {
		return nil
	}
	return &discovery.ErrGroupDiscoveryFailed{Groups: k.failed}
}

// unknown tells why it is unknown whether a kind is served, nil when it is not served.
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

// hasEnded tells whether the end of the definition of a kind was seen, and nothing defines it since.
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
