package appset

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// release plans that Applications lose their owner if the policy permits no deletions, whatever else it permits:
// garbage collection would delete them with the set.
func (p *planning) release(existing []*unstructured.Unstructured) error {
	if p.options.Policy.Delete {
		return nil
	}
	changes, err := Release(p.set, existing)
	if err != nil {
		return err
	}
	for _, change := range changes {
		planned := slices.ContainsFunc(p.plan.Update, func(c Change) bool { return c.Live.GetName() == change.Live.GetName() })
		if !planned {
			p.plan.Update = append(p.plan.Update, change)
		}
	}
	return nil
}

// Release are the Applications of a set whose policy permits no deletions, as changes that remove their owner.
func Release(set *Set, existing []*unstructured.Unstructured) ([]Change, error) {
	p := &planning{set: set}
	var changes []Change
	for _, live := range Owned(set, existing) {
		free := live.DeepCopy()
		p.own(free)
		patch, err := mergePatch(live, free)
		if err != nil {
			return nil, err
		}
		changes = append(changes, Change{Live: live, Desired: free, Patch: patch})
	}
	return changes, nil
}

// Members are the Applications that belong to a set, and those that it generates and that belong to no set: with a policy
// that permits no deletions that is all of them.
func Members(set *Set, generated Generated, existing []*unstructured.Unstructured) []*unstructured.Unstructured {
	var members []*unstructured.Unstructured
	for _, o := range existing {
		_, made := generated.Origins[o.GetName()]
		if set.owns(o) || made && o.GetNamespace() == set.Namespace && !inSet(o) {
			members = append(members, o)
		}
	}
	return members
}

// inSet reports whether an Application belongs to a set.
func inSet(app *unstructured.Unstructured) bool {
	return slices.ContainsFunc(app.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Kind == v1alpha1.ApplicationSetKind })
}
