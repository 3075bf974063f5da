package managed

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/declared"
)

// status is what a pass makes of the status of an object.
type status struct {
	before, after map[string]any
	generation    int64
	now           time.Time
}

// statusOf begins with the status as it is.
func statusOf(o *unstructured.Unstructured, now time.Time) *status {
	before, _, _ := unstructured.NestedMap(o.Object, "status")
	if before == nil {
		before = map[string]any{}
	}
	after := (&unstructured.Unstructured{Object: before}).DeepCopy().Object
	return &status{before: before, after: after, generation: o.GetGeneration(), now: now}
}

// fields are the status before and after, as the API server has them.
func (s *status) fields() (before, after map[string]any, err error) {
	if before, err = declared.Fields(s.before); err != nil {
		return nil, nil, err
	}
	after, err = declared.Fields(s.after)
	return before, after, err
}

// set enters a condition; nil keeps what there is. It reports whether it says something else than before.
func (s *status) set(kind string, v *Verdict) (news bool) {
	if v == nil {
		return false
	}
	word := "False"
	if v.True {
		word = "True"
	}
	list, _ := s.after["conditions"].([]any)
	at := -1
	for i, item := range list {
		if c, is := item.(map[string]any); is && c["type"] == kind {
			at = i
		}
	}
	entry := map[string]any{
		"type": kind, "status": word, "reason": v.Reason, "lastTransitionTime": s.now.UTC().Format(time.RFC3339), "observedGeneration": s.generation,
	}
	if v.Message != "" {
		entry["message"] = v.Message
	}
	if at < 0 {
		s.after["conditions"] = append(list, entry)
		return true
	}
	was, _ := list[at].(map[string]any)
	if was["status"] == word {
		entry["lastTransitionTime"] = was["lastTransitionTime"]
	}
	message, _ := was["message"].(string)
	list[at] = entry
	return was["status"] != word || was["reason"] != v.Reason || message != v.Message
}

// conclude enters the conditions of a decision. It reports whether Synced says something else than before.
func (s *status) conclude(d Decision) (news bool) {
	news = s.set(ConditionSynced, d.Synced)
	s.set(ConditionReady, d.Ready)
	s.set(ConditionUpToDate, d.UpToDate)
	s.after["observedGeneration"] = s.generation
	return news
}
