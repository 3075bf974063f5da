package dialect

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

// State is how an object stands.
type State struct {
	// Ready is the status of a Ready condition, or what stands for it, with its Reason and Message; Said is set when the
	// object has one. Since is the time of its last change, as the object has it.
	Ready, Reason, Message string
	Said                   bool
	Since                  string
	// Current is set when that is about the object as it is, Moving when it is on its way.
	Current, Moving bool
	Suspended       bool
	// Manual is set when it is as far as it comes until a user requests more: that is neither ready nor a failure.
	Manual bool
	// Static is why nothing is ever done for the object itself; empty for most.
	Static string
	// Revision is what it holds, or applied.
	Revision string
	// Inventory is what it holds; Alone is set when it never does so together with others.
	Inventory []engine.ObjectID
	Alone     bool
}

// StateOf is how an object stands, as its dialect reads it.
func (c Catalogue) StateOf(u *unstructured.Unstructured) State {
	of, _ := c.Of(u.GroupVersionKind().GroupKind())
	if reader, reads := of.(Stating); reads {
		return reader.State(u)
	}
	return Conventional(u)
}

// Conventional is the state of an object by the conventions of the field.
func Conventional(u *unstructured.Unstructured) State {
	var s State
	s.Current = current(u)
	s.Ready, s.Reason, s.Message, s.Since = Condition(u, "Ready")
	s.Said = s.Ready != ""
	if !s.Said {
		s.Ready, s.Reason, s.Message = "False", "Unknown", "waiting to be reconciled"
	}
	s.Suspended, _, _ = unstructured.NestedBool(u.Object, "spec", "suspend")
	s.Revision, _, _ = unstructured.NestedString(u.Object, "status", "lastAppliedRevision")
	entries, _, _ := unstructured.NestedSlice(u.Object, "status", "inventory", "entries")
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		text, _ := entry["id"].(string)
		if id, err := engine.DecodeID(text); err == nil {
			s.Inventory = append(s.Inventory, id)
		}
	}
	return s
}

// current reports whether the status of an object is about its generation: by its own field, or by that of the Ready condition of kinds without one, such
// as ResourceSets. Kinds that have neither say nothing about it.
func current(u *unstructured.Unstructured) bool {
	if observed, has, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration"); has {
		return observed == u.GetGeneration()
	}
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range list {
		c, _ := item.(map[string]any)
		if observed, has := c["observedGeneration"].(int64); has && c["type"] == "Ready" {
			return observed == u.GetGeneration()
		}
	}
	return true
}

// Condition is one condition of an object.
func Condition(u *unstructured.Unstructured, kind string) (status, reason, message, since string) {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range list {
		c, _ := item.(map[string]any)
		if c["type"] == kind {
			status, _ = c["status"].(string)
			reason, _ = c["reason"].(string)
			message, _ = c["message"].(string)
			since, _ = c["lastTransitionTime"].(string)
		}
	}
	return status, reason, message, since
}

// Text is a field of an object; empty when there is none.
func Text(u *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, path...)
	return s
}
