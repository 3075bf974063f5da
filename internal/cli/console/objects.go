package console

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/host"
)

// Served is a kind that commands know by name.
type Served struct {
	Kind     string
	Aliases  []string
	Resource schema.GroupVersionResource
	Unit     bool
	// Static objects say nothing about themselves: they have no status. ClusterScoped ones are in no namespace.
	Static, ClusterScoped bool
}

// ServedOf is a kind of the catalogue as commands know it.
func ServedOf(k dialect.Kind) Served {
	return Served{
		Kind: k.GroupKind.Kind, Aliases: k.Aliases, Resource: k.GroupVersionResource(), Unit: k.Role == dialect.Unit, Static: k.Static,
		ClusterScoped: k.ClusterScoped,
	}
}

// GroupKind is the kind with its group.
func (s Served) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: s.Resource.Group, Kind: s.Kind}
}

// GroupKindOf is the kind of an object.
func GroupKindOf(u *unstructured.Unstructured) schema.GroupKind {
	return u.GroupVersionKind().GroupKind()
}

// Kinds are those of the catalogue that a test takes.
func (g *Globals) Kinds(takes func(dialect.Kind) bool) []Served {
	var all []Served
	for _, k := range g.Catalogue.Kinds() {
		if takes(k) {
			all = append(all, ServedOf(k))
		}
	}
	return all
}

// unitKinds are the kinds that declare units.
func (g *Globals) unitKinds() []Served {
	return g.Kinds(func(k dialect.Kind) bool { return k.Role == dialect.Unit })
}

// FindKind is the kind that a person names.
func (g *Globals) FindKind(name string) (Served, error) {
	k, err := g.Catalogue.Find(unversioned(name))
	return ServedOf(k), Hint(err, "headgate get all")
}

// NamedKinds are the kinds that a person means by a name, in every API group.
func (g *Globals) NamedKinds(name string) []Served {
	var all []Served
	for _, k := range g.Catalogue.FindAll(unversioned(name)) {
		all = append(all, ServedOf(k))
	}
	return all
}

// FindGroupKind is the kind of an object that is known by its identity.
func (g *Globals) FindGroupKind(gk schema.GroupKind) (Served, error) {
	k, known := g.Catalogue.Kind(gk)
	if !known {
		return Served{}, fmt.Errorf("no dialect has kind %s", gk)
	}
	return ServedOf(k), nil
}

// Known is a kind that every catalogue with the dialect has.
func (g *Globals) Known(gk schema.GroupKind) Served {
	k, _ := g.Catalogue.Kind(gk)
	return ServedOf(k)
}

// List lists the objects of a kind. A kind that the cluster does not serve has none when missing is
// allowed: another version was installed into it.
func (s Served) List(ctx context.Context, c dynamic.Interface, namespace string, missing bool) ([]*unstructured.Unstructured, error) {
	return s.list(ctx, c, namespace, metav1.ListOptions{}, missing)
}

func (s Served) list(ctx context.Context, c dynamic.Interface, namespace string, of metav1.ListOptions, missing bool) ([]*unstructured.Unstructured, error) {
	list, err := s.in(c, namespace).List(ctx, of)
	if apierrors.IsNotFound(err) && missing {
		return nil, nil
	}
	if err != nil {
		return nil, Unreachable(fmt.Errorf("listing %s: %w", s.Resource.Resource, err))
	}
	items := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		items[i] = &list.Items[i]
	}
	return items, nil
}

// in is where objects of a kind are that belong to a namespace, by a version that the cluster serves.
func (s Served) in(c dynamic.Interface, namespace string) dynamic.ResourceInterface {
	return inVersion{s.at(c, namespace), c, s, namespace}
}

// at is where they are by the version of the kind.
func (s Served) at(c dynamic.Interface, namespace string) dynamic.ResourceInterface {
	if s.ClusterScoped {
		return c.Resource(s.Resource)
	}
	return c.Resource(s.Resource).Namespace(namespace)
}

// ListUnits lists all objects that declare units.
func (g *Globals) ListUnits(ctx context.Context, c dynamic.Interface) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, kind := range g.unitKinds() {
		list, err := kind.List(ctx, c, metav1.NamespaceAll, true)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// Reference is KIND/NAME or NAME, of a namespace.
type Reference struct {
	Served
	Namespace, Name string
	// bare is set for a NAME alone that is the word for a kind: its own name is probably missing.
	bare bool
	// loose is set where no namespace was named: the object may be in another one than that of its kind.
	loose bool
}

// String is Kind/namespace/name, or Kind/name of what is in no namespace.
func (r Reference) String() string {
	if r.Namespace == "" {
		return r.Kind + "/" + r.Name
	}
	return r.Kind + "/" + r.Namespace + "/" + r.Name
}

// ID is what a reference names.
func (r Reference) ID() engine.UnitID {
	return engine.UnitID{Group: r.Resource.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// ReferenceTo refers to an object that declares a unit, or to a source.
func (g *Globals) ReferenceTo(at engine.UnitID) (Reference, error) {
	kind, err := g.FindGroupKind(at.GroupKind())
	return Reference{Served: kind, Namespace: at.Namespace, Name: at.Name}, err
}

// IdOf is what an object is referred to by.
func IdOf(u *unstructured.Unstructured) engine.UnitID {
	return engine.UnitOf(engine.IDOf(u))
}

// ParseReference reads "kind/name", "kind/namespace/name", or "name" of the default kind. Where no namespace is named, the one
// of the kind is taken.
func (g *Globals) ParseReference(text, namespace string) (Reference, error) {
	parts := strings.Split(text, "/")
	r := Reference{Served: ServedOf(g.Catalogue.Default()), Namespace: namespace}
	switch len(parts) {
	case 1:
		r.Name = parts[0]
		_, err := g.Catalogue.Find(parts[0])
		r.bare = err == nil
		return r, nil
	case 2:
		r.Name = parts[1]
	case 3:
		r.Namespace, r.Name = parts[1], parts[2]
	default:
		return r, fmt.Errorf("%q: want KIND/NAME or KIND/NAMESPACE/NAME", text)
	}
	kind, err := g.Catalogue.Find(unversioned(parts[0]))
	if err == nil && r.Name == "" {
		return r, Hint(fmt.Errorf("%q: the name of the %s is missing", text, kind.GroupKind.Kind), "headgate get %s", parts[0])
	}
	r.Served = ServedOf(kind)
	if len(parts) == 2 && kind.Namespace != "" && namespace == DefaultNamespace {
		r.Namespace = kind.Namespace
	}
	if kind.ClusterScoped {
		r.Namespace = ""
	}
	return r, Hint(err, "headgate get all")
}

// Client reads and writes objects where the reference is.
func (r Reference) Client(c dynamic.Interface) dynamic.ResourceInterface {
	return r.in(c, r.Namespace)
}

// Get reads the object.
func (r Reference) Get(ctx context.Context, c dynamic.Interface) (*unstructured.Unstructured, error) {
	return r.GetFor(ctx, c, "")
}

// GetFor reads the object for a verb: the hint of the error is the verb with what was probably meant.
func (r Reference) GetFor(ctx context.Context, c dynamic.Interface, verb string) (*unstructured.Unstructured, error) {
	u, err := r.Client(c).Get(ctx, r.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && r.bare:
		return nil, r.unnamed(err)
	case apierrors.IsNotFound(err):
		return nil, r.Absent(ctx, c, verb, err)
	case err != nil:
		return nil, Unreachable(Hint(fmt.Errorf("reading %s: %w", r, err), "headgate get all"))
	}
	return u, nil
}

// PrintObjects prints objects as JSON, YAML or names.
func PrintObjects(streams IO, format string, list []*unstructured.Unstructured) error {
	switch format {
	case "json", "yaml":
		return printList(streams, format, list)
	case "name":
		for _, u := range list {
			fmt.Fprintf(streams.Out, "%s/%s/%s\n", u.GetKind(), u.GetNamespace(), u.GetName())
		}
		return nil
	default:
		return UnknownOutput(format, "json", "yaml", "name")
	}
}

// PrintObject prints one object as JSON, YAML or its name.
func PrintObject(streams IO, format string, u *unstructured.Unstructured) error {
	if format != "json" && format != "yaml" {
		return PrintObjects(streams, format, []*unstructured.Unstructured{u})
	}
	return PrintDocument(streams, format, shown(u))
}

// shown is an object without what only servers need.
func shown(u *unstructured.Unstructured) map[string]any {
	u = u.DeepCopy()
	u.SetManagedFields(nil)
	return u.Object
}

func printList(streams IO, format string, list []*unstructured.Unstructured) error {
	items := make([]any, len(list))
	for i, u := range list {
		items[i] = shown(u)
	}
	return PrintDocument(streams, format, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}

// PrintDocument prints anything as JSON or YAML.
func PrintDocument(streams IO, format string, document any) error {
	if format != "json" && format != "yaml" {
		return UnknownOutput(format, "json", "yaml")
	}
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

// Of is the dialect of an object; nil when there is none.
func (g *Globals) Of(gk schema.GroupKind) dialect.Dialect {
	d, _ := g.Catalogue.Of(gk)
	return d
}

// orWord is a text, or another one when it is empty.
func orWord(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// OneLine is a message on one line, in plain words.
func OneLine(s string) string { return engine.Plain(strings.Join(strings.Fields(s), " ")) }

// DefaultNamespace is where units are searched for when none is named.
const DefaultNamespace = host.Namespace

// Change merges a change into an object.
func Change(ctx context.Context, client dynamic.ResourceInterface, ref Reference, change map[string]any) error {
	data, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	_, err = client.Patch(ctx, ref.Name, types.MergePatchType, data, metav1.PatchOptions{FieldManager: "headgate"})
	switch {
	case apierrors.IsNotFound(err) && ref.bare:
		return ref.unnamed(err)
	case apierrors.IsNotFound(err):
		return Hint(&absentError{ref.String() + " does not exist", err}, "headgate get %s", ref.Aliases[0])
	case err != nil:
		return Unreachable(Hint(fmt.Errorf("updating %s: %w", ref, err), "headgate get all"))
	}
	return nil
}

// IsStatic reports whether an object is of a kind without a status.
func (g *Globals) IsStatic(u *unstructured.Unstructured) bool {
	kind, err := g.FindGroupKind(GroupKindOf(u))
	return err == nil && kind.Static
}
