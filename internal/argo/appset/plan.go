package appset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// PlanOptions are what a plan is made with, beside the set.
type PlanOptions struct {
	// Policy is what may be done; see PolicyOf.
	Policy Policy
	// PreservedAnnotations and PreservedLabels keep their values in all Applications of the installation.
	PreservedAnnotations, PreservedLabels []string
	// Managers are the field managers that write what templates say. Labels and annotations that only they set, and
	// that the template no longer has, are removed; those that others set stay.
	Managers []string
	// Progressive permits sets whose Applications change in steps. Then it is the set that has them synced.
	Progressive bool
	// Previous is what Generated.Yields was in the pass before, where anybody knows.
	Previous map[string]int
	// Sandbox is where expressions are evaluated that are programs; nil evaluates them in this process.
	Sandbox *sandbox.Client
	// Now is the time of the pass.
	Now time.Time
}

// Plan is what is to be done to Applications.
type Plan struct {
	Create []*unstructured.Unstructured
	Update []Change
	Delete []*unstructured.Unstructured
	// Keep are those that the policy, the budget or something else keeps from what would be done.
	Keep []Kept
	// Refused says why deletions are held, and how to agree to them. It is empty where none are.
	Refused string
	// Digest names the deletions that are held.
	Digest string
	// Yields is what PlanOptions.Previous has to be in the next pass. It goes on to have what a generator gave before
	// it dried up, as long as deletions are held for that.
	Yields map[string]int
}

// UpstreamManager is the field manager by which Argo CD writes what templates say.
const UpstreamManager = "argocd-applicationset-controller"

// Change is an Application that is to be changed.
type Change struct {
	// Live is what it is, Desired what it shall be: all of it, with what others may set.
	Live, Desired *unstructured.Unstructured
	// Patch is what leads from one to the other, as a JSON merge patch. Status and operation are not in it.
	Patch []byte
	// Spec says that what is synced changes, or how: not the metadata alone, nor whether it is automated.
	Spec bool
}

// Kept is an Application to which something is not done.
type Kept struct{ Name, Reason string }

// MakePlan says what is to be done. The existing ones are the Applications of the set's namespace; those of others
// are left alone. An error names a field of the set, and nothing may be done.
func MakePlan(ctx context.Context, set *Set, generated Generated, existing []*unstructured.Unstructured, options PlanOptions) (Plan, error) {
	p := &planning{set: set, options: options, live: map[string]*unstructured.Unstructured{}}
	rules, err := ignoreRules(set.Spec.IgnoreApplicationDifferences)
	if err != nil {
		return Plan{}, err
	}
	for _, o := range existing {
		if o.GetNamespace() == set.Namespace {
			p.live[o.GetName()] = o
		}
	}
	sorted := slices.Clone(generated.Applications)
	slices.SortFunc(sorted, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	for _, app := range sorted {
		if err := p.one(ctx, app, rules); err != nil {
			return Plan{}, fmt.Errorf("Application %q: %w", app.GetName(), err)
		}
	}
	p.broken(generated)
	p.deletions(generated)
	if err := p.release(existing); err != nil {
		return Plan{}, err
	}
	p.remember(generated)
	slices.SortFunc(p.plan.Keep, func(a, b Kept) int { return cmp.Compare(a.Name, b.Name) })
	return p.plan, nil
}

// planning is a plan that is being made.
type planning struct {
	set     *Set
	options PlanOptions
	live    map[string]*unstructured.Unstructured
	plan    Plan
}

func (p *planning) keep(name, reason string) { p.plan.Keep = append(p.plan.Keep, Kept{name, reason}) }

// one plans an Application that was generated.
func (p *planning) one(ctx context.Context, app *unstructured.Unstructured, rules []ignoreRule) error {
	app = app.DeepCopy()
	if p.options.Progressive && p.set.rolling() {
		if err := withoutAutomation(app); err != nil {
			return err
		}
	}
	live, there := p.live[app.GetName()]
	if !there {
		p.own(app)
		p.plan.Create = append(p.plan.Create, app)
		return nil
	}
	switch owner := metav1.GetControllerOf(live); {
	case live.GetDeletionTimestamp() != nil:
		p.keep(app.GetName(), "it is being deleted, and will be recreated then")
		return nil
	case owner != nil && !p.set.owns(live):
		p.keep(app.GetName(), fmt.Sprintf("it belongs to %s %q", owner.Kind, owner.Name))
		return nil
	case !p.options.Policy.Update:
		p.keep(app.GetName(), "the policy permits no changes")
		return nil
	}
	change, err := p.change(ctx, live, app, rules)
	if err != nil || change == nil {
		return err
	}
	p.plan.Update = append(p.plan.Update, *change)
	return nil
}

// broken names those that stay what they are, since what was generated for them cannot be.
func (p *planning) broken(generated Generated) {
	for _, problem := range generated.Problems {
		_, there := p.live[problem.Name]
		if there && !slices.ContainsFunc(generated.Applications, func(o *unstructured.Unstructured) bool { return o.GetName() == problem.Name }) {
			p.keep(problem.Name, problem.Message)
		}
	}
}

// owns says whether an Application is one of the set's. The name decides, so that a set that was recreated under the
// same name finds its Applications.
func (s *Set) owns(app *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(app)
	return owner != nil && owner.Kind == v1alpha1.ApplicationSetKind && owner.Name == s.Name &&
		strings.HasPrefix(owner.APIVersion, v1alpha1.GroupVersion.Group+"/") && app.GetNamespace() == s.Namespace
}

// Owned are the Applications that belong to a set.
func Owned(set *Set, existing []*unstructured.Unstructured) []*unstructured.Unstructured {
	var owned []*unstructured.Unstructured
	for _, o := range existing {
		if set.owns(o) {
			owned = append(owned, o)
		}
	}
	return owned
}

// own has an Application belong to the set: garbage collection deletes it with the set. Where the policy permits no
// deletions it has no owner, so that it outlives the set.
func (p *planning) own(app *unstructured.Unstructured) {
	references := slices.DeleteFunc(app.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.Kind == v1alpha1.ApplicationSetKind && r.Name == p.set.Name
	})
	if p.options.Policy.Delete {
		references = append(references, p.set.ownerReference())
	}
	if len(references) == 0 {
		references = nil
	}
	app.SetOwnerReferences(references)
}

// withoutAutomation has an Application wait for the set to have it synced.
func withoutAutomation(app *unstructured.Unstructured) error {
	automated, found, err := unstructured.NestedMap(app.Object, "spec", "syncPolicy", "automated")
	if err != nil {
		return errors.New("spec.syncPolicy.automated: not an object")
	}
	if !found {
		return nil
	}
	automated["enabled"] = false
	return unstructured.SetNestedMap(app.Object, automated, "spec", "syncPolicy", "automated")
}
