package secrets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/secrets/plan"
)

// What the upstream says of ClusterExternalSecrets.
const textNotAll = "one or more namespaces failed"

// errTaken says that there is an ExternalSecret of this name that this engine does not own.
var errTaken = errors.New("external secret already exists in namespace")

// everyNamespace is what passes of ClusterExternalSecrets read.
var everyNamespace = engine.UnitID{Kind: "Namespace"}

// spread has an ExternalSecret in each namespace that a ClusterExternalSecret selects, and none of its own in others.
func (p *part) spread(ctx context.Context, id engine.UnitID, ces *esv1.ClusterExternalSecret) rounds.Next {
	p.use(id, everyNamespace)
	after := *ces.Status.DeepCopy()
	after.ExternalSecretName = ces.Spec.ExternalSecretName
	if after.ExternalSecretName == "" {
		after.ExternalSecretName = ces.Name
	}
	interval, err := plan.Interval(ces.Spec.RefreshTime)
	if err != nil {
		return p.spreadFailed(ctx, ces, fmt.Errorf("spec.refreshTime: %w", err))
	}
	wanted, err := p.selected(ctx, ces)
	if err != nil {
		return p.spreadFailed(ctx, ces, err)
	}
	after.FailedNamespaces, after.ProvisionedNamespaces = nil, nil
	for _, namespace := range wanted {
		if err := p.provision(ctx, id, ces, namespace, after.ExternalSecretName); err != nil {
			after.FailedNamespaces = append(after.FailedNamespaces, esv1.NamespaceFailure{Namespace: namespace, Reason: redaction.Text(err.Error())})
			continue
		}
		after.ProvisionedNamespaces = append(after.ProvisionedNamespaces, namespace)
	}
	for _, namespace := range ces.Status.ProvisionedNamespaces {
		renamed := ces.Status.ExternalSecretName != after.ExternalSecretName
		if !renamed && slices.Contains(wanted, namespace) {
			continue
		}
		if err := p.withdrawFrom(ctx, ces, namespace, ces.Status.ExternalSecretName); err != nil {
			after.FailedNamespaces = append(after.FailedNamespaces, esv1.NamespaceFailure{Namespace: namespace, Reason: redaction.Text(err.Error())})
			after.ProvisionedNamespaces = append(after.ProvisionedNamespaces, namespace)
		}
	}
	slices.Sort(after.ProvisionedNamespaces)
	after.ProvisionedNamespaces = slices.Compact(after.ProvisionedNamespaces)
	condition := esv1.ClusterCondition{Type: plan.Ready, Status: corev1.ConditionTrue}
	if len(after.FailedNamespaces) > 0 {
		condition.Status, condition.Message = corev1.ConditionFalse, textNotAll
	}
	after.Conditions = []esv1.ClusterCondition{condition}
	if err := p.spreads.State(ctx, p.writer(spreadKind()), ces, ces.Status, after); err != nil {
		return rounds.Retry(err)
	}
	if len(after.FailedNamespaces) > 0 {
		return rounds.Retry(fmt.Errorf("ClusterExternalSecret %q: %s", ces.Name, textNotAll))
	}
	return rest(interval)
}

// selected are the namespaces of a ClusterExternalSecret, sorted.
func (p *part) selected(ctx context.Context, ces *esv1.ClusterExternalSecret) ([]string, error) {
	selectors := slices.Clone(ces.Spec.NamespaceSelectors)
	if ces.Spec.NamespaceSelector != nil {
		selectors = append(selectors, ces.Spec.NamespaceSelector)
	}
	var compiled []labels.Selector
	for i, s := range selectors {
		selector, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			return nil, fmt.Errorf("spec.namespaceSelectors[%d]: %w", i, err)
		}
		compiled = append(compiled, selector)
	}
	list, err := p.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing the namespaces: %w", err)
	}
	var names []string
	for i := range list.Items {
		ns := &list.Items[i]
		matches := slices.ContainsFunc(compiled, func(s labels.Selector) bool { return s.Matches(labels.Set(ns.Labels)) })
		if ns.DeletionTimestamp == nil && (matches || slices.Contains(ces.Spec.Namespaces, ns.Name)) {
			names = append(names, ns.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// provision has the ExternalSecret of a ClusterExternalSecret in a namespace be as it declares. One that is not its own stays as it is.
func (p *part) provision(ctx context.Context, id engine.UnitID, ces *esv1.ClusterExternalSecret, namespace, name string) error {
	p.use(id, idOf(esv1.ExternalSecretKind, &metav1.ObjectMeta{Namespace: namespace, Name: name}))
	client := p.Home.Dynamic.Resource(externalKind().GroupVersionResource()).Namespace(namespace)
	es := &esv1.ExternalSecret{
		TypeMeta: metav1.TypeMeta{APIVersion: esv1.GroupVersion.String(), Kind: esv1.ExternalSecretKind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: maps.Clone(ces.Spec.ExternalSecretMetadata.Labels), Annotations: maps.Clone(ces.Spec.ExternalSecretMetadata.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(ces, esv1.GroupVersion.WithKind(esv1.ClusterExternalSecretKind))},
		},
		Spec: *ces.Spec.ExternalSecretSpec.DeepCopy(),
	}
	have, err := client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(es)
		if err != nil {
			return err
		}
		_, err = client.Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{FieldManager: manager})
		return err
	}
	if err != nil {
		return err
	}
	if !metav1.IsControlledBy(have, ces) {
		return errTaken
	}
	next := have.DeepCopy()
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&es.Spec)
	if err != nil {
		return err
	}
	next.Object["spec"] = spec
	next.SetLabels(laid(have.GetLabels(), es.Labels))
	next.SetAnnotations(laid(have.GetAnnotations(), es.Annotations))
	current, err := declared.Read[esv1.ExternalSecret](have)
	if err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(current.Spec, es.Spec) && maps.Equal(have.GetLabels(), next.GetLabels()) && maps.Equal(have.GetAnnotations(), next.GetAnnotations()) {
		return nil
	}
	_, err = client.Update(ctx, next, metav1.UpdateOptions{FieldManager: manager})
	return err
}

// laid is a set of labels or annotations with others laid over it.
func laid(under, over map[string]string) map[string]string {
	all := maps.Clone(under)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, over)
	return all
}

// withdrawFrom deletes the ExternalSecret of a ClusterExternalSecret from a namespace.
func (p *part) withdrawFrom(ctx context.Context, ces *esv1.ClusterExternalSecret, namespace, name string) error {
	client := p.Home.Dynamic.Resource(externalKind().GroupVersionResource()).Namespace(namespace)
	have, err := client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && !metav1.IsControlledBy(have, ces) {
		return nil
	}
	if err != nil {
		return err
	}
	uid := have.GetUID()
	err = client.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// spreadFailed writes why nothing can be said of the namespaces; what there is stays.
func (p *part) spreadFailed(ctx context.Context, ces *esv1.ClusterExternalSecret, cause error) rounds.Next {
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	after := *ces.Status.DeepCopy()
	after.Conditions = []esv1.ClusterCondition{{Type: plan.Ready, Status: corev1.ConditionFalse, Message: redaction.Text(cause.Error())}}
	if err := p.spreads.State(ctx, p.writer(spreadKind()), ces, ces.Status, after); err != nil {
		return rounds.Retry(err)
	}
	return rounds.Retry(cause)
}
