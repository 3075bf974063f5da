package cluster

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

var crdResource = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// Resource is how a kind is reached.
type Resource struct {
	schema.GroupVersionResource
	Namespaced bool
	// Listed is set when objects of the kind can be listed; some kinds are only questions.
	Listed bool
}

// rediscoverAfter is the least time between two full discoveries on behalf of unknown kinds.
const rediscoverAfter = 30 * time.Second

// Kinds knows which kinds the cluster serves: from discovery at the start, and from the CRDs from
// then on. It is safe for concurrent use.
type Kinds struct {
	discovery discovery.DiscoveryInterface
	listener  Listener

	mu     sync.RWMutex
	served map[schema.GroupKind]map[string]Resource
	// byCRD remembers which kind a CRD brought, by the name of the CRD.
	byCRD map[string]schema.GroupKind
	// definitions are all CRDs, by their names.
	definitions map[string]definition
	// came is when a CRD brought a kind while we watched.
	came map[schema.GroupKind]time.Time
	// ended are kinds whose definition was seen to go.
	ended map[schema.GroupKind]bool
	// expected are kinds whose definitions are about to be applied by this process.
	expected map[schema.GroupKind]expectation
	asked    time.Time
	// began is when the last discovery began that ended, failed are the groups for which it had no answer.
	began  time.Time
	failed map[schema.GroupVersion]error
	// listed are the kinds that it found.
	listed map[schema.GroupKind]bool
	// revision counts the changes of served.
	revision uint64
	// version is that of Kubernetes when the connection was made.
	version string

	// discovering is held while a discovery is in progress on behalf of those that wait for it.
	discovering sync.Mutex
}

func newKinds(d discovery.DiscoveryInterface, l Listener) *Kinds {
	return &Kinds{
		discovery: d, listener: l,
		served: map[schema.GroupKind]map[string]Resource{}, byCRD: map[string]schema.GroupKind{},
		came: map[schema.GroupKind]time.Time{}, ended: map[schema.GroupKind]bool{}, definitions: map[string]definition{},
		expected: map[schema.GroupKind]expectation{},
	}
}

// discover asks the cluster for everything that it serves.
func (k *Kinds) discover() error {
	began := time.Now()
	_, lists, err := k.discovery.ServerGroupsAndResources()
	failed, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partial {
		return fmt.Errorf("discovering the kinds of the cluster: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked, k.began, k.failed, k.listed = time.Now(), began, incomplete(lists, failed), map[schema.GroupKind]bool{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return fmt.Errorf("discovering the kinds of the cluster: %w", err)
		}
		for i := range list.APIResources {
			r := &list.APIResources[i]
			gk := schema.GroupKind{Group: gv.Group, Kind: r.Kind}
			if hasSlash(r.Name) || k.ended[gk] {
				// A server lists a kind for a moment yet whose definition went.
				continue
			}
			k.listed[gk] = true
			k.enter(gk, gv.Version,
				Resource{GroupVersionResource: gv.WithResource(r.Name), Namespaced: r.Namespaced, Listed: slices.Contains(r.Verbs, "list")})
		}
	}
	return nil
}

// askVersion asks the cluster for its version; without an answer it stays unknown.
func (k *Kinds) askVersion() {
	answer, err := k.discovery.ServerVersion()
	if err != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.version = answer.GitVersion
}

// Version is that of Kubernetes when the connection was made, such as v1.36.0; it is empty if unknown.
func (k *Kinds) Version() string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.version
}

func hasSlash(s string) bool {
	for i := range len(s) {
		if s[i] == '/' {
			return true
		}
	}
	return false
}

func (k *Kinds) enter(gk schema.GroupKind, version string, r Resource) {
	if k.served[gk] == nil {
		k.served[gk] = map[string]Resource{}
	}
	if k.served[gk][version] != r {
		k.revision++
	}
	k.served[gk][version] = r
}

// Revision changes whenever other kinds are served.
func (k *Kinds) Revision() uint64 {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.revision
}

// Lookup returns how gvk is reached, and whether it is served in that version. An empty version
// stands for any.
func (k *Kinds) Lookup(gvk schema.GroupVersionKind) (Resource, bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	versions := k.served[gvk.GroupKind()]
	if gvk.Version != "" {
		r, ok := versions[gvk.Version]
		return r, ok
	}
	for _, preferred := range []string{"v1", "v2", "v1beta1"} {
		if r, ok := versions[preferred]; ok {
			return r, true
		}
	}
	for _, r := range versions {
		return r, true
	}
	return Resource{}, false
}

// Find is Lookup that asks the cluster again for a kind it does not know, though not often: kinds
// that no CRD brings appear without an event.
func (k *Kinds) Find(gvk schema.GroupVersionKind) (Resource, bool) {
	if r, ok := k.Lookup(gvk); ok {
		return r, true
	}
	k.mu.Lock()
	stale := time.Since(k.asked) > rediscoverAfter
	if stale {
		k.asked = time.Now()
	}
	k.mu.Unlock()
	if !stale || k.discover() != nil {
		return Resource{}, false
	}
	return k.Lookup(gvk)
}

// Defined reports whether a CRD brings a kind.
func (k *Kinds) Defined(gk schema.GroupKind) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, known := range k.byCRD {
		if known == gk {
			return true
		}
	}
	return false
}

// Versions returns the versions in which a kind is served.
func (k *Kinds) Versions(gk schema.GroupKind) []string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var versions []string
	for v := range k.served[gk] {
		versions = append(versions, v)
	}
	return versions
}

// All returns one resource for each kind that is served.
func (k *Kinds) All() map[schema.GroupKind]Resource {
	k.mu.RLock()
	defer k.mu.RUnlock()
	all := make(map[schema.GroupKind]Resource, len(k.served))
	for gk, versions := range k.served {
		for _, r := range versions {
			all[gk] = r
		}
	}
	return all
}

// put enters the kind of a CRD as soon as it is established; it is the sink of the CRD watch.
func (k *Kinds) put(crd *unstructured.Unstructured) {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	gk := schema.GroupKind{Group: group, Kind: kind}
	if k.enterDefinition(crd, gk) {
		k.listener.KindChanged(gk)
	}
}

// enterDefinition notes what a CRD says, and reports whether other versions of its kind are served now. A kind is served
// in the same moment in which it stops being about to be.
func (k *Kinds) enterDefinition(crd *unstructured.Unstructured, gk schema.GroupKind) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.note(crd, gk)
	if !established(crd) {
		return false
	}
	served := crdVersions(crd, gk.Group)
	changed := len(k.served[gk]) != len(served)
	for v := range served {
		if _, known := k.served[gk][v]; !known {
			changed = true
		}
	}
	k.served[gk] = served
	k.byCRD[crd.GetName()] = gk
	delete(k.ended, gk)
	k.arrive(gk)
	if changed {
		k.came[gk] = time.Now()
		k.revision++
	}
	return changed
}

// youth is how long a server may take until it lists a kind that has just come: it takes writes at
// once, but fills its cache first.
const youth = 3 * time.Second

// Young reports whether a kind has come so lately that it may not be listed yet.
func (k *Kinds) Young(gk schema.GroupKind) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return time.Since(k.came[gk]) < youth
}

// dropped forgets the kind of a CRD that went.
func (k *Kinds) dropped(crd *unstructured.Unstructured) {
	k.mu.Lock()
	gk, known := k.byCRD[crd.GetName()]
	if known {
		k.revision++
		k.ended[gk] = true
	}
	delete(k.served, gk)
	delete(k.byCRD, crd.GetName())
	delete(k.definitions, crd.GetName())
	delete(k.came, gk)
	k.mu.Unlock()
	if known {
		k.listener.KindChanged(gk)
	}
}

func established(crd *unstructured.Unstructured) bool {
	if crd.GetDeletionTimestamp() != nil {
		return false
	}
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if condition["type"] == "Established" && condition["status"] == "True" {
			return true
		}
	}
	return false
}

func crdVersions(crd *unstructured.Unstructured, group string) map[string]Resource {
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	served := map[string]Resource{}
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if version["served"] == true {
			gvr := schema.GroupVersionResource{Group: group, Version: name, Resource: plural}
			served[name] = Resource{GroupVersionResource: gvr, Namespaced: scope == "Namespaced", Listed: true}
		}
	}
	return served
}
