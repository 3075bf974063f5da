package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health"
)

// ahead is how far in the future the deadlines are that a status tells, such as the end of a certificate.
const ahead = 90 * 24 * time.Hour

// Check is what a unit asks of the objects of a kind beside the rules for all kinds: expressions in CEL, each of
// which may be empty.
type Check struct {
	Current, Failed, InProgress string
	// Assess, when set, evaluates objects instead of the expressions and the rules for all kinds.
	Assess func(*unstructured.Unstructured) engine.ObjectHealth
}

// Healer makes the statuses which make custom resources healthy. It is safe for concurrent use.
type Healer struct {
	// Now is the time that statuses tell. Without it that is the time at which the object was created, so that
	// the same object gets the same status again.
	Now       time.Time
	overrides map[schema.GroupKind]map[string]any
}

// NewHealer takes the statuses that a user has for kinds. They are used as they are.
func NewHealer(overrides map[schema.GroupKind]map[string]any) (*Healer, error) {
	var errs []error
	for gk := range overrides {
		if isReal(gk) {
			errs = append(errs, fmt.Errorf("status of %s: it records actions, and is never simulated", gk))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Healer{overrides: overrides}, nil
}

// Status makes the status of an object that passes the checks and the rules for all kinds: from a sample of the
// kind, from conditions, from both, or from what the checks compare. Of these the first one counts that the
// definition of the kind takes and that is healthy; crd may be nil. There is none, and ok is false, for kinds
// that are never faked, and where the definition takes no status.
//
// An error that comes with a status reports which check it does not pass; the status is the best that was found.
func (h *Healer) Status(o, crd *unstructured.Unstructured, checks []Check) (status map[string]any, ok bool, err error) {
	gk := o.GroupVersionKind().GroupKind()
	if isReal(gk) {
		return nil, false, nil
	}
	now := h.now(o)
	if override, found := h.overrides[gk]; found {
		r := rewriting{object: o}
		return r.generations(runtime.DeepCopyJSON(override)), true, nil
	}
	status, err = h.made(o, crd, checks, now)
	if err != nil {
		err = fmt.Errorf("creating a status for %s %q in namespace %q: %w", gk, o.GetName(), o.GetNamespace(), err)
	}
	return status, len(status) > 0, err
}

func (h *Healer) now(o *unstructured.Unstructured) time.Time {
	if !h.Now.IsZero() {
		return h.Now.UTC()
	}
	if created := o.GetCreationTimestamp(); !created.IsZero() {
		return created.UTC()
	}
	return time.Unix(0, 0).UTC()
}

func (h *Healer) made(o, crd *unstructured.Unstructured, checks []Check, now time.Time) (map[string]any, error) {
	allowed, err := shapeOf(crd, o.GroupVersionKind().Version)
	if err != nil {
		return nil, err
	}
	asked, err := compile(o.GroupVersionKind().GroupKind(), checks)
	if err != nil {
		return nil, err
	}
	drafts, err := draftsOf(o, now)
	if err != nil {
		return nil, err
	}
	var best map[string]any
	var missed error
	for _, derive := range []bool{false, true} {
		if derive && len(checks) == 0 {
			break
		}
		for _, draft := range drafts {
			status := runtime.DeepCopyJSON(draft)
			if derive {
				status = derived(o, status, checks)
			}
			complete(status, now.Format(time.RFC3339))
			status = allowed.fit(status)
			err := asked.passes(o, status)
			if err == nil {
				return status, nil
			}
			if missed == nil {
				best, missed = status, err
			}
		}
	}
	return best, missed
}

// phases are what kinds call the phase of a healthy object.
var phases = []string{"Healthy", "Ready", "Running", "Active", "Succeeded", "Bound"}

// draftsOf are the statuses to try, the likeliest one first. Checks of several versions of a controller often go by a phase, and by details
// only where there is none.
func draftsOf(o *unstructured.Unstructured, now time.Time) ([]map[string]any, error) {
	samples, err := samplesOf(o.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	stamp := now.Format(time.RFC3339)
	plain := withConditions(map[string]any{}, o, stamp)
	var drafts, both []map[string]any
	for i, sample := range samples {
		r := rewriting{sample: sample, object: o, now: now, later: now.Add(ahead)}
		sampled, _ := r.value("", sample.status).(map[string]any)
		drafts = append(drafts, sampled)
		if i == 0 {
			drafts = append(drafts, plain)
		}
		both = append(both, withConditions(runtime.DeepCopyJSON(sampled), o, stamp))
	}
	if len(samples) == 0 {
		drafts, both = []map[string]any{plain}, []map[string]any{plain}
	} else {
		drafts = append(drafts, both...)
	}
	for _, phase := range phases {
		draft := runtime.DeepCopyJSON(both[0])
		draft["phase"] = phase
		drafts = append(drafts, draft)
	}
	return drafts, nil
}

// questions are what is asked of an object: the rules for all kinds, and those of each check.
type questions []func(*unstructured.Unstructured) engine.ObjectHealth

func compile(gk schema.GroupKind, checks []Check) (questions, error) {
	if at := slices.IndexFunc(checks, func(c Check) bool { return c.Assess != nil }); at >= 0 {
		return questions{checks[at].Assess}, nil
	}
	asked := questions{health.Rules(nil).Assess}
	for _, c := range checks {
		current := c.Current
		if current == "" {
			current = "true"
		}
		rules, err := health.CompileRules([]engine.HealthExpr{{
			Group: gk.Group, Kind: gk.Kind, Current: current, Failed: c.Failed, InProgress: c.InProgress,
		}})
		if err != nil {
			return nil, err
		}
		asked = append(asked, rules.Assess)
	}
	return asked, nil
}

// passes reports why an object with a status is not healthy, or nil.
func (q questions) passes(o *unstructured.Unstructured, status map[string]any) error {
	object := o.DeepCopy()
	if object.Object["status"] = status; len(status) == 0 {
		delete(object.Object, "status")
	}
	var missed []string
	for _, assess := range q {
		if verdict := assess(object); verdict.Verdict != engine.Current {
			missed = append(missed, fmt.Sprintf("it would be %s: %s", verdict.Verdict, verdict.Message))
		}
	}
	if len(missed) > 0 {
		return errors.New(strings.Join(missed, "; "))
	}
	return nil
}
