package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
)

// asked is an object that a person names; an empty kind stands for each that is listed, an empty namespace for any.
type asked struct{ kind, namespace, name string }

// choose reads which objects a person names: KIND NAME..., or KIND/NAME...
func (o *getOptions) choose(args []string) error {
	if len(args) == 0 {
		return nil
	}
	kinds := strings.Split(args[0], ",")
	if slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "/") }) {
		var err error
		if kinds, err = o.chooseEach(args); err != nil {
			return err
		}
	} else {
		for _, name := range args[1:] {
			o.asked = append(o.asked, asked{name: name})
		}
	}
	if len(o.asked) == 1 {
		o.name = o.asked[0].name
	}
	switch {
	case len(kinds) > 1:
		o.kinds = kinds
	case o.IsCategory(kinds[0]):
		o.category = kinds[0]
	case kinds[0] != "all":
		o.kind = kinds[0]
	}
	if len(o.asked) > 1 && (o.kind == "packages" || o.kind == "secrets") {
		return console.Hint(errors.New("packages and secrets take one name at most"), "headgate get %s %s", o.kind, o.asked[0].name)
	}
	return nil
}

// chooseEach reads KIND/NAME, or KIND/NAMESPACE/NAME, of each argument, and returns the kinds.
func (o *getOptions) chooseEach(args []string) (kinds []string, err error) {
	for _, arg := range args {
		parts := strings.Split(arg, "/")
		if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
			return nil, console.Hint(fmt.Errorf("%q: want KIND/NAME or KIND NAME", strings.Join(args, " ")), "headgate get ks apps")
		}
		one := asked{kind: parts[0], name: parts[len(parts)-1]}
		if len(parts) == 3 {
			one.namespace = parts[1]
		}
		if o.asked = append(o.asked, one); !slices.Contains(kinds, one.kind) {
			kinds = append(kinds, one.kind)
		}
	}
	if at := o.asked[0].namespace; at != "" && len(o.asked) == 1 {
		o.namespace = at
	}
	return kinds, nil
}

// names reports whether an object is one of those that were named, if any were.
func (o getOptions) names(u *unstructured.Unstructured) bool {
	return len(o.asked) == 0 || slices.ContainsFunc(o.asked, func(a asked) bool { return o.means(a, u) })
}

// means reports whether an object is the one that was named.
func (o getOptions) means(a asked, u *unstructured.Unstructured) bool {
	if a.name != u.GetName() || a.namespace != "" && a.namespace != u.GetNamespace() {
		return false
	}
	if a.kind == "" || a.kind == "all" || o.IsCategory(a.kind) {
		return true
	}
	return slices.ContainsFunc(o.NamedKinds(a.kind), func(k console.Served) bool { return k.GroupKind() == console.GroupKindOf(u) })
}

// missing is an error that names what was named and is not in a list; there are the names of all objects of the kinds.
func (o getOptions) missing(list []*unstructured.Unstructured, there []string) error {
	var texts []string
	for _, a := range o.asked {
		if !slices.ContainsFunc(list, func(u *unstructured.Unstructured) bool { return o.means(a, u) }) {
			texts = append(texts, fmt.Sprintf("%s %q does not exist", cmp.Or(a.kind, o.kind, "object"), a.name)+console.DidYouMean(a.name, there))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	next := "headgate get " + cmp.Or(o.kind, "all")
	if len(o.asked) == 1 {
		// The next command has what was probably meant.
		if near := console.Nearest(o.asked[0].name, there); near != "" && near != o.asked[0].name {
			next += " " + near
		}
		if o.namespace != "" {
			next += " -n " + o.namespace
		}
	}
	return console.Hint(errors.New(strings.Join(texts, "; ")), "%s", next)
}

// listed are the kinds that a list is of, in the words of the user.
func (o getOptions) listed() string {
	return cmp.Or(o.kind, o.category, strings.Join(o.kinds, " or "), "source or unit")
}
