// Package kinds is what a managed resource of DigitalOcean needs next: pure functions of what is declared, what is observed
// and what was recorded when the object was created.
//
// A function per kind says which fields differ, which of them can be changed in place and by which request, and which need
// another object instead; Replace says what a policy makes of the latter, and Recover what to do about a creation whose result
// is unknown. The package takes values and returns values: it refuses clients, clocks and secrets in what it returns.
package kinds

import (
	"slices"
	"strings"
)

// Condition is how an object is.
type Condition string

// The conditions of an object. Only Available is ready.
const (
	Missing     Condition = "Missing"
	Creating    Condition = "Creating"
	Available   Condition = "Available"
	Unavailable Condition = "Unavailable"
	// Failed objects stay so, such as an image that could not be imported.
	Failed Condition = "Failed"
)

// Change is a field that is not as it is declared. Values that may be secret are left out.
type Change struct{ Field, Want, Have string }

// Verb is what a request does.
type Verb string

// The verbs of requests that change an object in place.
const (
	PowerOff       Verb = "PowerOff"
	PowerOn        Verb = "PowerOn"
	Resize         Verb = "Resize"
	Rename         Verb = "Rename"
	EnableBackups  Verb = "EnableBackups"
	DisableBackups Verb = "DisableBackups"
	EnableIPv6     Verb = "EnableIPv6"
	Tag            Verb = "Tag"
	Untag          Verb = "Untag"
	Attach         Verb = "Attach"
	Detach         Verb = "Detach"
	Describe       Verb = "Describe"
	Transfer       Verb = "Transfer"
	Assign         Verb = "Assign"
	Unassign       Verb = "Unassign"
)

// Call is a request that changes an object in place.
type Call struct {
	Verb Verb
	// To is the new name, size, tag, region or volume.
	To string
	// Disk makes Resize enlarge the disk; Droplet is that of Assign.
	Disk    bool
	Droplet int
	// Description and Distribution are those of Describe.
	Description, Distribution string
}

// Outcome is what is known of an object, and what comes next.
type Outcome struct {
	Condition Condition
	// Message says why it is not available.
	Message string
	// Changes can be made in place; Replace needs another object.
	Changes, Replace []Change
	// Next is the next request that changes it in place, nil when there is none, or none yet.
	Next *Call
	// Wait is set while something is in progress, which has to end first.
	Wait bool
}

// UpToDate reports whether an object is as it is declared.
func (o Outcome) UpToDate() bool { return len(o.Changes) == 0 && len(o.Replace) == 0 }

// OnlyImage reports whether another image is all that an object lacks, so that it can be rebuilt with its number and address.
func (o Outcome) OnlyImage() bool { return len(o.Replace) == 1 && o.Replace[0].Field == imageField }

// imageField is the field of a Droplet with its image.
const imageField = "image"

// change records that a field can be changed in place, and the request that does, unless another one comes first.
func (o *Outcome) change(c Change, by Call) {
	o.Changes = append(o.Changes, c)
	if o.Next == nil && !o.Wait {
		o.Next = &by
	}
}

// replace records that a field needs another object.
func (o *Outcome) replace(field, want, have string) {
	o.Replace = append(o.Replace, Change{field, want, have})
}

// set compares what is declared with what there is, without regard to order and case, and names what is to be added and taken
// away. Nil declares nothing.
func set(want, have []string) (add, remove []string) {
	if want == nil {
		return nil, nil
	}
	contains := func(all []string, one string) bool {
		return slices.ContainsFunc(all, func(other string) bool { return strings.EqualFold(one, other) })
	}
	for _, one := range want {
		if !contains(have, one) && !contains(add, one) {
			add = append(add, one)
		}
	}
	for _, one := range have {
		if !contains(want, one) {
			remove = append(remove, one)
		}
	}
	return add, remove
}

// listed is a list as a change shows it.
func listed(all []string) string {
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	return strings.Join(sorted, ",")
}

// value is what an optional field declares, empty for nothing.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
