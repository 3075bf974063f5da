package console

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/chart/similar"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Joined is what a person names by "KIND/NAME", or by "KIND NAME" as with kubectl.
func Joined(args []string) string { return strings.Join(args, "/") }

// shortNames are those of kubectl for kinds that repositories have objects of.
var shortNames = map[string]string{
	"cj": "cronjob", "cm": "configmap", "crd": "customresourcedefinition", "deploy": "deployment", "ds": "daemonset", "ep": "endpoints",
	"hpa": "horizontalpodautoscaler", "ing": "ingress", "netpol": "networkpolicy", "ns": "namespace", "pc": "priorityclass", "pdb": "poddisruptionbudget",
	"po": "pod", "pv": "persistentvolume", "pvc": "persistentvolumeclaim", "quota": "resourcequota", "rs": "replicaset", "sa": "serviceaccount",
	"sc": "storageclass", "sts": "statefulset", "svc": "service",
}

// means tells whether a word names a kind: the kind itself, its plural, or the short name of kubectl, each with or without the group.
func means(word string, id engine.ObjectID) bool {
	word, group, grouped := strings.Cut(strings.ToLower(word), ".")
	if grouped && group != id.Group {
		return false
	}
	kind := strings.ToLower(id.Kind)
	stem, ies := strings.CutSuffix(kind, "y")
	return word == kind || shortNames[word] == kind || word == kind+"s" || word == kind+"es" || ies && word == stem+"ies"
}

// maxNamed bounds how many objects of one name an error lists.
const maxNamed = 8

// Named is what has a name, whatever its kind is: a unit or a source, or else an object that a unit holds, of which target is "KIND/NAMESPACE/NAME". The
// namespace is that of -n; the default one stands for any. Several of a name are listed in the error, and for none the nearest is suggested.
func (g *Globals) Named(ctx context.Context, c dynamic.Interface, name, namespace, verb string) (ref *Reference, target string, err error) {
	everywhere := namespace == DefaultNamespace || namespace == ""
	var declaring []Reference
	held := map[string]engine.ObjectID{}
	var names []string
	for _, kind := range g.Catalogue.Kinds() {
		served := ServedOf(kind)
		list, err := served.List(ctx, c, metav1.NamespaceAll, true)
		if err != nil {
			return nil, "", err
		}
		for _, u := range list {
			if names = append(names, u.GetName()); u.GetName() == name && (everywhere || u.GetNamespace() == namespace) {
				declaring = append(declaring, Reference{Served: served, Namespace: u.GetNamespace(), Name: name})
			}
			for _, id := range g.Catalogue.StateOf(u).Inventory {
				if names = append(names, id.Name); id.Name == name && (everywhere || id.Namespace == "" || id.Namespace == namespace) {
					held[id.String()] = id
				}
			}
		}
	}
	switch {
	case len(declaring) == 1:
		return &declaring[0], "", nil
	case len(declaring) > 1:
		var all []string
		for _, one := range declaring {
			all = append(all, one.String())
		}
		return nil, "", ambiguous(name, verb, all)
	case len(held) == 1:
		for _, id := range held {
			return nil, heldTarget(id), nil
		}
	case len(held) > 1:
		var all []string
		for _, id := range held {
			all = append(all, heldTarget(id))
		}
		return nil, "", ambiguous(name, verb, all)
	}
	return nil, "", unnamed(name, verb, names)
}

func heldTarget(id engine.ObjectID) string {
	if id.Namespace == "" {
		return id.Kind + "/" + id.Name
	}
	return id.Kind + "/" + id.Namespace + "/" + id.Name
}

func ambiguous(name, verb string, all []string) error {
	slices.Sort(all)
	first := all[0]
	if more := len(all) - maxNamed; more > 0 {
		all = append(all[:maxNamed:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return Hint(fmt.Errorf("several objects are named %q: %s", name, strings.Join(all, ", ")), "headgate %s %s", verb, first)
}

func unnamed(name, verb string, names []string) error {
	if near := similar.Closest(name, names); near != "" {
		return Hint(fmt.Errorf("nothing is named %q; did you mean %q?", name, near), "headgate %s %s", verb, near)
	}
	return Hint(fmt.Errorf("nothing is named %q: neither a unit or a source, nor an object of a unit", name), "headgate get all")
}

// absentError is that an object does not exist, in words; it wraps what the API server said.
type absentError struct {
	text string
	err  error
}

func (e *absentError) Error() string { return e.text }

func (e *absentError) Unwrap() error { return e.err }

// Absent explains why an object is not found: it is in another namespace, or another one has nearly its name. The hint is a verb with the name
// of that, or without one a list. Other errors are returned as they are.
func (r Reference) Absent(ctx context.Context, c dynamic.Interface, verb string, err error) error {
	if !apierrors.IsNotFound(err) {
		return err
	}
	list, failed := r.List(ctx, c, metav1.NamespaceAll, true)
	if failed != nil {
		return err
	}
	text, hint := r.String()+" does not exist", "headgate get "+r.Aliases[0]
	meant := func(u *unstructured.Unstructured, words string) {
		other := Reference{Served: r.Served, Namespace: u.GetNamespace(), Name: u.GetName()}
		text += fmt.Sprintf(words, other)
		if verb != "" {
			hint = "headgate " + verb + " " + other.String()
		}
	}
	var names []string
	for _, u := range list {
		names = append(names, u.GetName())
	}
	near := similar.Closest(r.Name, names)
	if at := slices.Index(names, r.Name); at >= 0 {
		meant(list[at], "; there is %s")
	} else if near != "" {
		meant(list[slices.Index(names, near)], "; did you mean %s?")
	}
	return Hint(&absentError{text, err}, "%s", hint)
}
