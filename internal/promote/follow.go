package promote

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// follow begins to watch the Applications, which may be served here or elsewhere, or not at all, the first time that one is needed.
func (p *part) follow() {
	p.following.Do(func() {
		p.Guard.Go("the watch of Applications", func() {
			// It ends with the part, and repeats itself until then; whatever it does not notice is polled.
			_ = p.Home.Watch(p.ctx, applications, "", cluster.Sink{Put: p.applicationChanged, Dropped: p.applicationChanged})
		})
	})
}

// applicationChanged has those evaluate an Application that wait for it, or have it for their health.
func (p *part) applicationChanged(app *unstructured.Unstructured) {
	for _, one := range p.promotions.All() {
		i := int(one.Status.CurrentStep)
		if one.Status.Phase == v1alpha1.PromotionRunning && i < len(one.Spec.Steps) && one.Spec.Steps[i].Uses == argocdUpdate {
			p.loop.Wake(idOf(v1alpha1.PromotionKind, one.Namespace, one.Name))
		}
	}
	for _, s := range p.stages.All() {
		if last := s.Status.LastPromotion; last != nil && last.Status != nil && plan.Observes(last.Status.HealthChecks, app.GetNamespace(), app.GetName()) {
			p.loop.Wake(idOf(v1alpha1.StageKind, s.Namespace, s.Name))
		}
	}
}
