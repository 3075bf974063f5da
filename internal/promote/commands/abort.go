package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// abort ends the Promotion of a Stage that is in progress, or else the first that waits, and waits until it has ended. It returns false if there is none,
// and if that Promotion ended otherwise meanwhile.
func abort(ctx context.Context, s dialect.Session, stage *v1alpha1.Stage, wait bool) (bool, error) {
	list, err := s.Client().Resource(resource("promotions")).Namespace(stage.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, fmt.Errorf("reading the Promotions of Project %q: %w", stage.Namespace, err)
	}
	var all []v1alpha1.Promotion
	for i := range list.Items {
		// One that cannot be read is not in progress.
		if one, err := declared.Read[v1alpha1.Promotion](&list.Items[i]); err == nil {
			all = append(all, *one)
		}
	}
	name := unfinished(stage, all)
	if name == "" {
		return false, s.Say(false, fmt.Sprintf("Stage %s/%s: no Promotion is in progress", stage.Namespace, stage.Name))
	}
	value, err := json.Marshal(map[string]any{"action": "terminate", "actor": person()})
	if err != nil {
		return false, fmt.Errorf("writing annotation %s: %w", v1alpha1.AbortAnnotation, err)
	}
	id := engine.UnitID{Group: v1alpha1.GroupVersion.Group, Kind: v1alpha1.PromotionKind, Namespace: stage.Namespace, Name: name}
	change := map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.AbortAnnotation: string(value)}}}
	if err := s.Change(ctx, id, change); err != nil {
		return false, fmt.Errorf("aborting Promotion %s/%s: %w", stage.Namespace, name, err)
	}
	if !wait {
		return true, s.Say(true, fmt.Sprintf("the end of Promotion %s/%s is requested", stage.Namespace, name))
	}
	u, err := s.Until(ctx, id, &followed{session: s, told: map[string]bool{}})
	if err != nil {
		return false, err
	}
	ended, err := declared.Read[v1alpha1.Promotion](u)
	if err != nil {
		return false, fmt.Errorf("reading Promotion %s/%s: %w", stage.Namespace, name, err)
	}
	aborted := ended.Status.Phase == v1alpha1.PromotionAborted
	return aborted, s.Say(aborted, fmt.Sprintf("Promotion %s/%s ended %s: %s", stage.Namespace, name, ended.Status.Phase, oneLine(ended.Status.Message)))
}

// unfinished is the name of the Promotion of a Stage that is in progress, or else of the first that waits; empty if there is none.
func unfinished(stage *v1alpha1.Stage, all []v1alpha1.Promotion) string {
	var names []string
	for i := range all {
		if all[i].Namespace == stage.Namespace && all[i].Spec.Stage == stage.Name && !plan.Terminal(all[i].Status.Phase) {
			names = append(names, all[i].Name)
		}
	}
	if current := stage.Status.CurrentPromotion; current != nil && slices.Contains(names, current.Name) {
		return current.Name
	}
	if len(names) == 0 {
		return ""
	}
	// Names have ULIDs, which sort by time.
	return slices.Min(names)
}
