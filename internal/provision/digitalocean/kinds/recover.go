package kinds

import (
	"slices"
	"time"
)

// Patience is how long an object may stay invisible that was created by a request without an answer.
const Patience = 60 * time.Second

// Candidate is an object that such a request may have created.
type Candidate struct {
	// Name is its external name, Attempt the one in which it was created, Created when.
	Name    string
	Attempt int
	Created time.Time
}

// Recovery is what to do about a creation whose result is unknown.
type Recovery struct {
	// Adopt is the external name of the object that it made; empty when none is found.
	Adopt string
	// Others were made as well, and are left alone: which of them is used by others is unknown here.
	Others []string
	// Until is when it is certain that nothing was made; zero when an object is adopted, or when that is certain already.
	Until time.Time
}

// Create reports whether another request may be sent.
func (r Recovery) Create() bool { return r.Adopt == "" && r.Until.IsZero() }

// Recover decides about a creation that began at a time, by what is found of it now. Of several objects the oldest is adopted:
// others may use it already.
func Recover(found []Candidate, began, now time.Time) Recovery {
	if len(found) == 0 {
		if certain := began.Add(Patience); now.Before(certain) {
			return Recovery{Until: certain}
		}
		return Recovery{}
	}
	ordered := slices.SortedStableFunc(slices.Values(found), func(a, b Candidate) int {
		if !a.Created.Equal(b.Created) {
			return a.Created.Compare(b.Created)
		}
		return a.Attempt - b.Attempt
	})
	r := Recovery{Adopt: ordered[0].Name}
	for _, other := range ordered[1:] {
		r.Others = append(r.Others, other.Name)
	}
	return r
}
