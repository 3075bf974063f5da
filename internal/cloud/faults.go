package cloud

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"time"
)

// Kind is what goes wrong.
type Kind string

// The kinds of faults. The first ones concern the answer, the others what a request starts.
const (
	// Refuse answers with Status, and nothing is done.
	Refuse Kind = "refuse"
	// LoseAnswer does what is requested, and answers with Status.
	LoseAnswer Kind = "lose-answer"
	// Drop does what is requested, and closes the connection without an answer.
	Drop Kind = "drop"
	// Throttle answers that there were too many requests, to be retried after For.
	Throttle Kind = "throttle"
	// Late hides for the time For what is created: it answers 404, and no list has it.
	Late Kind = "late"
	// SlowImport makes the import of an image last For longer.
	SlowImport Kind = "slow-import"
	// FailImport ends the import of an image with Message.
	FailImport Kind = "fail-import"
	// Fail ends an action as errored; a Droplet whose creation fails is gone.
	Fail Kind = "fail"
)

// kinds are those that there are.
var kinds = [...]Kind{Refuse, LoseAnswer, Drop, Throttle, Late, SlowImport, FailImport, Fail}

// Fault is something that goes wrong with the requests that match. Several may apply to one request.
type Fault struct {
	Kind Kind `json:"kind"`
	// Method and Path select requests; Path is a pattern such as "/v2/droplets/*/actions". Empty selects all.
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	// Skip is how many requests that match pass first, Times how many it then applies to: 0 is one, -1 all.
	Skip  int `json:"skip,omitempty"`
	Times int `json:"times,omitempty"`
	// Status is the answer of Refuse and LoseAnswer, 502 if it is 0.
	Status  int           `json:"status,omitempty"`
	For     time.Duration `json:"for,omitempty"`
	Message string        `json:"message,omitempty"`
}

// check reports a fault that could never apply.
func (f Fault) check() error {
	if !slices.Contains(kinds[:], f.Kind) {
		return fmt.Errorf("fault of kind %q: use one of %v", f.Kind, kinds)
	}
	if _, err := path.Match(f.Path, "/"); err != nil {
		return fmt.Errorf("fault of kind %q: path %q: %w", f.Kind, f.Path, err)
	}
	return nil
}

func (f *Fault) matches(method, at string) bool {
	if f.Method != "" && f.Method != method {
		return false
	}
	matched, err := path.Match(f.Path, at)
	return f.Path == "" || err == nil && matched
}

// hit are the faults that apply to one request.
type hit []Fault

// hits takes the faults that apply to a request, and forgets those that are used up.
func (s *State) hits(method, at string) hit {
	var applied hit
	s.Faults = slices.DeleteFunc(s.Faults, func(f *Fault) bool {
		if !f.matches(method, at) {
			return false
		}
		if f.Skip > 0 {
			f.Skip--
			return false
		}
		applied = append(applied, *f)
		if f.Times > 0 {
			f.Times--
		}
		return f.Times == 0
	})
	return applied
}

// of is the fault of a kind, if one applies.
func (h hit) of(kind Kind) (Fault, bool) {
	at := slices.IndexFunc(h, func(f Fault) bool { return f.Kind == kind })
	if at < 0 {
		return Fault{}, false
	}
	return h[at], true
}

// names are the kinds, for the audit log.
func (h hit) names() []Kind {
	var all []Kind
	for _, f := range h {
		all = append(all, f.Kind)
	}
	return all
}

// inject adds faults; one that says nothing of it applies once.
func (s *State) inject(faults []Fault) {
	for _, f := range faults {
		if f.Times == 0 {
			f.Times = 1
		}
		s.Faults = append(s.Faults, &f)
	}
}

// status is the status of an answer that is not what was done.
func (f Fault) status() int {
	if f.Status == 0 {
		return http.StatusBadGateway
	}
	return f.Status
}
