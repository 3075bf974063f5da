package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/host"
)

// served is a kind that commands know by name.
type served struct {
	kind     string
	aliases  []string
	resource schema.GroupVersionResource
	unit     bool
	// static objects say nothing about themselves: they have no status.
	static bool
}

func servedOf(k dialect.Kind) served {
	return served{
		kind: k.GroupKind.Kind, aliases: k.Aliases, resource: k.GroupVersionResource(), unit: k.Role == dialect.Unit, static: k.Static,
	}
}

// groupKind is the kind with its group.
func (s served) groupKind() schema.GroupKind {
	return schema.GroupKind{Group: s.resource.Group, Kind: s.kind}
}

// groupKindOf is the kind of an object.
func groupKindOf(u *unstructured.Unstructured) schema.GroupKind {
	return u.GroupVersionKind().GroupKind()
}

// kinds are those of the catalogue that a test takes.
func (g *globals) kinds(takes func(dialect.Kind) bool) []served {
	var all []served
	for _, k := range g.catalogue.Kinds() {
		if takes(k) {
			all = append(all, servedOf(k))
		}
	}
	return all
}

// unitKinds are the kinds that declare units.
func (g *globals) unitKinds() []served {
	return g.kinds(func(k dialect.Kind) bool { return k.Role == dialect.Unit })
}

// findKind is the kind that a person names.
func (g *globals) findKind(name string) (served, error) {
	k, err := g.catalogue.Find(name)
	return servedOf(k), hint(err, "headgate get all")
}

// findGroupKind is the kind of an object that is known by its identity.
func (g *globals) findGroupKind(gk schema.GroupKind) (served, error) {
	k, known := g.catalogue.Kind(gk)
	if !known {
		return served{}, fmt.Errorf("no dialect has kind %s", gk)
	}
	return servedOf(k), nil
}

// known is a kind that every catalogue with the dialect has.
func (g *globals) known(gk schema.GroupKind) served {
	k, _ := g.catalogue.Kind(gk)
	return servedOf(k)
}

// list lists the objects of a kind. A kind that the cluster does not serve has none when missing is
// allowed: another version was installed into it.
func (s served) list(ctx context.Context, c dynamic.Interface, namespace string, missing bool) ([]*unstructured.Unstructured, error) {
	list, err := c.Resource(s.resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) && missing {
		return nil, nil
	}
	if err != nil {
		return nil, unreachable(fmt.Errorf("listing %s: %w", s.resource.Resource, err))
	}
	items := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		items[i] = &list.Items[i]
	}
	return items, nil
}

// listUnits lists all objects that declare units.
func (g *globals) listUnits(ctx context.Context, c dynamic.Interface) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, kind := range g.unitKinds() {
		list, err := kind.list(ctx, c, metav1.NamespaceAll, true)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// reference is KIND/NAME or NAME, of a namespace.
type reference struct {
	served
	namespace, name string
}

func (r reference) String() string { return r.kind + "/" + r.namespace + "/" + r.name }

// id is what a reference names.
func (r reference) id() engine.UnitID {
	return engine.UnitID{Group: r.resource.Group, Kind: r.kind, Namespace: r.namespace, Name: r.name}
}

// referenceTo refers to an object that declares a unit, or to a source.
func (g *globals) referenceTo(at engine.UnitID) (reference, error) {
	kind, err := g.findGroupKind(at.GroupKind())
	return reference{served: kind, namespace: at.Namespace, name: at.Name}, err
}

// idOf is what an object is referred to by.
func idOf(u *unstructured.Unstructured) engine.UnitID {
	return engine.UnitOf(engine.IDOf(u))
}

// parseReference reads "kind/name", "kind/namespace/name", or "name" of the default kind. Where no namespace is named, the one
// of the kind is taken.
func (g *globals) parseReference(text, namespace string) (reference, error) {
	parts := strings.Split(text, "/")
	r := reference{served: servedOf(g.catalogue.Default()), namespace: namespace}
	switch len(parts) {
	case 1:
		r.name = parts[0]
		return r, nil
	case 2:
		r.name = parts[1]
	case 3:
		r.namespace, r.name = parts[1], parts[2]
	default:
		return r, fmt.Errorf("%q: want KIND/NAME or KIND/NAMESPACE/NAME", text)
	}
	kind, err := g.catalogue.Find(parts[0])
	r.served = servedOf(kind)
	if len(parts) == 2 && kind.Namespace != "" && namespace == defaultNamespace {
		r.namespace = kind.Namespace
	}
	return r, hint(err, "headgate get all")
}

func (r reference) client(c dynamic.Interface) dynamic.ResourceInterface {
	return c.Resource(r.resource).Namespace(r.namespace)
}

func (r reference) get(ctx context.Context, c dynamic.Interface) (*unstructured.Unstructured, error) {
	u, err := r.client(c).Get(ctx, r.name, metav1.GetOptions{})
	if err != nil {
		return nil, unreachable(hint(fmt.Errorf("reading %s: %w", r, err), "headgate get all"))
	}
	return u, nil
}

// printObjects prints objects as JSON, YAML or names.
func printObjects(streams IO, format string, list []*unstructured.Unstructured) error {
	switch format {
	case "json", "yaml":
		return printDocument(streams, format, list)
	case "name":
		for _, u := range list {
			fmt.Fprintf(streams.Out, "%s/%s/%s\n", u.GetKind(), u.GetNamespace(), u.GetName())
		}
		return nil
	default:
		return fmt.Errorf("unknown output %q; use json, yaml or name", format)
	}
}

func printDocument(streams IO, format string, list []*unstructured.Unstructured) error {
	items := make([]any, len(list))
	for i, u := range list {
		u = u.DeepCopy()
		u.SetManagedFields(nil)
		items[i] = u.Object
	}
	document := map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
	data, err := json.MarshalIndent(document, "", "  ")
	if err == nil && format == "yaml" {
		data, err = yaml.Marshal(document)
	}
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	_, err = fmt.Fprintln(streams.Out, strings.TrimSpace(string(data)))
	return err
}

// of is the dialect of an object; nil when there is none.
func (g *globals) of(gk schema.GroupKind) dialect.Dialect {
	d, _ := g.catalogue.Of(gk.Group)
	return d
}

// orWord is a text, or another one when it is empty.
func orWord(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// defaultNamespace is where units are searched for when none is named.
const defaultNamespace = host.Namespace
