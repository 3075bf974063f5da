package console

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
	Kind, Namespace, Name string
	// Cluster is the name of the one that it is in; empty for any.
	Cluster string
	// Anywhere is set where no namespace was named.
	Anywhere bool
}

// Seek reads "KIND/NAME" or "KIND/NAMESPACE/NAME". The namespace is that of -n; the default one stands for any.
func Seek(target, namespace, cluster string) (Sought, error) {
	s := Sought{Namespace: namespace, Cluster: cluster, Anywhere: namespace == DefaultNamespace || namespace == ""}
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

// Is tells whether an object is the one that is sought, by its kind and name.
func (s Sought) Is(id engine.ObjectID) bool {
	return means(s.Kind, id) && id.Name == s.Name && (id.Namespace == "" || s.Anywhere || id.Namespace == s.Namespace)
}

// String is the object as it was named.
func (s Sought) String() string { return s.Kind + "/" + s.Name }

// Locate finds an object in the inventories of units. One that is in several clusters has to be chosen by --cluster: the error names them.
func (g *Globals) Locate(clusters *Clusters, units []*unstructured.Unstructured, s Sought, verb string) (Found, error) {
	var all []Found
	var where []string
	for _, u := range units {
		at := clusters.Of(u)
		if s.Cluster != "" && at != s.Cluster {
			continue
		}
		for _, id := range g.Catalogue.StateOf(u).Inventory {
			if s.Is(id) && !slices.ContainsFunc(all, func(f Found) bool { return f.Cluster == at }) {
				all = append(all, Found{ID: id, Unit: u, Cluster: at})
				where = append(where, id.String()+" in "+at)
			}
		}
	}
	switch {
	case len(all) == 0 && s.Cluster != "":
		return Found{}, Hint(fmt.Errorf("no unit holds %s in namespace %q of cluster %s", s, s.Namespace, s.Cluster), "headgate tree --all")
	case len(all) == 0:
		return Found{}, Hint(fmt.Errorf("no unit holds %s in namespace %q", s, s.Namespace), "headgate tree --all")
	case len(all) > 1:
		return Found{}, Hint(fmt.Errorf("%s is in several clusters: %s", s, strings.Join(where, ", ")), "headgate %s %s --cluster %s", verb, all[0].ID, all[0].Cluster)
	}
	return all[0], nil
}
