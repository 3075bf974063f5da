package cli

import (
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// operatedKind is the first kind whose objects are synced by operations, and what people call its dialect.
func (g *globals) operatedKind() (kind dialect.Kind, title string) {
	for _, d := range g.catalogue {
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

// operatedNamespace is where the objects are that are synced by operations, if no namespace is named.
func operatedNamespace(g *globals) string {
	kind, _ := g.operatedKind()
	return kind.Namespace
}

// operatedReference reads what a verb for operations is about: "KIND NAME", "KIND/NAME", or NAME alone of the first kind that has
// them.
func operatedReference[V dialect.Syncing](g *globals, args []string, namespace string) (ref reference, of V, err error) {
	kind, title := g.operatedKind()
	target := strings.Join(args, "/")
	if !strings.Contains(target, "/") && len(kind.Aliases) > 0 {
		target = kind.Aliases[0] + "/" + target
	}
	if ref, err = g.parseReference(target, namespace); err != nil {
		return ref, of, err
	}
	of, can := g.of(ref.groupKind()).(V)
	if !can || !of.Syncs(ref.groupKind()) {
		return ref, of, hint(fmt.Errorf("%s: it requires an %s of %s", ref, kind.GroupKind.Kind, title), "headgate get %s", kind.Plural())
	}
	return ref, of, nil
}
