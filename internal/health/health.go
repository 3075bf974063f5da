// Package health judges objects: is this object what it should be, on its way, or broken?
//
// The rules are those of the kstatus library for every kind, unless CEL expressions are given for
// a kind. Judging is a pure function of one object; who asks when, and what follows from the
// answer, is decided elsewhere.
package health

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Assess judges an object by the built-in rules.
func Assess(u *unstructured.Unstructured) engine.ObjectHealth {
	h := engine.ObjectHealth{ID: engine.IDOf(u)}
	if isFinishedJobless(u) {
		h.Verdict = engine.Current
		return h
	}
	if verdict, message, is := reported(u); is {
		h.Verdict, h.Message = verdict, message
		return h
	}
	result, err := status.Compute(u)
	if err != nil {
		h.Verdict, h.Message = engine.Unknown, err.Error()
		return h
	}
	h.Verdict = verdictOf(result.Status)
	if h.Verdict == engine.Current && jobRunning(u) {
		h.Verdict, result.Message = engine.InProgress, "Job is running"
	}
	if h.Verdict != engine.Current {
		h.Message = result.Message
	}
	return h
}

func verdictOf(s status.Status) engine.Verdict {
	switch s {
	case status.CurrentStatus:
		return engine.Current
	case status.FailedStatus:
		return engine.Failed
	case status.InProgressStatus:
		return engine.InProgress
	case status.TerminatingStatus:
		return engine.Terminating
	case status.NotFoundStatus:
		return engine.NotFound
	default:
		return engine.Unknown
	}
}

// isFinishedJobless reports whether a pod has run to its end, which kstatus counts as not ready.
func isFinishedJobless(u *unstructured.Unstructured) bool {
	if u.GroupVersionKind().GroupKind() != (schema.GroupKind{Kind: "Pod"}) {
		return false
	}
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	return phase == "Succeeded"
}

// jobRunning reports whether a Job has neither completed nor failed; a unit waits for the end of its
// Jobs, not for their start.
func jobRunning(u *unstructured.Unstructured) bool {
	if u.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: "batch", Kind: "Job"}) {
		return false
	}
	suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend")
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if condition["status"] == "True" && (condition["type"] == "Complete" || condition["type"] == "Failed") {
			return false
		}
	}
	return !suspended
}

// Rules are the compiled health expressions of one unit, by kind. Those without a kind are for all kinds of their
// group that have none of their own.
type Rules map[schema.GroupKind]*rule

type rule struct {
	current, inProgress, failed *Expr
}

// CompileRules compiles the expressions of a unit. An error names the kind and the field.
func CompileRules(exprs []engine.HealthExpr) (Rules, error) {
	rules := Rules{}
	for i, e := range exprs {
		if strings.Contains(e.Group, "/") {
			return nil, fmt.Errorf("healthCheckExprs[%d] (%s): apiVersion: %q: want GROUP/VERSION", i, e.Kind, e.Group)
		}
		r := &rule{}
		for field, part := range map[string]struct {
			text string
			into **Expr
		}{
			"current": {e.Current, &r.current}, "inProgress": {e.InProgress, &r.inProgress},
			"failed": {e.Failed, &r.failed},
		} {
			if part.text == "" {
				continue
			}
			expr, err := CompileHealth(part.text)
			if err != nil {
				return nil, fmt.Errorf("healthCheckExprs[%d] (%s): failed to parse the expression %s: %w", i, cmp.Or(e.Kind, "every kind of "+cmp.Or(e.Group, "v1")), field, err)
			}
			*part.into = expr
		}
		rules[schema.GroupKind{Group: e.Group, Kind: e.Kind}] = r
	}
	return rules, nil
}

// Assess judges an object by the unit's expressions where there are some for its kind, and by the
// built-in rules otherwise. An expression that cannot be evaluated yet, say because a status is
// missing, means that the object is on its way.
func (r Rules) Assess(u *unstructured.Unstructured) engine.ObjectHealth {
	rule := r.of(u.GroupVersionKind().GroupKind())
	if rule == nil {
		return Assess(u)
	}
	h := engine.ObjectHealth{ID: engine.IDOf(u), Verdict: engine.InProgress}
	if generationBehind(u) {
		h.Message = "its controller has not observed the latest generation"
		return h
	}
	if yes, err := rule.inProgress.bool(u.Object); yes || err != nil {
		h.Message = note(err, "inProgress")
		return h
	}
	if yes, err := rule.failed.bool(u.Object); yes || err != nil {
		if err == nil {
			h.Verdict = engine.Failed
		}
		h.Message = note(err, "failed")
		return h
	}
	yes, err := rule.current.bool(u.Object)
	if yes && err == nil {
		h.Verdict = engine.Current
		return h
	}
	h.Message = note(err, "not yet current")
	return h
}

func note(err error, held string) string {
	if err != nil {
		return err.Error()
	}
	return "by its health expression: " + held
}

// generationBehind reports whether status.observedGeneration is set and older than the object.
func generationBehind(u *unstructured.Unstructured) bool {
	observed, found, err := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	return err == nil && found && observed >= 0 && observed < u.GetGeneration()
}

// Has reports whether there are expressions for the kind.
func (r Rules) Has(gk schema.GroupKind) bool { return r.of(gk) != nil }

func (r Rules) of(gk schema.GroupKind) *rule {
	if own := r[gk]; own != nil {
		return own
	}
	return r[schema.GroupKind{Group: gk.Group}]
}
