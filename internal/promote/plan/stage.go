package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// maxHistory is how much Freight, and how many verifications of it, a Stage remembers.
const maxHistory = 10

// Collect is what a Stage will have when a Freight is promoted to it: that Freight, and what it has now of the other origins that it requests.
func Collect(stage *v1alpha1.Stage, freight v1alpha1.FreightReference) *v1alpha1.FreightCollection {
	items := map[string]v1alpha1.FreightReference{OriginKey(freight.Origin): freight}
	if current := Current(stage.Status.FreightHistory); current != nil {
		for _, request := range stage.Spec.RequestedFreight {
			key := OriginKey(request.Origin)
			if had, has := current.Items[key]; has && key != OriginKey(freight.Origin) {
				items[key] = had
			}
		}
	}
	return &v1alpha1.FreightCollection{ID: collectionID(items), Items: items}
}

// collectionID follows from the names of the Freight, as upstream computes it.
func collectionID(items map[string]v1alpha1.FreightReference) string {
	names := make([]string, 0, len(items))
	for _, item := range items {
		names = append(names, item.Name)
	}
	slices.Sort(names)
	return digest(strings.Join(names, ","))
}

// Running is the status of a Stage while a Promotion is carried out.
func Running(stage *v1alpha1.Stage, promotion *v1alpha1.Promotion) v1alpha1.StageStatus {
	status := *stage.Status.DeepCopy()
	status.CurrentPromotion = remember(promotion)
	return status
}

// Finished is the status of a Stage after a Promotion. Its Freight changes only if the Promotion succeeded.
func Finished(stage *v1alpha1.Stage, promotion *v1alpha1.Promotion) v1alpha1.StageStatus {
	status := *stage.Status.DeepCopy()
	status.CurrentPromotion, status.LastPromotion = nil, remember(promotion)
	if promotion.Status.Phase != v1alpha1.PromotionSucceeded || promotion.Status.FreightCollection == nil {
		return status
	}
	// A process that ended after this was recorded records it once more.
	if before := stage.Status.LastPromotion; before != nil && before.Name == promotion.Name && Current(stage.Status.FreightHistory) != nil {
		return status
	}
	status.FreightHistory = append([]*v1alpha1.FreightCollection{promotion.Status.FreightCollection.DeepCopy()}, status.FreightHistory...)
	status.FreightHistory = status.FreightHistory[:min(len(status.FreightHistory), maxHistory)]
	status.FreightSummary = summary(stage.Spec.RequestedFreight, status.FreightHistory[0])
	return status
}

func remember(promotion *v1alpha1.Promotion) *v1alpha1.PromotionReference {
	c := promotion.DeepCopy()
	return &v1alpha1.PromotionReference{Name: c.Name, Freight: c.Status.Freight, Status: &c.Status, FinishedAt: c.Status.FinishedAt}
}

// summary is the name of the Freight if the Stage requests one, or how many requests are fulfilled.
func summary(requests []v1alpha1.FreightRequest, current *v1alpha1.FreightCollection) string {
	fulfilled := 0
	for _, request := range requests {
		item, has := current.Items[OriginKey(request.Origin)]
		if has && len(requests) == 1 {
			return item.Name
		}
		if has {
			fulfilled++
		}
	}
	return fmt.Sprintf("%d/%d Fulfilled", fulfilled, len(requests))
}

// Rollback reports whether a Promotion goes back: it says so, or its Freight is older than the one that the Stage has of the same origin.
func Rollback(p Pipeline, promotion *v1alpha1.Promotion) bool {
	if value := promotion.Annotations[v1alpha1.RollbackAnnotation]; value != "" && value != "false" {
		return true
	}
	target, current := p.freight(promotion.Spec.Freight), Current(p.Stage.Status.FreightHistory)
	if target == nil || current == nil {
		return false
	}
	has := p.freight(current.Items[OriginKey(target.Origin)].Name)
	return has != nil && discovered(target).Before(discovered(has))
}

// Hold is what keeps a Stage from promoting automatically: a person had it promote another Freight than the newest one that is available. Promoting the
// newest one ends that. Only Promotions that succeeded count.
func Hold(p Pipeline, promotion *v1alpha1.Promotion, now time.Time) map[string]v1alpha1.AutoPromotionHold {
	holds := maps.Clone(p.Stage.Status.AutoPromotionHolds)
	freight := p.freight(promotion.Spec.Freight)
	if freight == nil || promotion.Status.Phase != v1alpha1.PromotionSucceeded {
		return holds
	}
	i := slices.IndexFunc(p.Stage.Spec.RequestedFreight, func(r v1alpha1.FreightRequest) bool { return r.Origin == freight.Origin })
	if i < 0 {
		return holds
	}
	key := OriginKey(freight.Origin)
	newest, _, _ := p.candidate(p.Stage.Spec.RequestedFreight[i], now)
	switch {
	case newest != nil && newest.Name == freight.Name:
		delete(holds, key)
	case newest != nil && !Automatic(promotion):
		if holds == nil {
			holds = map[string]v1alpha1.AutoPromotionHold{}
		}
		holds[key] = v1alpha1.AutoPromotionHold{
			FreightName: freight.Name, Origin: freight.Origin, PromotionName: promotion.Name,
			Actor: promotion.Annotations[v1alpha1.CreateActorAnnotation], CreatedAt: promotion.CreationTimestamp.DeepCopy(),
		}
	}
	return holds
}

// Enter notes in the status of a Freight that a Stage uses it.
func Enter(status v1alpha1.FreightStatus, stage string, now time.Time) v1alpha1.FreightStatus {
	c := *status.DeepCopy()
	if _, in := c.CurrentlyIn[stage]; in {
		return c
	}
	if c.CurrentlyIn == nil {
		c.CurrentlyIn = map[string]v1alpha1.CurrentStage{}
	}
	c.CurrentlyIn[stage] = v1alpha1.CurrentStage{Since: &metav1.Time{Time: now}}
	return c
}

// Leave notes that it does not use it any more, and for how long it did if the Freight was verified there.
func Leave(status v1alpha1.FreightStatus, stage string, now time.Time) v1alpha1.FreightStatus {
	c := *status.DeepCopy()
	current, in := c.CurrentlyIn[stage]
	delete(c.CurrentlyIn, stage)
	verified, is := c.VerifiedIn[stage]
	if !in || !is || current.Since == nil {
		return c
	}
	soak := now.Sub(current.Since.Time)
	if verified.LongestSoak == nil || soak > verified.LongestSoak.Duration {
		verified.LongestSoak = &metav1.Duration{Duration: soak}
		c.VerifiedIn[stage] = verified
	}
	return c
}

// Verified notes that a Freight was verified in a Stage; the first time counts.
func Verified(status v1alpha1.FreightStatus, stage string, now time.Time) v1alpha1.FreightStatus {
	c := *status.DeepCopy()
	if _, is := c.VerifiedIn[stage]; is {
		return c
	}
	if c.VerifiedIn == nil {
		c.VerifiedIn = map[string]v1alpha1.VerifiedStage{}
	}
	c.VerifiedIn[stage] = v1alpha1.VerifiedStage{VerifiedAt: &metav1.Time{Time: now}}
	return c
}

// Approve notes that a person approved a Freight for a Stage; the first time counts.
func Approve(status v1alpha1.FreightStatus, stage string, now time.Time) v1alpha1.FreightStatus {
	c := *status.DeepCopy()
	if _, is := c.ApprovedFor[stage]; is {
		return c
	}
	if c.ApprovedFor == nil {
		c.ApprovedFor = map[string]v1alpha1.ApprovedStage{}
	}
	c.ApprovedFor[stage] = v1alpha1.ApprovedStage{ApprovedAt: &metav1.Time{Time: now}}
	return c
}
