package promote

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/promote/discover"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/promote/steps"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/tokens"
	"github.com/headgate-dev/headgate/internal/webhook"
)

const (
	// atOnce bounds the passes that are made at a time.
	atOnce = 8
	// manager is the field manager of what is written.
	manager = "headgate"
)

// part is the dialect as it is served in one cluster.
type part struct {
	*dialect.Host
	options Options
	network *network
	finder  *discover.Finder
	// limits are the times until which Warehouses are not searched, by their IDs.
	limits     sync.Map
	client     kubernetes.Interface
	projects   *declared.Registry[v1alpha1.Project, *v1alpha1.Project]
	configs    *declared.Registry[v1alpha1.ProjectConfig, *v1alpha1.ProjectConfig]
	warehouses *declared.Registry[v1alpha1.Warehouse, *v1alpha1.Warehouse]
	freights   *declared.Registry[v1alpha1.Freight, *v1alpha1.Freight]
	stages     *declared.Registry[v1alpha1.Stage, *v1alpha1.Stage]
	promotions *declared.Registry[v1alpha1.Promotion, *v1alpha1.Promotion]
	tasks      *declared.Registry[v1alpha1.PromotionTask, *v1alpha1.PromotionTask]
	shared     *declared.Registry[v1alpha1.ClusterPromotionTask, *v1alpha1.ClusterPromotionTask]
	loop       *rounds.Loop[engine.UnitID]
	tokens     *tokens.Keeper[receiverKey]
	receivers  receivers
	following  sync.Once
	// ctx is that of Start.
	ctx   context.Context
	hooks *webhook.Handler
	// runner carries out steps; pushes to one branch take turns in it.
	runner *steps.Runner
}

// projectKey is the key of the Project whose credentials a step may have, in the context of the step.
type projectKey struct{}

func groupKind(kind string) schema.GroupKind {
	return schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: kind}
}

func newPart(ctx context.Context, host *dialect.Host, o Options) (*part, error) {
	client, err := kubernetes.NewForConfig(host.Config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	reach, err := newNetwork(host.Egress.Requests, host.Rewrites)
	if err != nil {
		return nil, err
	}
	p := &part{
		Host: host, options: o, client: client, network: reach,
		projects:   declared.NewRegistry[v1alpha1.Project](groupKind(v1alpha1.ProjectKind)),
		configs:    declared.NewRegistry[v1alpha1.ProjectConfig](groupKind(v1alpha1.ProjectConfigKind)),
		warehouses: declared.NewRegistry[v1alpha1.Warehouse](groupKind(v1alpha1.WarehouseKind)),
		freights:   declared.NewRegistry[v1alpha1.Freight](groupKind(v1alpha1.FreightKind)),
		stages:     declared.NewRegistry[v1alpha1.Stage](groupKind(v1alpha1.StageKind)),
		promotions: declared.NewRegistry[v1alpha1.Promotion](groupKind(v1alpha1.PromotionKind)),
		tasks:      declared.NewRegistry[v1alpha1.PromotionTask](groupKind(v1alpha1.PromotionTaskKind)),
		shared:     declared.NewRegistry[v1alpha1.ClusterPromotionTask](groupKind(v1alpha1.ClusterPromotionTaskKind)),
	}
	p.runner = &steps.Runner{Sandbox: host.Sandbox, Egress: host.Egress.Requests, HTTP: reach.client, Insecure: reach.insecure, Allow: reach.allow, Login: func(ctx context.Context, repoURL string) (steps.Login, error) {
		project, _ := ctx.Value(projectKey{}).(string)
		return p.login(ctx, project, v1alpha1.GitCredentials, repoURL)
	}}
	p.finder = discover.New(discover.Options{Login: p.login, Allow: reach.allow, HTTP: reach.client, Insecure: reach.insecure, ClearText: o.ClearText})
	p.receivers.hooks = map[string]openHook{}
	p.hooks = webhook.New(webhook.Config{Find: p.receivers.find, Refused: func(hook string, why error) {
		host.Log.V(1).Info("a request was refused", "receiver", hook, "error", why.Error())
	}})
	p.tokens = tokens.New(ctx, host.Home, func(r receiverKey) { p.loop.Wake(idOf(v1alpha1.ProjectConfigKind, r.project, r.project)) })
	p.loop = rounds.New(p, rounds.Options{
		Slots: rounds.NewSlots(atOnce), Backoff: rounds.Backoff{Min: time.Second, Max: 5 * time.Minute}, Log: host.Log, Guard: host.Guard,
	})
	return p, nil
}

// Joins brings nothing to the runner: promotions are no units of delivery.
func (*part) Joins() runner.Part { return runner.Part{} }

// Nudge searches for news where a Warehouse follows a repository that changed.
func (p *part) Nudge(matches func(url string) bool) {
	for _, w := range p.warehouses.All() {
		for _, s := range w.Spec.Subscriptions {
			if matches(addressOf(s)) {
				p.loop.Wake(idOf(v1alpha1.WarehouseKind, w.Namespace, w.Name))
			}
		}
	}
}

// addressOf is the address that a subscription follows.
func addressOf(s v1alpha1.RepoSubscription) string {
	switch {
	case s.Git != nil:
		return s.Git.RepoURL
	case s.Image != nil:
		return s.Image.RepoURL
	case s.Chart != nil:
		return s.Chart.RepoURL
	}
	return ""
}

// Share has Projects share the passes that are made at a time.
func (*part) Share(id engine.UnitID) string { return id.Namespace }

// Wait waits until every pass has ended.
func (p *part) Wait() {
	if p.options.Told {
		p.loop.Wait()
	}
}

// Start watches all kinds, what others refer to first.
func (p *part) Start(ctx context.Context) error {
	if !p.options.Told {
		return nil
	}
	for _, one := range []struct {
		resource string
		to       cluster.Sink
	}{
		{"clusterpromotiontasks", sink(p, p.shared, v1alpha1.ClusterPromotionTaskKind)},
		{"promotiontasks", sink(p, p.tasks, v1alpha1.PromotionTaskKind)},
		{"projects", sink(p, p.projects, v1alpha1.ProjectKind)},
		{"projectconfigs", sink(p, p.configs, v1alpha1.ProjectConfigKind)},
		{"freights", sink(p, p.freights, v1alpha1.FreightKind)},
		{"promotions", sink(p, p.promotions, v1alpha1.PromotionKind)},
		{"warehouses", sink(p, p.warehouses, v1alpha1.WarehouseKind)},
		{"stages", sink(p, p.stages, v1alpha1.StageKind)},
	} {
		if err := p.Home.Watch(ctx, v1alpha1.GroupVersion.WithResource(one.resource), p.Selector, one.to); err != nil {
			return fmt.Errorf("watching %s: %w", one.resource, err)
		}
	}
	p.ctx = ctx
	p.loop.Start(ctx)
	return nil
}

// sink enters objects of a kind, and wakes them and what follows from them.
func sink[T any, P declared.Object[T]](p *part, to *declared.Registry[T, P], kind string) cluster.Sink {
	return cluster.Sink{
		Put: func(u *unstructured.Unstructured) {
			id := idOf(kind, u.GetNamespace(), u.GetName())
			before, had := to.Get(id)
			if _, err := to.Put(u); err != nil {
				p.Problem(kind+" "+u.GetNamespace()+"/"+u.GetName(), err.Error())
				return
			}
			// What a search wrote is no reason for the next one.
			if kind != v1alpha1.WarehouseKind || !had || before.GetGeneration() != u.GetGeneration() || before.GetAnnotations()[v1alpha1.RefreshAnnotation] != u.GetAnnotations()[v1alpha1.RefreshAnnotation] {
				p.loop.Wake(id)
			}
			p.wakeStages(kind, u.GetNamespace())
		},
		Dropped: func(u *unstructured.Unstructured) {
			id := idOf(kind, u.GetNamespace(), u.GetName())
			to.Drop(id)
			if kind == v1alpha1.ProjectConfigKind {
				// Its receivers end.
				p.loop.Wake(id)
			} else {
				p.loop.Forget(id)
				p.limits.Delete(id)
			}
			p.wakeStages(kind, u.GetNamespace())
		},
	}
}

func idOf(kind, namespace, name string) engine.UnitID {
	return engine.UnitID{Group: v1alpha1.GroupVersion.Group, Kind: kind, Namespace: namespace, Name: name}
}

// wakeStages has the Stages of a Project, and their Promotions, look again after a change of something that they depend on.
func (p *part) wakeStages(kind, namespace string) {
	switch kind {
	case v1alpha1.WarehouseKind, v1alpha1.FreightKind, v1alpha1.PromotionKind, v1alpha1.StageKind, v1alpha1.ProjectConfigKind, v1alpha1.PromotionTaskKind:
	default:
		return
	}
	for _, s := range p.stages.All() {
		if s.Namespace == namespace {
			p.loop.Wake(idOf(v1alpha1.StageKind, s.Namespace, s.Name))
		}
	}
	for _, one := range p.promotions.All() {
		if one.Namespace == namespace && !plan.Terminal(one.Status.Phase) {
			p.loop.Wake(idOf(v1alpha1.PromotionKind, one.Namespace, one.Name))
		}
	}
}

// Pass brings an object closer to what it declares.
func (p *part) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	began := time.Now()
	var next rounds.Next
	switch id.Kind {
	case v1alpha1.ProjectKind:
		next = p.project(ctx, id)
	case v1alpha1.ProjectConfigKind:
		next = p.config(ctx, id)
	case v1alpha1.WarehouseKind:
		next = p.warehouse(ctx, id)
	case v1alpha1.FreightKind:
		next = p.alias(ctx, id)
	case v1alpha1.StageKind:
		next = p.stage(ctx, id)
	case v1alpha1.PromotionKind:
		next = p.promotion(ctx, id)
	default:
		return rounds.Rest()
	}
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	p.Metrics.Pass(id.Kind, id.Namespace, id.Name, time.Since(began), true)
	return next
}

// pipeline is a Stage with what its decisions follow from.
func (p *part) pipeline(stage *v1alpha1.Stage) plan.Pipeline {
	return plan.Line(stage, p.warehouses.All(), p.freights.All(), p.promotions.All())
}

func (p *part) writer(kind dialect.Kind) declared.Writer {
	return declared.Writer{Client: p.Home.Dynamic.Resource(kind.GroupVersionResource()), Manager: manager}
}

var (
	_ dialect.Part               = (*part)(nil)
	_ dialect.Hooked             = (*part)(nil)
	_ rounds.Work[engine.UnitID] = (*part)(nil)
)
