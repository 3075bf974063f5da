package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// Availability says whether a Stage may have a Freight.
type Availability struct {
	// Now is true if it may.
	Now bool
	// At is when it may if nothing else happens; zero if that is unknown.
	At time.Time
	// Why it may not, for a person.
	Why string
}

// Available reports whether a Stage may have a Freight: it was approved for the Stage, the Stage takes it directly from its Warehouse, or it was
// verified in upstream Stages and used there for as long as the Stage requires.
func Available(stage *v1alpha1.Stage, freight *v1alpha1.Freight, now time.Time) Availability {
	if freight.Namespace != stage.Namespace {
		return Availability{Why: fmt.Sprintf("Freight %q belongs to another Project", freight.Name)}
	}
	if _, approved := freight.Status.ApprovedFor[stage.Name]; approved {
		return Availability{Now: true}
	}
	i := slices.IndexFunc(stage.Spec.RequestedFreight, func(r v1alpha1.FreightRequest) bool { return r.Origin == freight.Origin })
	if i < 0 {
		return Availability{Why: fmt.Sprintf("Stage %q does not request Freight of %s", stage.Name, OriginKey(freight.Origin))}
	}
	sources := stage.Spec.RequestedFreight[i].Sources
	if sources.Direct {
		return Availability{Now: true}
	}
	var required time.Duration
	if sources.RequiredSoakTime != "" {
		var err error
		if required, err = time.ParseDuration(sources.RequiredSoakTime); err != nil {
			return Availability{Why: fmt.Sprintf("requiredSoakTime %q of Stage %q is not a duration", sources.RequiredSoakTime, stage.Name)}
		}
	}
	if len(sources.Stages) == 0 {
		return Availability{Why: fmt.Sprintf("Stage %q names neither its Warehouse nor other Stages as sources", stage.Name)}
	}
	each := make([]Availability, 0, len(sources.Stages))
	for _, upstream := range sources.Stages {
		each = append(each, soaked(freight, upstream, required, now))
	}
	if sources.AvailabilityStrategy == v1alpha1.AvailableInAll {
		return inAll(each)
	}
	return inOne(each)
}

// soaked reports whether a Freight was verified in one Stage, and was there long enough.
func soaked(freight *v1alpha1.Freight, upstream string, required time.Duration, now time.Time) Availability {
	if _, verified := freight.Status.VerifiedIn[upstream]; !verified {
		return Availability{Why: fmt.Sprintf("Freight %q is not verified in Stage %q", freight.Name, upstream)}
	}
	soak := Soak(freight, upstream, now)
	if soak >= required {
		return Availability{Now: true}
	}
	a := Availability{Why: fmt.Sprintf("Freight %q has to be in Stage %q for %s", freight.Name, upstream, required)}
	if current, in := freight.Status.CurrentlyIn[upstream]; in && current.Since != nil {
		a.At = current.Since.Add(required)
	}
	return a
}

// Soak is the longest time for which a Stage has used a Freight that was verified there; zero if it was not.
func Soak(freight *v1alpha1.Freight, stage string, now time.Time) time.Duration {
	verified, is := freight.Status.VerifiedIn[stage]
	if !is {
		return 0
	}
	var longest time.Duration
	if verified.LongestSoak != nil {
		longest = verified.LongestSoak.Duration
	}
	if current, in := freight.Status.CurrentlyIn[stage]; in && current.Since != nil {
		longest = max(longest, now.Sub(current.Since.Time))
	}
	return longest
}

func inAll(each []Availability) Availability {
	all := Availability{Now: true}
	known := true
	for _, a := range each {
		if a.Now {
			continue
		}
		if all.Now {
			all = Availability{Why: a.Why}
		}
		known = known && !a.At.IsZero()
		if a.At.After(all.At) {
			all.At = a.At
		}
	}
	if !known {
		all.At = time.Time{}
	}
	return all
}

func inOne(each []Availability) Availability {
	one := each[0]
	for _, a := range each {
		switch {
		case a.Now:
			return a
		case !a.At.IsZero() && (one.At.IsZero() || a.At.Before(one.At)):
			one = a
		}
	}
	return one
}
