package commands

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// project is what pipelines consist of, in one namespace or in all.
type project struct {
	warehouses []*v1alpha1.Warehouse
	stages     []*v1alpha1.Stage
	freight    []*v1alpha1.Freight
	promotions []*v1alpha1.Promotion
}

func gather(ctx context.Context, s dialect.Session, namespace string) (*project, error) {
	p := &project{}
	var err error
	if p.warehouses, err = list[v1alpha1.Warehouse](ctx, s, "warehouses", namespace); err != nil {
		return nil, err
	}
	if p.stages, err = list[v1alpha1.Stage](ctx, s, "stages", namespace); err != nil {
		return nil, err
	}
	if p.freight, err = list[v1alpha1.Freight](ctx, s, "freights", namespace); err != nil {
		return nil, err
	}
	if p.promotions, err = list[v1alpha1.Promotion](ctx, s, "promotions", namespace); err != nil {
		return nil, err
	}
	return p, nil
}

func list[T any, P declared.Object[T]](ctx context.Context, s dialect.Session, plural, namespace string) ([]P, error) {
	found, err := s.Client().Resource(resource(plural)).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the %s: %w", plural, err)
	}
	var all []P
	for i := range found.Items {
		o, err := declared.Read[T](&found.Items[i])
		if err != nil {
			return nil, fmt.Errorf("reading %s %s/%s: %w", plural, found.Items[i].GetNamespace(), found.Items[i].GetName(), err)
		}
		all = append(all, o)
	}
	return all, nil
}

// of is a Stage with what decisions about it follow from.
func (p *project) of(stage *v1alpha1.Stage) plan.Pipeline {
	return plan.Line(stage, p.warehouses, p.freight, p.promotions)
}

// awaited says for each origin of a Stage what has to happen until the Stage has its newest Freight; nothing where it has that.
func (p *project) awaited(stage *v1alpha1.Stage, now time.Time) []string {
	line := p.of(stage)
	current := plan.Current(stage.Status.FreightHistory)
	var all []string
	for _, request := range stage.Spec.RequestedFreight {
		newest := line.Newest(request.Origin)
		key := plan.OriginKey(request.Origin)
		switch {
		case newest == nil:
			all = append(all, fmt.Sprintf("there is no Freight of %s yet", key))
			continue
		case current != nil && current.Items[key].Name == newest.Name:
			continue
		}
		hold, held := stage.Status.AutoPromotionHolds[key]
		what := said(newest)
		switch available := plan.Available(stage, newest, now); {
		case !available.Now && !available.At.IsZero():
			all = append(all, fmt.Sprintf("%s: %s, until %s", what, available.Why, available.At.Format(time.TimeOnly)))
		case !available.Now:
			all = append(all, what+": "+available.Why)
		case stage.Status.CurrentPromotion != nil:
			all = append(all, fmt.Sprintf("%s: Promotion %q is in progress", what, stage.Status.CurrentPromotion.Name))
		case held:
			all = append(all, fmt.Sprintf("%s: the Stage is held since %s promoted another Freight: headgate promote %s/%s --freight %s",
				what, cmp.Or(strings.TrimPrefix(hold.Actor, plan.PersonActor), "a person"), stage.Namespace, stage.Name, cmp.Or(aliasOf(newest), newest.Name)))
		case !stage.Status.AutoPromotionEnabled:
			all = append(all, fmt.Sprintf("%s is available, and a person promotes it: headgate promote %s/%s --freight %s",
				what, stage.Namespace, stage.Name, cmp.Or(aliasOf(newest), newest.Name)))
		default:
			if why := line.Unneeded(newest); why != "" {
				all = append(all, what+": "+why)
			}
		}
	}
	return all
}

// Pipelines are the Warehouses and Stages of a namespace, or of all, in the order in which Freight passes them.
func (Verbs) Pipelines(ctx context.Context, s dialect.Session, namespace string) ([]dialect.Environment, error) {
	p, err := gather(ctx, s, namespace)
	if err != nil {
		return nil, err
	}
	unit := func(kind, namespace, name string) engine.UnitID {
		return engine.UnitID{Group: v1alpha1.GroupVersion.Group, Kind: kind, Namespace: namespace, Name: name}
	}
	all := map[engine.UnitID]dialect.Environment{}
	for _, w := range p.warehouses {
		e := dialect.Environment{Unit: unit(v1alpha1.WarehouseKind, w.Namespace, w.Name)}
		for _, f := range p.freight {
			if f.Namespace == w.Namespace && f.Name == w.Status.LastFreightID {
				e.Has = plan.Contents(plan.Reference(f))
			}
		}
		for _, c := range w.Status.Conditions {
			if c.Type == "Ready" && c.Status == metav1.ConditionFalse {
				e.Waits = append(e.Waits, oneLine(c.Message))
			}
		}
		all[e.Unit] = e
	}
	for _, stage := range p.stages {
		e := dialect.Environment{Unit: unit(v1alpha1.StageKind, stage.Namespace, stage.Name), Has: contentsOf(stage), Waits: p.awaited(stage, time.Now())}
		if h := stage.Status.Health; h != nil {
			e.State = string(h.Status)
		}
		for _, request := range stage.Spec.RequestedFreight {
			if request.Sources.Direct {
				e.From = append(e.From, unit(v1alpha1.WarehouseKind, stage.Namespace, request.Origin.Name))
			}
			for _, upstream := range request.Sources.Stages {
				if from := unit(v1alpha1.StageKind, stage.Namespace, upstream); !slices.Contains(e.From, from) {
					e.From = append(e.From, from)
				}
			}
		}
		all[e.Unit] = e
	}
	return inOrder(all), nil
}

// inOrder puts each after those that it takes from; those in a cycle come last.
func inOrder(all map[engine.UnitID]dialect.Environment) []dialect.Environment {
	names := slices.SortedFunc(maps.Keys(all), func(a, b engine.UnitID) int {
		// Warehouses come before Stages.
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(b.Kind, a.Kind), cmp.Compare(a.Name, b.Name))
	})
	var ordered []dialect.Environment
	done := map[engine.UnitID]bool{}
	for len(ordered) < len(all) {
		before := len(ordered)
		for _, id := range names {
			ready := !done[id]
			for _, from := range all[id].From {
				_, there := all[from]
				ready = ready && (done[from] || !there)
			}
			if ready {
				done[id] = true
				ordered = append(ordered, all[id])
			}
		}
		if len(ordered) > before {
			continue
		}
		for _, id := range names {
			if !done[id] {
				done[id] = true
				ordered = append(ordered, all[id])
			}
		}
	}
	return ordered
}
