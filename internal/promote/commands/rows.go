package commands

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// short is a name of Freight as people say it: its first digits.
func short(freight string) string { return freight[:min(len(freight), 7)] }

func names[V any](all map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

func warehouseRow(w *v1alpha1.Warehouse) []string {
	var follows []string
	for _, s := range w.Spec.Subscriptions {
		switch {
		case s.Git != nil:
			follows = append(follows, s.Git.RepoURL)
		case s.Image != nil:
			follows = append(follows, s.Image.RepoURL)
		case s.Chart != nil:
			follows = append(follows, strings.TrimSpace(s.Chart.RepoURL+" "+s.Chart.Name))
		}
	}
	return []string{strings.Join(follows, ", "), short(w.Status.LastFreightID)}
}

func freightRow(f *v1alpha1.Freight) []string {
	return []string{
		aliasOf(f), f.Origin.Name, strings.Join(plan.Contents(plan.Reference(f)), ", "), names(f.Status.CurrentlyIn), names(f.Status.VerifiedIn),
	}
}

// aliasOf is the name for people.
func aliasOf(f *v1alpha1.Freight) string {
	if f.Alias != "" {
		return f.Alias
	}
	return f.Labels[v1alpha1.AliasLabel]
}

func stageRow(s *v1alpha1.Stage) []string {
	health := ""
	if s.Status.Health != nil {
		health = string(s.Status.Health.Status)
	}
	promotion := ""
	if current := s.Status.CurrentPromotion; current != nil {
		promotion = current.Name
	}
	return []string{strings.Join(contentsOf(s), ", "), health, promotion, automatic(s)}
}

// contentsOf is what a Stage has now.
func contentsOf(s *v1alpha1.Stage) []string {
	current := plan.Current(s.Status.FreightHistory)
	if current == nil {
		return nil
	}
	var all []string
	for _, origin := range slices.Sorted(maps.Keys(current.Items)) {
		all = append(all, plan.Contents(current.Items[origin])...)
	}
	return all
}

// automatic says whether new Freight is promoted without a person.
func automatic(s *v1alpha1.Stage) string {
	switch {
	case !s.Status.AutoPromotionEnabled:
		return "no"
	case len(s.Status.AutoPromotionHolds) > 0:
		return "held"
	}
	return "yes"
}

func promotionRow(p *v1alpha1.Promotion) []string {
	freight := short(p.Spec.Freight)
	if p.Status.Freight != nil {
		freight = strings.Join(plan.Contents(*p.Status.Freight), ", ")
	}
	phase := p.Status.Phase
	if phase == "" {
		phase = v1alpha1.PromotionPending
	}
	message := p.Status.Message
	if message == "" && !plan.Terminal(phase) {
		_, message = stepOf(p)
	}
	done := min(int(p.Status.CurrentStep), len(p.Spec.Steps))
	return []string{p.Spec.Stage, freight, string(phase), fmt.Sprintf("%d/%d", done, len(p.Spec.Steps)), oneLine(message)}
}

// stepOf is the step that is in progress, and what it says.
func stepOf(p *v1alpha1.Promotion) (alias, message string) {
	i := int(p.Status.CurrentStep)
	if i >= len(p.Spec.Steps) {
		return "", ""
	}
	alias = plan.Alias(p.Spec.Steps[i], i)
	if i < len(p.Status.StepExecutionMetadata) {
		message = p.Status.StepExecutionMetadata[i].Message
	}
	return alias, message
}
