package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/chart/similar"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Found is an object that a unit holds, with the cluster that it is in.
type Found struct {
	ID      engine.ObjectID
	Unit    *unstructured.Unstructured
	Cluster string
}

// Sought is an object that is neither a unit nor a source, as a person names it.
type Sought struct {
	// Kind is empty for any.
	Kind, Namespace, Name string
	// Cluster is the name of the one that it is in; empty for any.
	Cluster string
	// Anywhere is set where no namespace was named.
	Anywhere bool
}

// GivenNamespace is the one that a person gave a command with -n; empty where that has its default.
func GivenNamespace(cmd *cobra.Command) string {
	flag := cmd.Flags().Lookup("namespace")
	if flag == nil || !flag.Changed {
		return ""
	}
	return flag.Value.String()
}

// Seek reads "KIND/NAME" or "KIND/NAMESPACE/NAME". The namespace is that which was given; the empty one stands for any.
func Seek(target, namespace, cluster string) (Sought, error) {
	s := Sought{Namespace: namespace, Cluster: cluster, Anywhere: namespace == ""}
	switch parts := strings.Split(target, "/"); len(parts) {
	case 2:
		s.Kind, s.Name = parts[0], parts[1]
	case 3:
		s.Kind, s.Namespace, s.Name, s.Anywhere = parts[0], parts[1], parts[2], false
	default:
		return s, fmt.Errorf("%q: want KIND/NAME or KIND/NAMESPACE/NAME", target)
	}
	return s, nil
}

// Is reports whether an object is the one that is sought, by its kind and name.
func (s Sought) Is(id engine.ObjectID) bool {
	return (s.Kind == "" || means(s.Kind, id)) && id.Name == s.Name && (id.Namespace == "" || s.Anywhere || id.Namespace == s.Namespace)
}

// String is the object as it was named.
func (s Sought) String() string { return strings.TrimPrefix(s.Kind+"/"+s.Name, "/") }

// matching are the objects that units hold and that may be meant.
func (g *Globals) matching(clusters *Clusters, units []*unstructured.Unstructured, s Sought) []Found {
	var all []Found
	for _, u := range units {
		at := clusters.Of(u)
		if s.Cluster != "" && at != s.Cluster {
			continue
		}
		for _, id := range g.Catalogue.StateOf(u).Inventory {
			if s.Is(id) && !slices.ContainsFunc(all, func(f Found) bool { return f.Cluster == at && f.ID == id }) {
				all = append(all, Found{ID: id, Unit: u, Cluster: at})
			}
		}
	}
	return all
}

// NotHeldError is that no unit holds an object.
type NotHeldError struct{ text string }

func (e *NotHeldError) Error() string { return e.text }

// Locate finds an object in the inventories of units. Of several that are meant the error names each: one that is in several clusters is
// chosen by --cluster, those of several namespaces by these. Where there is none, it is a NotHeldError, with what was probably meant.
func (g *Globals) Locate(clusters *Clusters, units []*unstructured.Unstructured, s Sought, verb string) (Found, error) {
	all := g.matching(clusters, units, s)
	if len(all) == 0 {
		return Found{}, g.notHeld(units, s, verb)
	}
	var ids []engine.ObjectID
	var where []string
	for _, f := range all {
		if where = append(where, f.ID.String()+" in "+f.Cluster); !slices.Contains(ids, f.ID) {
			ids = append(ids, f.ID)
		}
	}
	switch {
	case len(ids) > 1:
		return Found{}, ambiguous(s.String(), verb, targetsOf(ids))
	case len(all) > 1:
		return Found{}, Hint(fmt.Errorf("%s is in several clusters: %s", s, strings.Join(where, ", ")), "headgate %s %s --cluster %s", verb, all[0].ID, all[0].Cluster)
	}
	return all[0], nil
}

// notHeld words that no unit holds an object, and which one was probably meant.
func (g *Globals) notHeld(units []*unstructured.Unstructured, s Sought, verb string) error {
	text, next := "no unit holds "+s.String(), "headgate tree --all"
	if !s.Anywhere {
		text += fmt.Sprintf(" in namespace %q", s.Namespace)
	}
	if s.Cluster != "" {
		text += fmt.Sprintf(" of cluster %s", s.Cluster)
	}
	var ids []engine.ObjectID
	for _, u := range units {
		ids = append(ids, g.Catalogue.StateOf(u).Inventory...)
	}
	if meant, words := s.meant(ids); meant != (engine.ObjectID{}) {
		text, next = text+words+meant.String(), "headgate "+verb+" "+meant.String()
		if strings.HasPrefix(words, "; did") {
			text += "?"
		}
	}
	return Hint(&NotHeldError{text}, "%s", next)
}

// meant is the object that a person probably means by one that is not there, with the words for how: the one of that name in another
// namespace, one with nearly its name, or one of that name of another kind. Those in the namespace, or in one like it, come first.
func (s Sought) meant(ids []engine.ObjectID) (meant engine.ObjectID, words string) {
	const did = "; did you mean "
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b engine.ObjectID) int {
		return cmp.Or(cmp.Compare(s.off(a), s.off(b)), cmp.Compare(a.String(), b.String()))
	})
	var ofKind, ofName []engine.ObjectID
	var names, kinds []string
	for _, id := range ids {
		switch same := id.Name == s.Name; {
		case means(s.Kind, id) && same:
			return id, "; there is "
		case means(s.Kind, id):
			ofKind, names = append(ofKind, id), append(names, id.Name)
		case same:
			ofName, kinds = append(ofName, id), append(kinds, strings.ToLower(id.Kind))
		}
	}
	if near := similar.Closest(s.Name, names); near != "" {
		return ofKind[slices.Index(names, near)], did
	}
	if len(ofName) == 0 {
		return engine.ObjectID{}, ""
	}
	kind, _, _ := strings.Cut(strings.ToLower(s.Kind), ".")
	if at := slices.IndexFunc(kinds, func(k string) bool { return strings.HasPrefix(k, kind) }); at >= 0 {
		return ofName[at], did
	}
	for short := range shortNames {
		if similar.Closest(kind, []string{short}) != "" && slices.Contains(kinds, shortNames[short]) {
			return ofName[slices.Index(kinds, shortNames[short])], did
		}
	}
	return ofName[max(0, slices.Index(kinds, similar.Closest(kind, kinds)))], did
}

// off is how far the namespace of an object is from the one that is sought.
func (s Sought) off(id engine.ObjectID) int {
	switch {
	case !s.Anywhere:
		return similar.Edits(s.Namespace, id.Namespace, len(s.Namespace))
	case similar.Closest(s.Kind, []string{id.Namespace}) != "":
		// It was written as NAMESPACE/NAME.
		return 0
	}
	return 1
}
