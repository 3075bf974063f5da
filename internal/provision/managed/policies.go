package managed

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Actions are what a resource lets be done with what it stands for.
type Actions struct {
	Create, Update, Delete, Initialize bool
	// Paused is set when not even Observe is let.
	Paused bool
}

// The words of management policies.
const (
	actionAll        = "*"
	actionObserve    = "Observe"
	actionCreate     = "Create"
	actionUpdate     = "Update"
	actionDelete     = "Delete"
	actionInitialize = "LateInitialize"
)

// legal are the combinations that the upstream accepts, beside "*" and none: first letters in the order of letters, which all have
// Observe.
var legal = []string{"OCUDL", "O", "OCUD", "OCUL", "OCU", "OCDL", "OCL", "OCD", "OC", "OD", "OU", "OL", "OUL"}

// letters are the actions in the order of the combinations.
var letters = []struct{ letter, action string }{
	{"O", actionObserve}, {"C", actionCreate}, {"U", actionUpdate}, {"D", actionDelete}, {"L", actionInitialize},
}

// ActionsOf reads the policies of an object of a kind.
func ActionsOf(k Kind, o *unstructured.Unstructured) (Actions, error) {
	actions, explicit, err := declaredActions(k, o)
	if err != nil || !k.Deletion {
		return actions, err
	}
	// An object whose policies name Delete is deleted whatever the older field says.
	if policy, _, _ := unstructured.NestedString(o.Object, "spec", "deletionPolicy"); policy == "Orphan" && !explicit {
		actions.Delete = false
	}
	return actions, nil
}

// declaredActions reads the spellings that a kind has. They are explicit when the list names single actions.
func declaredActions(k Kind, o *unstructured.Unstructured) (a Actions, explicit bool, err error) {
	all := Actions{Create: true, Update: true, Delete: true, Initialize: true}
	if k.Policies == NoPolicies {
		return all, false, nil
	}
	list, listed, err := unstructured.NestedStringSlice(o.Object, "spec", "managementPolicies")
	if err != nil {
		return Actions{}, false, fmt.Errorf("spec.managementPolicies: %w", err)
	}
	var older string
	if k.Policies == BothPolicies {
		older, _, _ = unstructured.NestedString(o.Object, "spec", "managementPolicy")
	}
	if older != "" {
		converted, known := map[string][]string{
			"Default": {actionAll}, "ObserveCreateUpdate": {actionObserve, actionCreate, actionUpdate},
			"ObserveDelete": {actionObserve, actionDelete}, "Observe": {actionObserve},
		}[older]
		switch {
		case !known:
			return Actions{}, false, fmt.Errorf("spec.managementPolicy %q is not supported", older)
		case listed && combination(list) != combination(converted):
			return Actions{}, false, fmt.Errorf("spec.managementPolicy %s contradicts spec.managementPolicies %v: remove one of them", older, list)
		}
		list, listed = converted, true
	}
	if !listed {
		return all, false, nil
	}
	return combined(list, all)
}

// combined are the actions of a list.
func combined(list []string, all Actions) (a Actions, explicit bool, err error) {
	switch c := combination(list); {
	case c == actionAll:
		return all, false, nil
	case c == "":
		return Actions{Paused: true}, false, nil
	case !slices.Contains(legal, c):
		return Actions{}, false, fmt.Errorf("spec.managementPolicies is set to a non-supported value: %v", list)
	default:
		return Actions{
			Create: strings.Contains(c, "C"), Update: strings.Contains(c, "U"), Delete: strings.Contains(c, "D"), Initialize: strings.Contains(c, "L"),
		}, true, nil
	}
}

// combination is a list in the spelling of legal, without regard to order; what has words that there are not is not one of them.
func combination(list []string) string {
	if len(list) > 0 && !slices.ContainsFunc(list, func(one string) bool { return one != actionAll }) {
		return actionAll
	}
	var c strings.Builder
	known := 0
	for _, l := range letters {
		if slices.Contains(list, l.action) {
			c.WriteString(l.letter)
			known++
		}
	}
	if distinct := len(slices.Compact(slices.Sorted(slices.Values(list)))); distinct != known {
		return "?"
	}
	return c.String()
}
