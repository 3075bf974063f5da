// Package trio understands three objects that people write to have a machine from an image that a workflow builds: an Object that wraps a
// Workflow with generateName, an Object that reads a Secret, and a Droplet with an empty image. Upstream's controllers do something else
// with them; here they mean what they say, with no field changed.
//
// The first stands for a Build, whose outputs are the Secrets that the readers of its unit read; Rewrite says so. The image of the third is in the
// one connection Secret of its unit that fits; ImageOf finds it, or lists what is in question. A unit are the objects that one
// Kustomization, Application, release or apply set declares.
//
// The package takes objects and returns objects: it refuses clients, and reads no Secret.
package trio

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

// The groups of provider-kubernetes, of Objects without and with a namespace.
const (
	objectGroup           = "kubernetes.crossplane.io"
	namespacedObjectGroup = "kubernetes.m.crossplane.io"
)

// Kinds are those of the objects that are understood together with others of their unit.
func Kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: objectGroup, Version: "v1alpha2", Kind: "Object"},
		{Group: namespacedObjectGroup, Version: "v1alpha1", Kind: "Object"},
		v1alpha1.GroupVersion.WithKind(v1alpha1.BuildKind),
	}
}

// IsObject reports whether something is an Object of provider-kubernetes.
func IsObject(u *unstructured.Unstructured) bool {
	gvk := u.GroupVersionKind()
	return gvk.Kind == "Object" && (gvk.Group == objectGroup || gvk.Group == namespacedObjectGroup)
}

// IsDroplet reports whether something is a Droplet of a provider of DigitalOcean.
func IsDroplet(u *unstructured.Unstructured) bool {
	gvk := u.GroupVersionKind()
	return gvk.Kind == "Droplet" && strings.HasSuffix(gvk.Group, ".crossplane.io")
}

// Manifest is what an Object declares.
func Manifest(object *unstructured.Unstructured) map[string]any {
	m, _, _ := unstructured.NestedMap(object.Object, "spec", "forProvider", "manifest")
	return m
}

// IsRunTemplate reports whether an Object wraps a Workflow that has the beginning of a name: it stands for one run per digest.
func IsRunTemplate(object *unstructured.Unstructured) bool {
	m := &unstructured.Unstructured{Object: Manifest(object)}
	return IsObject(object) && m.Object != nil && IsWorkflow(m) && m.GetName() == "" && m.GetGenerateName() != "" && !observes(object)
}

// IsWorkflow reports whether something is a Workflow.
func IsWorkflow(u *unstructured.Unstructured) bool {
	return u.GetKind() == "Workflow" && strings.HasPrefix(u.GetAPIVersion(), "argoproj.io/")
}

// IsBare reports whether the manifest of an Object has nothing but a kind and metadata: there is nothing to write, so it is read.
func IsBare(object *unstructured.Unstructured) bool {
	m := Manifest(object)
	if m == nil {
		return false
	}
	for key := range m {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata"}, key) {
			return false
		}
	}
	return true
}

// observes reports whether the policies of an Object only have it read.
func observes(object *unstructured.Unstructured) bool {
	if old, _, _ := unstructured.NestedString(object.Object, "spec", "managementPolicy"); old == "Observe" {
		return true
	}
	policies, _, _ := unstructured.NestedStringSlice(object.Object, "spec", "managementPolicies")
	return len(policies) == 1 && policies[0] == "Observe"
}

// Name is that of a Secret, with its namespace.
type Name struct{ Namespace, Name string }

// String is how messages name it.
func (n Name) String() string { return n.Namespace + "/" + n.Name }

// Reader is an Object that reads a Secret and leaves a connection Secret.
type Reader struct {
	// Object is its name, Reads the Secret, Connection the one that it leaves; empty when it leaves none.
	Object            string
	Reads, Connection Name
	// Keys are those of the connection Secret, by what they are read from.
	Keys map[string]string
}

// ReaderOf is an Object as a reader; false when it is none.
func ReaderOf(object *unstructured.Unstructured) (Reader, bool) {
	if !IsObject(object) || !IsBare(object) && !observes(object) {
		return Reader{}, false
	}
	m := &unstructured.Unstructured{Object: Manifest(object)}
	if m.Object == nil || m.GetKind() != "Secret" || m.GetAPIVersion() != "v1" {
		return Reader{}, false
	}
	r := Reader{Object: object.GetName(), Keys: map[string]string{}}
	r.Reads = Name{cmp.Or(m.GetNamespace(), object.GetNamespace()), cmp.Or(m.GetName(), object.GetName())}
	r.Connection = connection(object)
	details, _, _ := unstructured.NestedSlice(object.Object, "spec", "connectionDetails")
	for _, item := range details {
		one, _ := item.(map[string]any)
		path := cmp.Or(text(one["fieldPath"]), text(one["fromFieldPath"]))
		if key := cmp.Or(text(one["toConnectionSecretKey"]), text(one["name"]), last(path)); key != "" {
			r.Keys[key] = path
		}
	}
	return r, true
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func last(path string) string { return path[strings.LastIndex(path, ".")+1:] }

// connection is the connection Secret of a managed resource.
func connection(u *unstructured.Unstructured) Name {
	ref, _, _ := unstructured.NestedMap(u.Object, "spec", "writeConnectionSecretToRef")
	name := text(ref["name"])
	if name == "" {
		return Name{}
	}
	return Name{cmp.Or(u.GetNamespace(), text(ref["namespace"])), name}
}
