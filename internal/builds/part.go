package builds

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/runner"
)

// atOnce bounds the passes that are made at a time.
const atOnce = 8

// manager is the field manager of the engine's own writes: the statuses of Builds.
const manager = "headgate"

// part is the dialect as it is served in one cluster.
type part struct {
	*dialect.Host
	builds *declared.Registry[v1alpha1.Build, *v1alpha1.Build]
	writer declared.Writer
	events *declared.Events
	loop   *rounds.Loop[engine.UnitID]
	seen   *interests

	mu sync.Mutex
	// problems are why actions were refused, by the Build, since the last one that was not.
	problems map[engine.UnitID]string
}

// newPart puts the part together. It makes no requests.
func newPart(host *dialect.Host) (*part, error) {
	client, err := kubernetes.NewForConfig(host.Config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	kind := buildKind()
	p := &part{
		Host: host, builds: declared.NewRegistry[v1alpha1.Build](kind.GroupKind), problems: map[engine.UnitID]string{},
		writer: declared.Writer{Client: host.Home.Dynamic.Resource(kind.GroupVersionResource()), Manager: manager},
		events: declared.NewEvents(client, nil),
	}
	p.loop = rounds.New(p, rounds.Options{Slots: rounds.NewSlots(atOnce), Log: host.Log, Guard: host.Guard})
	p.seen = newInterests(host, p.loop)
	return p, nil
}

// Joins brings nothing to the runner: Builds are no units of delivery.
func (*part) Joins() runner.Part { return runner.Part{} }

// Nudge has nothing to fetch: a source that changes wakes the Builds that read it.
func (*part) Nudge(func(url string) bool) {}

// Start watches the Builds; it returns once those that there are are known.
func (p *part) Start(ctx context.Context) error {
	p.seen.begin(ctx)
	p.loop.Start(ctx)
	err := p.Home.Watch(ctx, buildKind().GroupVersionResource(), p.Selector, cluster.Sink{Put: p.put, Dropped: p.dropped})
	if err != nil {
		return fmt.Errorf("watching Builds: %w", err)
	}
	return nil
}

// Wait waits until every pass has ended.
func (p *part) Wait() {
	p.loop.Wait()
	p.events.Stop()
}

func (p *part) put(u *unstructured.Unstructured) {
	if _, err := p.builds.Put(u); err != nil {
		p.Problem(v1alpha1.BuildKind+" "+u.GetNamespace()+"/"+u.GetName(), err.Error())
		return
	}
	p.loop.Wake(idOf(u))
}

func (p *part) dropped(u *unstructured.Unstructured) {
	id := idOf(u)
	p.builds.Drop(id)
	p.loop.Forget(id)
	p.seen.forget(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.problems, id)
}

// idOf identifies a Build.
func idOf(o metav1.Object) engine.UnitID { return idNamed(o.GetNamespace(), o.GetName()) }

func idNamed(namespace, name string) engine.UnitID {
	gk := schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: v1alpha1.BuildKind}
	return engine.UnitID{Group: gk.Group, Kind: gk.Kind, Namespace: namespace, Name: name}
}

// Share has namespaces share the passes that are made at a time.
func (*part) Share(id engine.UnitID) string { return id.Namespace }

// problem is why the last action for a Build was refused.
func (p *part) problem(id engine.UnitID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.problems[id]
}

// note records why an action was refused, or that it was not.
func (p *part) note(id engine.UnitID, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		delete(p.problems, id)
		return
	}
	p.problems[id] = err.Error()
}

// now is the time of a pass.
func now() time.Time { return time.Now() }

var (
	_ dialect.Part               = (*part)(nil)
	_ rounds.Work[engine.UnitID] = (*part)(nil)
)
