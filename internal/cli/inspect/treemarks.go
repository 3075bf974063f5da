package inspect

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/below"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
)

// marker says how the objects of a cluster stand.
type marker struct {
	*console.Globals
	reader  *below.Reader
	session *console.Session
	// told are the failures that were reported.
	told map[string]bool
}

func newMarker(g *console.Globals, client dynamic.Interface) *marker {
	return &marker{Globals: g, reader: below.New(client), session: console.NewSession(g, client), told: map[string]bool{}}
}

// marks are the marks of objects of one unit; one that cannot be read has none.
func (m *marker) marks(ctx context.Context, ids []engine.ObjectID, exprs []engine.HealthExpr) map[engine.ObjectID]standing {
	found, err := m.reader.Objects(ctx, ids, m.reach)
	if err != nil && !m.told[err.Error()] {
		m.told[err.Error()] = true
		fmt.Fprintln(m.IO.Err, "· some objects have no mark: "+console.OneLine(err.Error()))
	}
	marks := map[engine.ObjectID]standing{}
	for id, o := range found {
		marks[id] = m.mark(o, exprs)
	}
	return marks
}

// reach is how objects of a kind are read: as commands do that know the kind, or as the cluster serves it.
func (m *marker) reach(gk schema.GroupKind) (schema.GroupVersionResource, error) {
	if kind, known := m.Catalogue.Kind(gk); known {
		return kind.GroupVersionResource(), nil
	}
	mapping, err := m.session.Mapping(gk, "")
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	return mapping.Resource, nil
}

func (m *marker) mark(o *unstructured.Unstructured, exprs []engine.HealthExpr) standing {
	if o == nil {
		return badStanding("missing")
	}
	if _, err := m.FindGroupKind(console.GroupKindOf(o)); err == nil && !m.IsStatic(o) {
		return standingOf(m.Globals, o)
	}
	if wrong := below.Judge(o, exprs); wrong != "" {
		return badStanding(console.OneLine(wrong))
	}
	return goodStanding("")
}
