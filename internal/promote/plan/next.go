package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// Pipeline is a Stage with the Freight of its Project and the Promotions to it.
type Pipeline struct {
	Stage      *v1alpha1.Stage
	Freight    []v1alpha1.Freight
	Promotions []v1alpha1.Promotion
	// Latest names the Freight that the Warehouse of an origin made last, by OriginKey: times of objects are in seconds, in which there may be several.
	Latest map[string]string
}

// Line is a Stage with those of its Project that decisions about it follow from.
func Line(stage *v1alpha1.Stage, warehouses []*v1alpha1.Warehouse, freight []*v1alpha1.Freight, promotions []*v1alpha1.Promotion) Pipeline {
	line := Pipeline{Stage: stage, Latest: map[string]string{}}
	for _, w := range warehouses {
		if w.Namespace == stage.Namespace && w.Status.LastFreightID != "" {
			line.Latest[OriginKey(v1alpha1.FreightOrigin{Kind: v1alpha1.FreightFromWarehouse, Name: w.Name})] = w.Status.LastFreightID
		}
	}
	for _, f := range freight {
		if f.Namespace == stage.Namespace {
			line.Freight = append(line.Freight, *f)
		}
	}
	for _, one := range promotions {
		if one.Namespace == stage.Namespace && one.Spec.Stage == stage.Name {
			line.Promotions = append(line.Promotions, *one)
		}
	}
	return line
}

// Choice is what automatic promotion does for one requested origin.
type Choice struct {
	Origin v1alpha1.FreightOrigin
	// Freight is the one that is promoted; nil if none is.
	Freight *v1alpha1.Freight
	// Why none is, for a person.
	Why string
	// At is when that may change if nothing else happens; zero if it may not, or that is unknown.
	At time.Time
}

// Next is what automatic promotion does for a Stage, in the order of its requests. It is for Stages whose policies permit it.
func Next(p Pipeline, now time.Time) []Choice {
	choices := make([]Choice, 0, len(p.Stage.Spec.RequestedFreight))
	for _, request := range p.Stage.Spec.RequestedFreight {
		choices = append(choices, p.choose(request, now))
	}
	return choices
}

func (p Pipeline) choose(request v1alpha1.FreightRequest, now time.Time) Choice {
	choice := Choice{Origin: request.Origin}
	key := OriginKey(request.Origin)
	if hold, held := p.Stage.Status.AutoPromotionHolds[key]; held {
		choice.Why = fmt.Sprintf("Freight %q was promoted on request by Promotion %q: promote the newest Freight to resume", hold.FreightName, hold.PromotionName)
		return choice
	}
	candidate, at, why := p.candidate(request, now)
	choice.At = at
	if candidate == nil {
		choice.Why = why
		return choice
	}
	if why := p.Unneeded(candidate); why != "" {
		choice.Why = why
		return choice
	}
	choice.Freight = candidate
	return choice
}

// candidate is the newest Freight of an origin that is available, or with MatchUpstream the one that the upstream Stage uses.
func (p Pipeline) candidate(request v1alpha1.FreightRequest, now time.Time) (found *v1alpha1.Freight, at time.Time, why string) {
	why = fmt.Sprintf("there is no Freight of %s", OriginKey(request.Origin))
	matching := request.Sources.AutoPromotionOptions != nil && request.Sources.AutoPromotionOptions.SelectionPolicy == v1alpha1.SelectMatchUpstream
	if matching && len(request.Sources.Stages) != 1 {
		return nil, at, "selectionPolicy MatchUpstream takes exactly one upstream Stage in sources.stages"
	}
	for i, freight := range p.newestFirst(request.Origin) {
		if matching {
			if _, used := freight.Status.CurrentlyIn[request.Sources.Stages[0]]; !used {
				if i == 0 {
					why = fmt.Sprintf("Stage %q has no Freight of %s", request.Sources.Stages[0], OriginKey(request.Origin))
				}
				continue
			}
		}
		available := Available(p.Stage, freight, now)
		if available.Now {
			return freight, at, ""
		}
		if at.IsZero() || (!available.At.IsZero() && available.At.Before(at)) {
			at = available.At
		}
		if i == 0 || matching {
			why = available.Why
		}
	}
	return nil, at, why
}

// Newest is the newest Freight of an origin, nil where there is none.
func (p Pipeline) Newest(origin v1alpha1.FreightOrigin) *v1alpha1.Freight {
	if all := p.newestFirst(origin); len(all) > 0 {
		return all[0]
	}
	return nil
}

func (p Pipeline) newestFirst(origin v1alpha1.FreightOrigin) []*v1alpha1.Freight {
	var all []*v1alpha1.Freight
	for i := range p.Freight {
		if p.Freight[i].Origin == origin && p.Freight[i].Namespace == p.Stage.Namespace {
			all = append(all, &p.Freight[i])
		}
	}
	slices.SortFunc(all, func(a, b *v1alpha1.Freight) int {
		latest := p.Latest[OriginKey(origin)]
		return cmp.Or(discovered(b).Compare(discovered(a)), first(a.Name == latest, b.Name == latest), strings.Compare(b.Name, a.Name))
	})
	return all
}

// first puts what is so before what is not.
func first(a, b bool) int {
	switch {
	case a && !b:
		return -1
	case b && !a:
		return 1
	}
	return 0
}

// discovered is when a Freight was found: the time that it says, or that of the object.
func discovered(f *v1alpha1.Freight) time.Time {
	if f.DiscoveredAt != nil {
		return f.DiscoveredAt.Time
	}
	return f.CreationTimestamp.Time
}

// Unneeded says why a Freight that could be promoted is not: the Stage has it, a Promotion of it awaits, or the last one of it did not succeed, which
// trying again would repeat without end.
func (p Pipeline) Unneeded(freight *v1alpha1.Freight) string {
	if current := Current(p.Stage.Status.FreightHistory); current != nil && current.Items[OriginKey(freight.Origin)].Name == freight.Name {
		return fmt.Sprintf("the Stage has Freight %q", freight.Name)
	}
	var last *v1alpha1.Promotion
	for i := range p.Promotions {
		promotion := &p.Promotions[i]
		if promotion.Spec.Stage != p.Stage.Name || promotion.Namespace != p.Stage.Namespace {
			continue
		}
		if !Terminal(promotion.Status.Phase) {
			if promotion.Spec.Freight == freight.Name {
				return fmt.Sprintf("Promotion %q of it awaits", promotion.Name)
			}
			continue
		}
		if promotion.Spec.Freight == freight.Name && (last == nil || inOrder(last, promotion) < 0) {
			last = promotion
		}
	}
	if last != nil && last.Status.Phase != v1alpha1.PromotionSucceeded {
		return fmt.Sprintf("Promotion %q of Freight %q ended %s: promote it on request to try again", last.Name, freight.Name, last.Status.Phase)
	}
	return ""
}

// Current is the Freight that a Stage has; nil if it has none.
func Current(history []*v1alpha1.FreightCollection) *v1alpha1.FreightCollection {
	if len(history) == 0 {
		return nil
	}
	return history[0]
}

// Terminal reports whether a Promotion in a phase has ended.
func Terminal(phase v1alpha1.PromotionPhase) bool {
	switch phase {
	case v1alpha1.PromotionSucceeded, v1alpha1.PromotionFailed, v1alpha1.PromotionErrored, v1alpha1.PromotionAborted:
		return true
	default:
		return false
	}
}

const (
	maxName    = 253
	shortName  = 7
	separators = 2
)

// PromotionName is the name of a Promotion: that of the Stage, a ULID and the first digits of the Freight, with dots between them. Names of one Stage
// sort by their time; the entropy, of which every bit counts, keeps those of one millisecond apart.
func PromotionName(stage, freight string, at time.Time, entropy [10]byte) (string, error) {
	if stage == "" || freight == "" {
		return "", fmt.Errorf("naming a Promotion of Stage %q and Freight %q: both have to be given", stage, freight)
	}
	var id ulid.ULID
	if err := id.SetTime(ulid.Timestamp(at)); err != nil {
		return "", fmt.Errorf("naming a Promotion at %s: %w", at, err)
	}
	if err := id.SetEntropy(entropy[:]); err != nil {
		return "", fmt.Errorf("naming a Promotion: %w", err)
	}
	stage = stage[:min(len(stage), maxName-separators-ulid.EncodedSize-shortName)]
	freight = freight[:min(len(freight), shortName)]
	return strings.ToLower(stage + "." + id.String() + "." + freight), nil
}
