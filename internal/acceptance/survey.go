package acceptance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Declared is an object that is to be applied.
type Declared struct {
	// By is the unit that declares it.
	By     engine.UnitID
	Object *unstructured.Unstructured
	// Namespace is where it goes when it names none itself.
	Namespace string
	Options   Options
	// StandIns is set when values in it stand for others, so that these are not judged.
	StandIns bool
}

// Surroundings are what there is beside the objects.
type Surroundings struct {
	// Definitions are there from the start.
	Definitions []*unstructured.Unstructured
	// Namespaces are those that are there, or that something else makes.
	Namespaces []string
	// Maybe are objects that may be applied, too: namespaces and definitions among them count as being there.
	Maybe []*unstructured.Unstructured
	// Blind is set if not everything is known of what it declares: it may define kinds and create namespaces.
	Blind bool
}

// Refusal is what is refused, of objects of one unit.
type Refusal struct {
	By engine.UnitID
	// Objects are those that are refused for the same reason, the first one first.
	Objects []engine.ObjectID
	// Namespace is the one that they need and nothing creates; otherwise Why is what the server would say.
	Namespace, Why string
}

// String is one line.
func (r Refusal) String() string {
	if r.Namespace != "" {
		return fmt.Sprintf("nothing creates namespace %q: %s of %s", r.Namespace, several(r.Objects), r.By)
	}
	return fmt.Sprintf("%s of %s: %s", several(r.Objects), r.By, r.Why)
}

// Survey is what the server would say to a whole repository.
type Survey struct {
	// Refused are what is certain to be refused, for as long as nothing is changed.
	Refused []Refusal
	// Unknown are what it requires that is not declared here, but may be declared elsewhere.
	Unknown []string
}

// builtinNamespaces are those that every cluster has.
var builtinNamespaces = [...]string{"default", "kube-system", "kube-public", "kube-node-lease"}

// Survey holds all objects of a repository against the server, whatever their order. Each refusal is said once for all
// objects of a unit that it is about.
func (s *Server) Survey(ctx context.Context, all []Declared, around Surroundings) (Survey, error) {
	v := &surveyor{Server: s, around: around, namespaces: map[string]bool{}, refused: newTally(), missing: newTally(), unknown: map[string]bool{}}
	for _, d := range around.Definitions {
		if err := s.Define(ctx, d); err != nil {
			return Survey{}, fmt.Errorf("defining the kinds of %s: %w", d.GetName(), err)
		}
	}
	for _, name := range slices.Concat(builtinNamespaces[:], around.Namespaces) {
		v.namespaces[name] = true
	}
	for _, o := range around.Maybe {
		v.count(ctx, o)
	}
	for _, d := range all {
		v.count(ctx, d.Object)
	}
	for _, d := range all {
		v.look(ctx, d)
	}
	return v.result(), ctx.Err()
}

// surveyor is one survey.
type surveyor struct {
	*Server

	around     Surroundings
	namespaces map[string]bool
	// refused are objects by what is wrong with them, missing by their namespace, unknown the unknown kinds.
	refused, missing *tally
	unknown          map[string]bool
}

// count enters what an object makes that others need.
func (v *surveyor) count(ctx context.Context, o *unstructured.Unstructured) {
	switch gk := o.GroupVersionKind().GroupKind(); {
	case gk.Group == extensionsGroup && gk.Kind == "CustomResourceDefinition":
		// Why it is refused is said with the other objects.
		_ = v.Define(ctx, o)
	case gk.Group == "" && gk.Kind == "Namespace":
		v.namespaces[o.GetName()] = true
	}
}

func (v *surveyor) look(ctx context.Context, d Declared) {
	o := d.Object.DeepCopy()
	namespaced, known := v.Scope(o.GroupVersionKind())
	switch {
	case namespaced && o.GetNamespace() == "":
		o.SetNamespace(d.Namespace)
	case known && !namespaced:
		o.SetNamespace("")
	}
	id := engine.IDOf(o)
	err := v.Check(ctx, o, d.Options)
	var unserved *UnservedError
	switch {
	case errors.As(err, &unserved) && len(unserved.Served) == 0 && v.around.Blind && !v.BuiltIn(id.Group):
		v.unknown[id.Kind+"."+id.Group] = true
		return
	case err != nil && (unserved != nil || !d.StandIns):
		v.refused.add(d.By, err.Error(), id)
	}
	if namespaced && id.Namespace != "" && !v.namespaces[id.Namespace] {
		v.missing.add(d.By, id.Namespace, id)
	}
}

func (v *surveyor) result() Survey {
	var out Survey
	v.refused.each(func(by engine.UnitID, text string, ids []engine.ObjectID) {
		out.Refused = append(out.Refused, Refusal{By: by, Objects: ids, Why: text})
	})
	v.missing.each(func(by engine.UnitID, namespace string, ids []engine.ObjectID) {
		missing := Refusal{By: by, Objects: ids, Namespace: namespace}
		if v.around.Blind {
			out.Unknown = append(out.Unknown, missing.String()+", unless something that is not rendered here does")
		} else {
			out.Refused = append(out.Refused, missing)
		}
	})
	if kinds := slices.Sorted(maps.Keys(v.unknown)); len(kinds) > 0 {
		out.Unknown = append(out.Unknown, "kinds without a definition in what is rendered here: "+listed(kinds))
	}
	return out
}

// tally gathers objects by who declares them and by a text, in the order of the first ones.
type tally struct {
	order []tallied
	ids   map[tallied][]engine.ObjectID
}

type tallied struct {
	by   engine.UnitID
	text string
}

func newTally() *tally { return &tally{ids: map[tallied][]engine.ObjectID{}} }

func (t *tally) add(by engine.UnitID, text string, id engine.ObjectID) {
	key := tallied{by, text}
	if t.ids[key] == nil {
		t.order = append(t.order, key)
	}
	t.ids[key] = append(t.ids[key], id)
}

func (t *tally) each(visit func(engine.UnitID, string, []engine.ObjectID)) {
	for _, key := range t.order {
		visit(key.by, key.text, t.ids[key])
	}
}

// several names the first of some objects, and how many more there are.
func several(ids []engine.ObjectID) string {
	if len(ids) == 1 {
		return ids[0].String()
	}
	return fmt.Sprintf("%s and %d more", ids[0], len(ids)-1)
}

// shownKinds bounds the kinds that are listed.
const shownKinds = 8

func listed(names []string) string {
	if len(names) <= shownKinds {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shownKinds], ", "), len(names)-shownKinds)
}
