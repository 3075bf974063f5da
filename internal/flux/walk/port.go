package walk

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/bases"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/normalform"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

// New renders a repository as the engine would, without a cluster: the root, the units that it declares with the patches
// that it applies to them, and so on; then the requested releases. ConfigMaps and Secrets that a unit reads are taken from
// what was rendered before it.
func New(ctx context.Context, r *dialect.Repository, policy policies.Policy) dialect.Walk {
	w := &walk{
		repository: r, trees: map[engine.SourceID]*source.Tree{}, generating: map[engine.ObjectID]bool{},
		renderer: render.New(), remotes: feed.New(), held: map[engine.ObjectID]*unstructured.Unstructured{}, done: map[engine.UnitID]bool{},
		indexes: map[engine.SourceID]*source.Index{}, twins: map[engine.ObjectID]*unstructured.Unstructured{}, now: policy,
	}
	w.artifact = sync.OnceValues(func() (string, bool) {
		if r.Dir == "" {
			return "", false
		}
		return roots.FindArtifact(r.Dir, r.Root)
	})
	w.bases = bases.New(w.remotes, "")
	w.Reach = access.Reach{Rules: func() source.Rewrites { return w.rewriting(ctx) }, Held: w.Secret, Account: noAccount}
	return w
}

// Begin are the objects that up would create: a source of the repository, and a Kustomization of the root.
func (w *walk) Begin() ([]*unstructured.Unstructured, error) {
	_, artifact := w.artifact()
	root := roots.Root{Path: w.repository.Root, Artifact: artifact, For: w.repository.Dir, Branch: w.repository.Branch, URL: "http://localhost", AgeKey: w.repository.AgeKey}
	if len(w.repository.Objects) > 0 {
		root.Path = ""
	}
	return roots.RootObjects(root)
}

// rooted reports whether an object is one of those that up creates.
func (w *walk) rooted(id engine.ObjectID) bool {
	if id == roots.ArtifactID() {
		_, is := w.artifact()
		return is
	}
	return roots.RootIDs()[id]
}

// Take enters what a unit declares.
func (w *walk) Take(_ context.Context, of *dialect.OfflineUnit) {
	w.unread = w.unread || of.Skipped || of.Elsewhere != ""
	w.elsewhere = w.elsewhere || of.Elsewhere != ""
	foreign := of.Object != nil && !IsUnit(of.Object)
	if foreign && of.Unit.Target.Cluster != "" {
		return
	}
	for _, o := range of.Held() {
		placed := of.Placed(o)
		if shown, there := of.Shown[engine.IDOf(o)]; there && foreign {
			w.twins[engine.IDOf(placed)] = shown
		}
		w.take(placed, of.Unit.ID)
	}
}

// Turn says how soon the next unit is rendered.
func (w *walk) Turn() dialect.Turn {
	switch at, rank := w.next(); {
	case at < 0:
		return dialect.TurnOver
	case rank >= 6:
		return dialect.TurnNow
	case rank >= 2:
		return dialect.TurnLate
	default:
		return dialect.TurnLast
	}
}

// Next renders the next unit.
func (w *walk) Next(ctx context.Context) dialect.OfflineUnit {
	at, _ := w.next()
	d := w.queue[at]
	w.queue = append(w.queue[:at:at], w.queue[at+1:]...)
	w.done[d.Unit.ID] = true
	return w.visit(ctx, d)
}

// Broken are none: what fails is a unit.
func (*walk) Broken() []dialect.Broken { return nil }

// Unread are none.
func (*walk) Unread() ([]string, error) { return nil, nil }

// Close deletes what was fetched.
func (w *walk) Close() {
	w.bases.Close()
	w.remotes.Wait()
}

// advice is what to try when a unit cannot be rendered, or nothing.
func advice(err error) string {
	var missing *MissingSecretError
	if errors.As(err, &missing) && missing.Namespace == toolkit.Namespace && missing.Name == roots.AgeSecret {
		return "--age-key-file FILE, with its key"
	}
	var chart *ChartError
	if errors.As(err, &chart) && chart.URL != "" {
		return fmt.Sprintf("--rewrite %s=URL, with the URL of a reachable mirror", chart.URL)
	}
	return ""
}

// comparison is how objects of a unit are compared with those of a cluster: by a dry run of what the engine does.
type comparison struct{ unit engine.UnitID }

// Check is nil: nothing can be wrong with it.
func (comparison) Check() error { return nil }

// Manager is the field manager of the unit.
func (c comparison) Manager() string { return Manager(c.unit) }

// Placed is the object in the form in which it is applied, where it was rendered to. Those of a release are Helm's to write.
func (c comparison) Placed(o *unstructured.Unstructured, _ bool) (*unstructured.Unstructured, error) {
	if (schema.GroupKind{Group: c.unit.Group, Kind: c.unit.Kind}) == toolkit.HelmReleaseKind {
		return o, nil
	}
	return normalform.Of(o), nil
}

// Differs leaves the comparison to the command that prints it.
func (comparison) Differs(context.Context, *unstructured.Unstructured, *unstructured.Unstructured, *unstructured.Unstructured) (bool, error) {
	return true, nil
}

var _ dialect.Walk = (*walk)(nil)
