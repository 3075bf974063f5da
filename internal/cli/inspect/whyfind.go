package inspect

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/below"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// run explains what a person names: a unit or a source, or else an object.
func (w *explainer) run(ctx context.Context, target string) error {
	ref, err := w.Pick(ctx, w.client, console.Wanted{Target: target, Namespace: w.namespace, Verb: "why"})
	switch {
	case errors.Is(err, dialect.ErrKind):
		return w.object(ctx, target)
	case err == nil:
		return w.declaring(ctx, ref)
	case !apierrors.IsNotFound(err):
		return err
	}
	namespace, name, pair := strings.Cut(target, "/")
	switch {
	case !pair:
		return w.named(ctx, target, w.namespace)
	case !strings.Contains(name, "/"):
		// What has the name of a kind may be a namespace.
		if failed := w.named(ctx, name, namespace); !notHeld(failed) {
			return failed
		}
	}
	return err
}

// declaring explains a unit or a source.
func (w *explainer) declaring(ctx context.Context, ref console.Reference) error {
	ready, err := w.explain(ctx, ref, 0)
	if err != nil {
		return err
	}
	return w.answer(ready)
}

// answer is how the command ends.
func (w *explainer) answer(well bool) error {
	switch {
	case w.output != "":
		if err := console.PrintDocument(w.IO, w.output, answer{well, w.chain.first, w.try}); err != nil {
			return err
		}
	case w.try != "":
		w.print(0, "try: %s", w.try)
	}
	if !well {
		return console.ErrNo
	}
	return nil
}

// named explains what has a name, in a namespace or in any: a unit, an object that units hold, or one that these have brought about.
func (w *explainer) named(ctx context.Context, name, namespace string) error {
	ref, held, err := w.Named(ctx, w.client, name, namespace, "why")
	switch {
	case notHeld(err):
		units, failed := w.ListUnits(ctx, w.client)
		if failed != nil {
			return failed
		}
		return w.unheld(ctx, console.Sought{Namespace: namespace, Name: name, Cluster: w.cluster, Anywhere: namespace == ""}, units, err)
	case err != nil:
		return err
	case ref == nil:
		return w.object(ctx, held)
	}
	return w.declaring(ctx, *ref)
}

func notHeld(err error) bool {
	var none *console.NotHeldError
	return errors.As(err, &none)
}

// object explains an object that is neither a unit nor a source: by the unit that holds it.
func (w *explainer) object(ctx context.Context, target string) error {
	sought, err := console.Seek(target, w.namespace, w.cluster)
	if err != nil {
		return err
	}
	list, err := w.ListUnits(ctx, w.client)
	if err != nil {
		return err
	}
	found, err := w.Locate(w.clusters, list, sought, "why")
	if notHeld(err) {
		if namespace, name, _ := strings.Cut(target, "/"); !strings.Contains(name, "/") {
			if failed := w.inNamespace(ctx, namespace, name); !notHeld(failed) {
				return failed
			}
		}
		return w.unheld(ctx, sought, list, err)
	}
	if err != nil {
		return err
	}
	ill := w.one(ctx, found.Unit, found.ID)
	units := append([]engine.UnitID{console.IdOf(found.Unit)}, holdingsOf(w.Globals, list).beside(found.Unit, found.ID)...)
	line := found.ID.String()
	if w.clusters.Several(list) {
		line += " in " + found.Cluster
	}
	if !ill {
		line += w.written(ctx, found.ID)
	}
	return w.held(ctx, line+" is held by:", units, !ill)
}

// inNamespace explains what "NAMESPACE/NAME" names, as up and graph print it: a unit of the default kind first.
func (w *explainer) inNamespace(ctx context.Context, namespace, name string) error {
	ref, err := w.ParseReference(name, namespace)
	if err != nil {
		return err
	}
	if err := w.declaring(ctx, ref); !apierrors.IsNotFound(err) {
		return err
	}
	return w.named(ctx, name, namespace)
}

// held explains an object by the units that a line announces. It is well if the object is.
func (w *explainer) held(ctx context.Context, line string, units []engine.UnitID, well bool) error {
	w.print(0, "%s", line)
	w.narrow = true
	for _, unit := range units {
		ref, err := w.ReferenceTo(unit)
		if err != nil {
			return err
		}
		ready, err := w.explain(ctx, ref, 0)
		if err != nil {
			return err
		}
		well = well && ready
	}
	return w.answer(well)
}

// unheld explains an object that no unit holds: one that an object of a unit has brought about, such as a Pod, one that the operation of
// a unit was about, such as a hook, or one that a unit names as the reason why it is not ready. The error is what is said of any other.
func (w *explainer) unheld(ctx context.Context, sought console.Sought, units []*unstructured.Unstructured, err error) error {
	cluster := cmp.Or(sought.Cluster, w.clusters.Home())
	reader, failed := w.reader(cluster)
	if failed != nil || reader == nil {
		return err
	}
	o, failed := existing(ctx, reader, sought)
	if failed != nil {
		return failed
	}
	if o != nil {
		return w.climb(ctx, reader, o, units, cluster)
	}
	if id, unit, is := w.touching(units, sought, cluster); is {
		return w.held(ctx, id.String()+w.written(ctx, id)+" is part of the last operation of:", []engine.UnitID{unit}, true)
	}
	m := w.mentioning(units, sought)
	if len(m.units) == 0 {
		return err
	}
	ids := make([]engine.UnitID, len(m.units))
	for i, ref := range m.units {
		ids[i] = ref.ID()
	}
	return w.held(ctx, m.object.String()+w.written(ctx, m.object)+" is held by no unit, but named by:", ids, false)
}

// existing is the object that is sought, of a kind that is looked into; nil when there is none.
func existing(ctx context.Context, reader *below.Reader, sought console.Sought) (*unstructured.Unstructured, error) {
	namespace := sought.Namespace
	if sought.Anywhere {
		namespace = ""
	}
	for _, gk := range below.Kinds() {
		if !sought.Is(engine.ObjectID{Group: gk.Group, Kind: gk.Kind, Namespace: namespace, Name: sought.Name}) {
			continue
		}
		if o, there, err := reader.Find(ctx, gk, namespace, sought.Name); there || err != nil {
			return o, err
		}
	}
	return nil, nil
}

// touching is the unit whose last operation was about an object.
func (w *explainer) touching(units []*unstructured.Unstructured, sought console.Sought, cluster string) (engine.ObjectID, engine.UnitID, bool) {
	for _, u := range units {
		of, touches := w.Of(console.GroupKindOf(u)).(dialect.Touching)
		if !touches || w.clusters.Of(u) != cluster {
			continue
		}
		for _, id := range of.Touched(u) {
			if sought.Is(id) {
				return id, console.IdOf(u), true
			}
		}
	}
	return engine.ObjectID{}, engine.UnitID{}, false
}

// mention is an object that units name in what they say.
type mention struct {
	object engine.ObjectID
	units  []console.Reference
}

// mentioning are the units that are not ready and name an object in their message, other than those that were explained already.
func (w *explainer) mentioning(units []*unstructured.Unstructured, sought console.Sought) mention {
	var m mention
	sought.Kind, _, _ = strings.Cut(sought.Kind, ".")
	for _, u := range units {
		s := w.Catalogue.StateOf(u)
		if s.Ready == "True" || s.Suspended {
			continue
		}
		ids := namedIn(s.Message)
		at := slices.IndexFunc(ids, sought.Is)
		ref, err := w.ReferenceTo(console.IdOf(u))
		if at < 0 || err != nil || w.seen[ref.String()] {
			continue
		}
		if m.object == (engine.ObjectID{}) {
			m.object = ids[at]
		}
		if ids[at] == m.object {
			m.units = append(m.units, ref)
		}
	}
	return m
}

// objectName is an object in a message: Kind/name or Kind/namespace/name.
var objectName = regexp.MustCompile(`\b([A-Z][A-Za-z0-9]*)/([a-z0-9](?:[a-z0-9.:-]*[a-z0-9])?)(?:/([a-z0-9](?:[a-z0-9.:-]*[a-z0-9])?))?`)

// namedIn are the objects that a message names, each once, with the group that their kinds usually have.
func namedIn(message string) []engine.ObjectID {
	var ids []engine.ObjectID
	for _, parts := range objectName.FindAllStringSubmatch(message, -1) {
		id := engine.ObjectID{Kind: parts[1], Name: parts[2]}
		if parts[3] != "" {
			id.Namespace, id.Name = parts[2], parts[3]
		}
		on := engine.DependencyOn(id)
		if id = on.Object; on.Unit != (engine.UnitID{}) {
			id = on.Unit.Object()
		}
		ids = appendNew(ids, id)
	}
	return ids
}

// appendNew appends those that are not there yet.
func appendNew(ids []engine.ObjectID, others ...engine.ObjectID) []engine.ObjectID {
	for _, id := range others {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// climb explains an object, and the unit that holds the one that brought it about, or whose operation did.
func (w *explainer) climb(ctx context.Context, reader *below.Reader, o *unstructured.Unstructured, units []*unstructured.Unstructured, cluster string) error {
	id := engine.IDOf(o)
	f, ill, err := reader.Of(ctx, id)
	if err != nil {
		return err
	}
	if ill {
		w.tell(ctx, f, 0)
	} else {
		w.print(0, "✓ %s%s is healthy", id, w.written(ctx, id))
	}
	above, err := reader.Above(ctx, o)
	if err != nil {
		return err
	}
	for i, owner := range append([]engine.ObjectID{id}, above...) {
		if i > 0 {
			w.print(0, "brought about by %s%s", owner, w.written(ctx, owner))
		}
		sought := console.Sought{Kind: owner.Kind, Namespace: owner.Namespace, Name: owner.Name, Cluster: cluster}
		if found, err := w.Locate(w.clusters, units, sought, "why"); err == nil {
			beside := holdingsOf(w.Globals, units).beside(found.Unit, found.ID)
			return w.held(ctx, owner.String()+" is held by:", append([]engine.UnitID{console.IdOf(found.Unit)}, beside...), !ill)
		}
		if _, unit, is := w.touching(units, sought, cluster); is {
			return w.held(ctx, owner.String()+" is part of the last operation of:", []engine.UnitID{unit}, !ill)
		}
	}
	if owner, owned := w.OwnerOf(o); owned && cluster == w.clusters.Home() {
		if _, err := owner.Get(ctx, w.client); err == nil {
			return w.held(ctx, id.String()+" is declared by:", []engine.UnitID{owner.ID()}, !ill)
		}
	}
	w.print(0, "no unit holds it")
	return w.answer(!ill)
}
