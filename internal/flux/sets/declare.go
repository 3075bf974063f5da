package sets

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// What holds for a ResourceSet that says nothing about it.
const (
	resourceSetEvery   = time.Hour
	resourceSetTimeout = 5 * time.Minute
	// resourceSetRetry bounds how long one waits that failed.
	resourceSetRetry = 5 * time.Minute
)

// ID is the unit that a ResourceSet declares.
func ID(namespace, name string) engine.UnitID {
	return engine.UnitID{Group: fluxcdv1.GroupVersion.Group, Kind: fluxcdv1.ResourceSetKind, Namespace: namespace, Name: name}
}

// Declare reads a ResourceSet into a unit. It has no source: its objects are in itself.
func Declare(t policies.Policy, rs *fluxcdv1.ResourceSet) engine.Unit {
	every, unclear := durationOf(rs, fluxcdv1.ReconcileEveryAnnotation, resourceSetEvery)
	timeout, alsoUnclear := durationOf(rs, fluxcdv1.ReconcileTimeoutAnnotation, resourceSetTimeout)
	u := engine.Unit{
		ID: ID(rs.Namespace, rs.Name), UID: string(rs.UID), Generation: rs.Generation,
		Requested: rs.Annotations[toolkit.RequestedAt], Suspended: toolkit.DisabledByAnnotation(rs), Deleting: !rs.DeletionTimestamp.IsZero(),
		Target:   kustomize.Target(rs.Namespace, nil, cmp.Or(rs.Spec.ServiceAccountName, t.DefaultServiceAccount)),
		Interval: every, RetryInterval: min(every, resourceSetRetry), Timeout: timeout,
		Prune: true, Force: rs.Annotations[fluxcdv1.ForceAnnotation] == fluxcdv1.EnabledValue, Deletion: engine.DeletionDelete,
		Health:  engine.HealthPolicy{Wait: rs.Spec.Wait},
		Applied: rs.Status.LastAppliedRevision, Handled: rs.Status.LastHandledReconcileAt,
		DeletionHold: rs.Annotations[engine.DeletionHold], Steered: engine.SteeredBy(rs.Annotations, fluxcdv1.ForceAnnotation), Confined: t.NoCrossNamespaceRefs,
	}
	u.Target.Owner = toolkit.ResourceSetOwner
	if rs.Status.Inventory != nil {
		for _, e := range rs.Status.Inventory.Entries {
			u.Inventory = toolkit.AppendEntry(u.Inventory, e.ID, e.Version, "")
		}
	}
	wrong := ""
	for i, d := range rs.Spec.DependsOn {
		on, err := resourceSetDependency(d)
		if err != nil && wrong == "" {
			wrong = fmt.Sprintf("spec.dependsOn[%d]: %s", i, err)
		}
		u.Dependencies = append(u.Dependencies, on)
	}
	extra, malformed := kustomize.ParseDependsOn(rs.Annotations[engine.DependsOn], rs.Namespace)
	u.Dependencies = append(u.Dependencies, extra...)
	u.Invalid = toolkit.FirstInvalid(
		engine.Invalid{Reason: engine.ReasonUnsupported, Message: unsupportedResourceSet(rs)},
		engine.Invalid{Reason: engine.ReasonBuildFailed, Message: unclear},
		engine.Invalid{Reason: engine.ReasonBuildFailed, Message: alsoUnclear},
		engine.Invalid{Reason: engine.ReasonBuildFailed, Message: wrong},
		engine.Invalid{Reason: engine.ReasonInvalid, Message: toolkit.ErrorText(malformed)},
	)
	return u
}

// durationOf reads a time from an annotation, and else says what is wrong with it.
func durationOf(o metav1.Object, annotation string, otherwise time.Duration) (d time.Duration, wrong string) {
	text, there := o.GetAnnotations()[annotation]
	if !there {
		return otherwise, ""
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return otherwise, fmt.Sprintf("annotation %s: %q is not a duration, such as 30m", annotation, text)
	}
	return d, ""
}

// resourceSetDependency reads a dependency: on a unit if readiness is required without an expression,
// and else on an object, that has to be there.
func resourceSetDependency(d fluxcdv1.Dependency) (engine.Dependency, error) {
	gv, err := schema.ParseGroupVersion(d.APIVersion)
	if err != nil {
		return engine.Dependency{}, fmt.Errorf("apiVersion %q: %w", d.APIVersion, err)
	}
	on := engine.Dependency{Object: engine.ObjectID{Group: gv.Group, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name}}
	switch {
	case !d.Ready:
		on.Exists = true
	case d.ReadyExpr != "":
		on.Expr = d.ReadyExpr
	default:
		return engine.DependencyOn(on.Object), nil
	}
	return on, nil
}

// unsupportedResourceSet names a field that would have to be ignored.
func unsupportedResourceSet(rs *fluxcdv1.ResourceSet) string {
	if len(rs.Spec.Steps) > 0 {
		return "spec.steps is not supported: use one ResourceSet for each step, with spec.dependsOn"
	}
	for i, ref := range rs.Spec.InputsFrom {
		field := fmt.Sprintf("spec.inputsFrom[%d]", i)
		switch {
		case ref.APIVersion != "" && ref.APIVersion != fluxcdv1.GroupVersion.String():
			return fmt.Sprintf("%s.apiVersion: %q is not supported; use %s", field, ref.APIVersion, fluxcdv1.GroupVersion)
		case (ref.Name == "") == (ref.Selector == nil):
			return field + ": set either name or selector"
		case ref.Selector != nil:
			if _, err := metav1.LabelSelectorAsSelector(ref.Selector); err != nil {
				return fmt.Sprintf("%s.selector: %s", field, err)
			}
		}
	}
	return ""
}

// refersTo reports whether a reference names a provider, by its name or by its labels.
func refersTo(ref fluxcdv1.InputReference, provider *fluxcdv1.ResourceSetInputProvider) bool {
	if ref.Name != "" {
		return ref.Name == provider.Name
	}
	selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
	return err == nil && ref.Selector != nil && selector.Matches(labels.Set(provider.Labels))
}
