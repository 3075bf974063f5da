package commands

import (
	"context"
	"fmt"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Causes are why a Stage is not ready: the Promotion that runs or failed, the Applications that are not healthy, the Freight that it waits for.
func (Verbs) Causes(ctx context.Context, s dialect.Session, u *unstructured.Unstructured) iter.Seq[dialect.Cause] {
	return func(yield func(dialect.Cause) bool) {
		if u.GroupVersionKind().GroupKind() != kind(v1alpha1.StageKind) {
			return
		}
		stage, err := declared.Read[v1alpha1.Stage](u)
		if err != nil {
			yield(dialect.Cause{Text: "✗ " + err.Error()})
			return
		}
		p, err := gather(ctx, s, stage.Namespace)
		if err != nil {
			yield(dialect.Cause{Text: "✗ " + err.Error()})
			return
		}
		for _, cause := range p.causes(stage, time.Now()) {
			if !yield(cause) {
				return
			}
		}
	}
}

func (p *project) causes(stage *v1alpha1.Stage, now time.Time) []dialect.Cause {
	var all []dialect.Cause
	if current := stage.Status.CurrentPromotion; current != nil {
		all = append(all, dialect.Cause{Text: "◌ " + p.progress(stage.Namespace, current.Name)})
	}
	last := stage.Status.LastPromotion
	if last != nil && last.Status != nil && last.Status.Phase != v1alpha1.PromotionSucceeded {
		text := fmt.Sprintf("✗ Promotion %q ended %s: %s", last.Name, last.Status.Phase, oneLine(last.Status.Message))
		if last.Freight != nil {
			text += fmt.Sprintf("; try: headgate promote %s/%s --freight %s", stage.Namespace, stage.Name, short(last.Freight.Name))
		}
		all = append(all, dialect.Cause{Text: text})
	}
	if h := stage.Status.Health; h != nil && h.Status != v1alpha1.HealthHealthy && last != nil && last.Status != nil {
		for _, check := range last.Status.HealthChecks {
			all = append(all, applicationsOf(check)...)
		}
	}
	for _, text := range p.awaited(stage, now) {
		all = append(all, dialect.Cause{Text: "· " + text})
	}
	for _, request := range stage.Spec.RequestedFreight {
		if p.of(stage).Newest(request.Origin) == nil && request.Origin.Kind == v1alpha1.FreightFromWarehouse {
			all = append(all, dialect.Cause{Unit: engine.UnitID{
				Group: v1alpha1.GroupVersion.Group, Kind: v1alpha1.WarehouseKind, Namespace: stage.Namespace, Name: request.Origin.Name,
			}})
		}
	}
	return all
}

// progress says what a Promotion does.
func (p *project) progress(namespace, name string) string {
	for _, one := range p.promotions {
		if one.Namespace != namespace || one.Name != name {
			continue
		}
		alias, message := stepOf(one)
		text := fmt.Sprintf("Promotion %q is at step %d of %d (%s)", name, one.Status.CurrentStep+1, len(one.Spec.Steps), alias)
		if message != "" {
			text += ": " + oneLine(message)
		}
		return text
	}
	return fmt.Sprintf("Promotion %q is in progress", name)
}

// applicationsOf are the Applications that a check is about.
func applicationsOf(check v1alpha1.HealthCheckStep) []dialect.Cause {
	apps, _ := check.Config["apps"].([]any)
	var all []dialect.Cause
	for _, item := range apps {
		app, _ := item.(map[string]any)
		name, _ := app["name"].(string)
		namespace, _ := app["namespace"].(string)
		if name != "" {
			all = append(all, dialect.Cause{Unit: engine.UnitID{Group: "argoproj.io", Kind: "Application", Namespace: namespace, Name: name}})
		}
	}
	return all
}

var _ dialect.Causing = Verbs{}
