package objects

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/crossplane/kubernetes"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// specOf reads what an Object declares beside its manifest.
func specOf(o *unstructured.Unstructured) (*kubernetes.ObjectSpec, error) {
	fields, _, err := unstructured.NestedMap(o.Object, "spec")
	if err != nil {
		return nil, managed.Invalid("spec: %w", err)
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("reading the spec: %w", err)
	}
	spec := &kubernetes.ObjectSpec{}
	if err := json.Unmarshal(data, spec); err != nil {
		return nil, managed.Invalid("spec: %w", err)
	}
	return spec, nil
}

// referent is an object that an Object refers to.
type referent struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

func (r referent) gvk() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
}

func (r referent) name() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// String names it in messages.
func (r referent) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// referentOf is the object of a reference, an Object by default.
func referentOf(ref kubernetes.Reference, group string) (referent, bool) {
	d := ref.DependsOn
	if ref.PatchesFrom != nil {
		d = &ref.PatchesFrom.DependsOn
	}
	if d == nil {
		return referent{}, false
	}
	return referent{cmp.Or(d.APIVersion, group+"/v1alpha1"), cmp.Or(d.Kind, "Object"), d.Namespace, d.Name}, true
}

// detail is where a connection detail comes from: an object, and a field of it.
type detail struct {
	referent
	// own is set for the object in the manifest.
	own      bool
	path, to string
}

// detailOf reads a connection detail. Without a kind it is of the object in the manifest, and its name is that of the key, as in the definitions of
// composite resources; without a key that has the last name of the path.
func detailOf(d kubernetes.ConnectionDetail, m *manifest) detail {
	of := detail{
		referent: referent{d.APIVersion, d.Kind, d.Namespace, d.Name},
		own:      d.APIVersion == "" && d.Kind == "",
		path:     cmp.Or(d.FieldPath, d.FromFieldPath), to: d.ToConnectionSecretKey,
	}
	if of.own {
		of.referent = referent{m.GetAPIVersion(), m.GetKind(), m.GetNamespace(), m.GetName()}
		of.to = cmp.Or(of.to, d.Name, of.path[strings.LastIndex(of.path, ".")+1:])
	}
	return of
}

// value is the detail of an object. Values of a Secret are decoded.
func (d detail) value(o *unstructured.Unstructured) ([]byte, error) {
	p, err := parsePath(d.path)
	if err != nil {
		return nil, managed.Invalid("connectionDetails: %w", err)
	}
	value, has := p.get(o.Object)
	if !has {
		return nil, managed.Invalid("cannot get value at fieldPath: %s: %s: no such field", d.referent, d.path)
	}
	text := fmt.Sprint(value)
	if !isSecret(o) || !p.below("data") {
		return []byte(text), nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, managed.Invalid("cannot decode secret data: %s: %s", d.referent, d.path)
	}
	return data, nil
}
