package console

import (
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

// OperatedReference reads what a verb for operations is about: "KIND NAME", "KIND/NAME", or NAME alone of the first kind that has
// them.
func OperatedReference[V dialect.Syncing](g *Globals, args []string, namespace string) (ref Reference, of V, err error) {
	kind, title := g.OperatedKind()
	target := strings.Join(args, "/")
	if !strings.Contains(target, "/") && len(kind.Aliases) > 0 {
		target = kind.Aliases[0] + "/" + target
	}
	if ref, err = g.ParseReference(target, namespace); err != nil {
		return ref, of, err
	}
	of, can := g.Of(ref.GroupKind()).(V)
	if !can || !of.Syncs(ref.GroupKind()) {
		return ref, of, Hint(fmt.Errorf("%s: it requires an %s of %s", ref, kind.GroupKind.Kind, title), "headgate get %s", kind.Plural())
	}
	return ref, of, nil
}
