// Package engine holds the rules by which Headgate moves a cluster: what an object and a unit of
// delivery are, in which order they come, what is pruned, who owns what, and what a unit does next.
//
// Everything here is a value or a pure function. The package refuses clients, clocks, goroutines
// and file systems: facts come in as arguments and decisions go out as values, so that the same
// rules serve the controllers, the command line and the tests.
package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ObjectID names one object of a cluster, whatever version of its API it was read in.
type ObjectID struct {
	Group, Kind, Namespace, Name string
	// Cluster is the cluster that the object is in, as a Target names it.
	Cluster string
}

// In is the object of the same name in another cluster.
func (id ObjectID) In(cluster string) ObjectID {
	id.Cluster = cluster
	return id
}

// IDOf returns the identity of u in the engine's own cluster.
func IDOf(u *unstructured.Unstructured) ObjectID {
	gvk := u.GroupVersionKind()
	return ObjectID{Group: gvk.Group, Kind: gvk.Kind, Namespace: u.GetNamespace(), Name: u.GetName()}
}

// GroupKind is the kind of the object.
func (id ObjectID) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: id.Group, Kind: id.Kind}
}

// String is Kind/namespace/name, or Kind/name for an object of the cluster.
func (id ObjectID) String() string {
	if id.Namespace == "" {
		return id.Kind + "/" + id.Name
	}
	return id.Kind + "/" + id.Namespace + "/" + id.Name
}

// Compare orders identities by cluster, group, kind, namespace and name.
func (id ObjectID) Compare(other ObjectID) int {
	return cmp.Or(
		cmp.Compare(id.Cluster, other.Cluster),
		cmp.Compare(id.Group, other.Group), cmp.Compare(id.Kind, other.Kind),
		cmp.Compare(id.Namespace, other.Namespace), cmp.Compare(id.Name, other.Name),
	)
}

// DefinedKind is the kind that an object defines; it is false for one that is no CRD, or names no kind.
func DefinedKind(u *unstructured.Unstructured) (schema.GroupKind, bool) {
	if u.GetKind() != "CustomResourceDefinition" {
		return schema.GroupKind{}, false
	}
	group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}, kind != ""
}

// Digest is the hex SHA-256 of the object's canonical JSON: equal objects have equal digests.
func Digest(u *unstructured.Unstructured) (string, error) {
	data, err := json.Marshal(u.Object)
	if err != nil {
		return "", fmt.Errorf("encoding %s: %w", IDOf(u), err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// Entry is one line of an inventory: an object and the API version it was applied in.
type Entry struct {
	ID      ObjectID
	Version string
}

// EntryOf returns the inventory line of u.
func EntryOf(u *unstructured.Unstructured) Entry {
	return Entry{ID: IDOf(u), Version: u.GroupVersionKind().Version}
}

// GroupVersionKind is the kind in the version that the object was applied in.
func (e Entry) GroupVersionKind() schema.GroupVersionKind {
	return e.ID.GroupKind().WithVersion(e.Version)
}

// Encode writes the identity as "<namespace>_<name>_<group>_<kind>", where a ":" of the name is
// written "__": the form that Flux keeps in status.inventory. The cluster is not written.
func (id ObjectID) Encode() string {
	name := strings.ReplaceAll(id.Name, ":", "__")
	return id.Namespace + "_" + name + "_" + id.Group + "_" + id.Kind
}

// DecodeID reads what Encode writes. Kind, group and namespace hold no underscore, so the name is
// what remains between them. A text with a ":" is none that Encode wrote, and is refused.
func DecodeID(s string) (ObjectID, error) {
	namespace, rest, ok1 := strings.Cut(s, "_")
	kindAt := strings.LastIndex(rest, "_")
	if !ok1 || kindAt < 0 {
		return ObjectID{}, fmt.Errorf("inventory entry %q: want <namespace>_<name>_<group>_<kind>", s)
	}
	kind, rest := rest[kindAt+1:], rest[:kindAt]
	groupAt := strings.LastIndex(rest, "_")
	if groupAt <= 0 || kind == "" || strings.Contains(s, ":") {
		return ObjectID{}, fmt.Errorf("inventory entry %q: want <namespace>_<name>_<group>_<kind>", s)
	}
	group, name := rest[groupAt+1:], rest[:groupAt]
	return ObjectID{
		Group: group, Kind: kind, Namespace: namespace, Name: strings.ReplaceAll(name, "__", ":"),
	}, nil
}
