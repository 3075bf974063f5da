package appset

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// DeletionBudgetAnnotation is on an ApplicationSet, and says how many of its Applications one pass may delete: a
	// number, or a percentage of those that there are. By default it is half of them, and one in any case. "100%"
	// permits everything, also where a generator that gave something gives nothing any more.
	DeletionBudgetAnnotation = "headgate.dev/deletion-budget"
	// DeletionApprovedAnnotation is on an ApplicationSet, and agrees to deletions that are held: by the digest that
	// names them, or by a time of the last hour, as RFC 3339 writes it.
	DeletionApprovedAnnotation = "headgate.dev/deletion-approved"
)

// approvalHolds is how long a time of approval counts.
const approvalHolds = time.Hour

// deletions plans what becomes of Applications that are no longer generated.
func (p *planning) deletions(generated Generated) {
	wanted := map[string]bool{}
	for name := range generated.Origins {
		wanted[name] = true
	}
	var nameless string
	for _, problem := range generated.Problems {
		if problem.Unnamed {
			nameless = problem.Message
		}
	}
	owned := 0
	var gone []*unstructured.Unstructured
	for _, live := range p.live {
		if !p.set.owns(live) || live.GetDeletionTimestamp() != nil {
			continue
		}
		owned++
		if !wanted[live.GetName()] {
			gone = append(gone, live)
		}
	}
	slices.SortFunc(gone, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	if len(gone) == 0 {
		return
	}
	why := "no generator produces it any more, and "
	switch {
	case !p.options.Policy.Delete:
		why += "the policy permits no deletions"
	case nameless != "":
		why += "it may be one whose name is invalid now: " + nameless
		p.plan.Refused = "nothing is deleted while the name of an Application is invalid: " + nameless
	default:
		p.plan.Refused = p.refusal(generated, gone, owned)
		why += "its deletion is held: " + p.plan.Refused
	}
	if p.options.Policy.Delete && p.plan.Refused == "" {
		p.plan.Delete = gone
		return
	}
	for _, app := range gone {
		p.keep(app.GetName(), why)
	}
}

// refusal says why deletions are held, or nothing.
func (p *planning) refusal(generated Generated, gone []*unstructured.Unstructured, owned int) string {
	var names []string
	for _, app := range gone {
		names = append(names, app.GetName()+"/"+string(app.GetUID()))
	}
	digest := digestOf(names)
	budget, all, err := budgetOf(p.set.Annotations[DeletionBudgetAnnotation], owned)
	var why string
	switch {
	case err != nil:
		why = fmt.Sprintf("annotation %s: %s", DeletionBudgetAnnotation, err)
	case all:
		return ""
	case len(generated.Origins) == 0 && len(generated.Problems) == 0:
		why = fmt.Sprintf("the generators produce nothing, and there are %d Applications", owned)
	case p.driedUp(generated):
		why = "a generator that produced parameters before produces nothing"
	case len(gone) > budget:
		why = fmt.Sprintf("%d of %d Applications would be deleted, and the limit is %d at once", len(gone), owned, budget)
	default:
		return ""
	}
	approved, note := p.approved(digest)
	if approved {
		return ""
	}
	p.plan.Digest = digest
	return fmt.Sprintf("%s (%s). To approve the deletions, annotate the ApplicationSet with %s=%s%s",
		why, shortly(gone), DeletionApprovedAnnotation, digest, note)
}

// remember keeps what generators gave, for the next pass.
func (p *planning) remember(generated Generated) {
	p.plan.Yields = maps.Clone(generated.Yields)
	for digest, before := range p.options.Previous {
		if now, there := generated.Yields[digest]; there && now == 0 && p.plan.Refused != "" {
			p.plan.Yields[digest] = before
		}
	}
}

// driedUp says whether a generator gives nothing that gave something in the pass before.
func (p *planning) driedUp(generated Generated) bool {
	for digest, before := range p.options.Previous {
		if now, there := generated.Yields[digest]; there && now == 0 && before > 0 {
			return true
		}
	}
	return false
}

// approved says whether deletions were approved, and if the approval does not count, why.
func (p *planning) approved(digest string) (bool, string) {
	said := p.set.Annotations[DeletionApprovedAnnotation]
	if said == "" || said == digest {
		return said != "", ""
	}
	at, err := time.Parse(time.RFC3339, said)
	if err != nil {
		return false, fmt.Sprintf("; %q approves other deletions", said)
	}
	if age := p.options.Now.Sub(at); age > approvalHolds || age < -time.Minute {
		return false, fmt.Sprintf("; %s is not within the last hour", said)
	}
	return true, ""
}

// budgetOf is how many Applications of so many may be deleted at once, and whether that is all without a question.
func budgetOf(text string, owned int) (budget int, all bool, err error) {
	if text == "" {
		return max(1, owned/2), false, nil
	}
	share, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	number, err := strconv.Atoi(share)
	if err != nil || number < 0 || percent && number > 100 {
		return 0, false, errors.New(`write a number such as "3", or a percentage such as "25%"`)
	}
	if !percent {
		return number, false, nil
	}
	if number == 100 {
		return owned, true, nil
	}
	budget = owned * number / 100
	if number > 0 {
		budget = max(1, budget)
	}
	return budget, false, nil
}

// shortly names the first few.
func shortly(apps []*unstructured.Unstructured) string {
	const few = 5
	var names []string
	for _, app := range apps[:min(few, len(apps))] {
		names = append(names, app.GetName())
	}
	text := strings.Join(names, ", ")
	if more := len(apps) - few; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
