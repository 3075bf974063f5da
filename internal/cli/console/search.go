package console

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/chart/similar"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Joined is what a person names by "KIND/NAME", by "KIND NAME" as with kubectl, or by "KIND NAMESPACE/NAME", also in one argument.
func Joined(args []string) string { return strings.Join(strings.Fields(strings.Join(args, " ")), "/") }

// versioned is a kind as kubectl takes it with its version: KIND.VERSION.GROUP.
var versioned = regexp.MustCompile(`^([A-Za-z]+)\.v[0-9]+(?:(?:alpha|beta)[0-9]+)?\.(.*)$`)

// unversioned is the name of a kind without its version.
func unversioned(kind string) string {
	if parts := versioned.FindStringSubmatch(kind); parts != nil {
		return strings.TrimSuffix(parts[1]+"."+parts[2], ".")
	}
	return kind
}

// shortNames are those of kubectl for kinds that repositories have objects of.
var shortNames = map[string]string{
	"cj": "cronjob", "cm": "configmap", "crd": "customresourcedefinition", "deploy": "deployment", "ds": "daemonset", "ep": "endpoints",
	"hpa": "horizontalpodautoscaler", "ing": "ingress", "netpol": "networkpolicy", "ns": "namespace", "pc": "priorityclass", "pdb": "poddisruptionbudget",
	"po": "pod", "pv": "persistentvolume", "pvc": "persistentvolumeclaim", "quota": "resourcequota", "rs": "replicaset", "sa": "serviceaccount",
	"sc": "storageclass", "sts": "statefulset", "svc": "service",
}

// means reports whether a word names a kind: the kind itself, its plural, or the short name of kubectl, each with or without the group.
func means(word string, id engine.ObjectID) bool {
	word, group, grouped := strings.Cut(unversioned(strings.ToLower(word)), ".")
	if grouped && group != id.Group {
		return false
	}
	kind := strings.ToLower(id.Kind)
	stem, ies := strings.CutSuffix(kind, "y")
	return word == kind || shortNames[word] == kind || word == kind+"s" || word == kind+"es" || ies && word == stem+"ies"
}

// maxNamed bounds how many objects of one name an error lists.
const maxNamed = 8

// namesakes are what has a name: the units and sources, and the objects that units hold.
type namesakes struct {
	declaring []Reference
	held      []engine.ObjectID
	// others are those of other names, or in other namespaces, as they are named in commands; names are theirs.
	others, names []string
}

// Named is what has a name, whatever its kind is: a unit or a source, or else an object that a unit holds, of which target is "KIND/NAMESPACE/NAME". The
// namespace is the one that was given; the empty one stands for any. Several of a name are listed in the error, and for none it is a NotHeldError, with
// the nearest as a suggestion.
func (g *Globals) Named(ctx context.Context, c dynamic.Interface, name, namespace, verb string) (ref *Reference, target string, err error) {
	found, err := g.namesakes(ctx, c, name, namespace)
	if err != nil {
		return nil, "", err
	}
	switch {
	case len(found.declaring) == 1:
		return &found.declaring[0], "", nil
	case len(found.declaring) > 1:
		var all []string
		for _, one := range found.declaring {
			all = append(all, one.String())
		}
		return nil, "", ambiguous(name, verb, all)
	case len(found.held) == 1:
		return nil, targetsOf(found.held)[0], nil
	case len(found.held) > 1:
		return nil, "", ambiguous(name, verb, targetsOf(found.held))
	}
	return nil, "", found.none(name, namespace, verb)
}

func (g *Globals) namesakes(ctx context.Context, c dynamic.Interface, name, namespace string) (namesakes, error) {
	var found namesakes
	is := func(id engine.ObjectID) bool {
		return id.Name == name && (namespace == "" || id.Namespace == "" || id.Namespace == namespace)
	}
	for _, kind := range g.Catalogue.Kinds() {
		served := ServedOf(kind)
		list, err := served.List(ctx, c, metav1.NamespaceAll, true)
		if err != nil {
			return found, err
		}
		for _, u := range list {
			if is(engine.IDOf(u)) {
				found.declaring = append(found.declaring, Reference{Served: served, Namespace: u.GetNamespace(), Name: name})
			}
			for _, id := range append(g.Catalogue.StateOf(u).Inventory, engine.IDOf(u)) {
				switch {
				case !is(id):
					found.others, found.names = append(found.others, id.String()), append(found.names, id.Name)
				case !slices.Contains(found.held, id):
					found.held = append(found.held, id)
				}
			}
		}
	}
	return found, nil
}

// none words that nothing has a name, and what was probably meant: it may be in another namespace.
func (n namesakes) none(name, namespace, verb string) error {
	text := fmt.Sprintf("nothing is named %q", name)
	if namespace != "" {
		text += fmt.Sprintf(" in namespace %q", namespace)
	}
	near := similar.Closest(name, n.names)
	at := slices.Index(n.names, near)
	switch {
	case near == "":
		return Hint(&NotHeldError{text + ": neither a unit or a source, nor an object of a unit"}, "headgate get all")
	case near == name:
		return Hint(&NotHeldError{text + "; there is " + n.others[at]}, "headgate %s %s", verb, n.others[at])
	case namespace != "":
		return Hint(&NotHeldError{text + "; did you mean " + n.others[at] + "?"}, "headgate %s %s", verb, n.others[at])
	}
	return Hint(&NotHeldError{fmt.Sprintf("%s; did you mean %q?", text, near)}, "headgate %s %s", verb, near)
}

// targetsOf are what commands name objects by: Kind/namespace/name, with the group where two differ in nothing else.
func targetsOf(ids []engine.ObjectID) []string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
		if slices.ContainsFunc(ids, func(other engine.ObjectID) bool { return other != id && other.String() == all[i] }) && id.Group != "" {
			all[i] = strings.Replace(all[i], "/", "."+id.Group+"/", 1)
		}
	}
	return all
}

func ambiguous(name, verb string, all []string) error {
	slices.Sort(all)
	first := all[0]
	if more := len(all) - maxNamed; more > 0 {
		all = append(all[:maxNamed:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return Hint(fmt.Errorf("several objects are named %q: %s", name, strings.Join(all, ", ")), "headgate %s %s", verb, first)
}

// Nearest is the one of names that a person probably meant by another; empty when none is like it.
func Nearest(name string, names []string) string { return similar.Closest(name, names) }

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
	list, failed := r.List(ctx, c, metav1.NamespaceAll, false)
	if Unserved(failed) {
		return Hint(&absentError{fmt.Sprintf("%s: the cluster serves no kind %s of %s", r, r.Kind, r.Resource.Group), err}, "headgate get all")
	}
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
	// Of several of one name, that of the namespace is meant.
	slices.SortStableFunc(list, func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(rankIn(r.Namespace, a), rankIn(r.Namespace, b))
	})
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

// rankIn has objects of a namespace come before others.
func rankIn(namespace string, u *unstructured.Unstructured) int {
	if u.GetNamespace() == namespace {
		return 0
	}
	return 1
}
