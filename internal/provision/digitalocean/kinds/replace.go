package kinds

import (
	"fmt"
	"strings"
)

// Policy is what is done when a field differs that cannot be changed in place.
type Policy string

// The policies of replacement.
const (
	// Never keeps the object, and says what differs.
	Never Policy = "Never"
	// Recreate deletes the object and creates another one.
	Recreate Policy = "Recreate"
	// CreateBeforeDestroy creates the other one first, and deletes the object once that is available.
	CreateBeforeDestroy Policy = "CreateBeforeDestroy"
	// RebuildInPlace gives a Droplet another image: it keeps its number and addresses, and loses its disk.
	RebuildInPlace Policy = "RebuildInPlace"
)

// DefaultPolicy is the policy of a resource that declares none. An image that a Secret or a Build names is there to be
// followed; any other change may be a mistake, which costs a machine.
func DefaultPolicy(imageIsBuilt bool) Policy {
	if imageIsBuilt {
		return Recreate
	}
	return Never
}

// ParsePolicy reads a policy; empty is the default.
func ParsePolicy(text string, imageIsBuilt bool) (Policy, error) {
	switch p := Policy(text); p {
	case "":
		return DefaultPolicy(imageIsBuilt), nil
	case Never, Recreate, CreateBeforeDestroy, RebuildInPlace:
		return p, nil
	}
	return Never, fmt.Errorf("replacement policy %q: use %s, %s, %s or %s", text, Never, Recreate, CreateBeforeDestroy, RebuildInPlace)
}

// Step is what a replacement does next.
type Step string

// The steps of a replacement.
const (
	// Keep does nothing: nothing needs another object, or the policy, or something missing, forbids it.
	Keep Step = "Keep"
	// Rebuild sends the request that gives a Droplet another image.
	Rebuild Step = "Rebuild"
	// Delete deletes the object; it is created again since it is missing.
	Delete Step = "Delete"
	// CreateSuccessor creates the object that is to be the next.
	CreateSuccessor Step = "CreateSuccessor"
	// AwaitSuccessor waits until that is available.
	AwaitSuccessor Step = "AwaitSuccessor"
	// Promote makes the successor the object of the resource, moves what refers to it, and deletes the other one.
	Promote Step = "Promote"
	// DropSuccessor deletes the successor, which is not needed any more.
	DropSuccessor Step = "DropSuccessor"
)

// ReplacementRequired is the reason of a resource whose object is kept although another one is needed.
const ReplacementRequired = "ReplacementRequired"

// ReplaceFacts are what a replacement is decided by, besides the comparison.
type ReplaceFacts struct {
	Policy Policy
	// Usable says that the request for another object would be accepted, as far as is known: its image is available in its
	// region. Without it nothing is deleted. Unusable says what is missing.
	Usable   bool
	Unusable string
	// Successor is how the object is that is to be the next, Missing or empty when there is none.
	Successor Condition
}

// Replacement is the next step of a replacement, and why it is none.
type Replacement struct {
	Step Step
	// Reason and Message are set where the object is kept although another one is needed.
	Reason, Message string
}

// Replace decides about what cannot be changed in place. A successor that exists is always brought to an end, whatever the policy
// says by now: two objects are one too many.
func Replace(o Outcome, f ReplaceFacts) Replacement {
	switch exists := f.Successor != "" && f.Successor != Missing; {
	case exists && o.Condition != Missing && len(o.Replace) == 0:
		return Replacement{Step: DropSuccessor}
	case exists && f.Successor == Available:
		return Replacement{Step: Promote}
	case exists:
		return Replacement{Step: AwaitSuccessor}
	case len(o.Replace) == 0 || o.Condition == Missing:
		return Replacement{Step: Keep}
	case f.Policy == RebuildInPlace && !o.OnlyImage():
		return kept(o, "only another image can be given to it in place")
	case f.Policy == Never || f.Policy == "":
		return kept(o, "the replacement policy is Never")
	case !f.Usable:
		return kept(o, f.Unusable)
	case o.Wait:
		return kept(o, "an action is in progress")
	}
	return Replacement{Step: map[Policy]Step{RebuildInPlace: Rebuild, Recreate: Delete, CreateBeforeDestroy: CreateSuccessor}[f.Policy]}
}

// kept says which fields would need another object, and why there is none.
func kept(o Outcome, why string) Replacement {
	var fields []string
	for _, c := range o.Replace {
		field := c.Field
		if c.Want != "" || c.Have != "" {
			field = fmt.Sprintf("%s (%q, not %q)", c.Field, c.Have, c.Want)
		}
		fields = append(fields, field)
	}
	return Replacement{Step: Keep, Reason: ReplacementRequired, Message: fmt.Sprintf("another object is needed to change %s: %s", strings.Join(fields, ", "), why)}
}
