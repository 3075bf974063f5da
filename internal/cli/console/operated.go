package console

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// OperatedKind is the first kind whose objects are synced by operations, and what people call its dialect.
func (g *Globals) OperatedKind() (kind dialect.Kind, title string) {
	for _, d := range g.Catalogue {
		of, can := d.(dialect.Syncing)
		if !can {
			continue
		}
		if upstream, has := d.(dialect.Upstreamed); has {
			title = upstream.Upstream().Title
		}
		for _, k := range d.Kinds() {
			if of.Syncs(k.GroupKind) {
				return k, title
			}
		}
	}
	return dialect.Kind{}, ""
}

// OperatedNamespace is where the objects are that are synced by operations, if no namespace is named.
func OperatedNamespace(g *Globals) string {
	kind, _ := g.OperatedKind()
	return kind.Namespace
}

// NotOperatedError is that an object is of a kind whose objects are not synced by operations.
type NotOperatedError struct {
	Ref Reference
	// want is a kind that has them.
	want string
}

func (e *NotOperatedError) Error() string {
	return fmt.Sprintf("%s/%s: it requires an %s", e.Ref.Kind, e.Ref.Name, e.want)
}

// OperatedReference reads what a verb for operations is about: "KIND NAME", "KIND/NAME", or NAME alone of the first kind that has
// them, in a namespace that was given, or else in that of its kind. The reference is valid with a NotOperatedError, too.
func OperatedReference[V dialect.Syncing](g *Globals, args []string, given string) (ref Reference, of V, err error) {
	kind, title := g.OperatedKind()
	target := Joined(args)
	alone := !strings.Contains(target, "/")
	if alone && len(kind.Aliases) > 0 {
		target = kind.Aliases[0] + "/" + target
	}
	if ref, err = g.ParseReference(target, cmp.Or(given, DefaultNamespace)); err != nil {
		return ref, of, err
	}
	ref.loose = given == "" && len(strings.Split(target, "/")) == 2
	if alone {
		_, err := g.Catalogue.Find(args[0])
		ref.bare = err == nil
	}
	of, can := g.Of(ref.GroupKind()).(V)
	if can && of.Syncs(ref.GroupKind()) {
		return ref, of, nil
	}
	return ref, of, Hint(&NotOperatedError{ref, kind.GroupKind.Kind + " of " + title}, "headgate get %s", kind.Plural())
}
