package sets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fluxcd/pkg/apis/meta"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/resourceset"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// reasonProviderType is our reason for a provider of a type that is not served.
const reasonProviderType = "UnsupportedType"

// ProviderID is the identity of a ResourceSetInputProvider.
func ProviderID(namespace, name string) engine.UnitID {
	return engine.UnitID{Group: fluxcdv1.GroupVersion.Group, Kind: fluxcdv1.ResourceSetInputProviderKind, Namespace: namespace, Name: name}
}

// exportedBy are the sets of inputs that a provider returns. A disabled one returns its last ones.
func exportedBy(p *fluxcdv1.ResourceSetInputProvider) ([]map[string]any, error) {
	if toolkit.DisabledByAnnotation(p) {
		var sets []map[string]any
		for _, exported := range p.Status.ExportedInputs {
			values, err := valuesOf(exported)
			if err != nil {
				return nil, fmt.Errorf("status.exportedInputs: %w", err)
			}
			sets = append(sets, values)
		}
		return sets, nil
	}
	if why := unsupportedProvider(p); why != "" {
		return nil, fmt.Errorf("%s", why)
	}
	values, err := valuesOf(p.Spec.DefaultValues)
	if err != nil {
		return nil, fmt.Errorf("spec.defaultValues: %w", err)
	}
	values["id"] = resourceset.StaticID(string(p.UID))
	return []map[string]any{values}, nil
}

// unsupportedProvider names what a provider asks for that is not served.
func unsupportedProvider(p *fluxcdv1.ResourceSetInputProvider) string {
	if p.Spec.Type != fluxcdv1.InputProviderStatic {
		return fmt.Sprintf("spec.type: providers of type %q are not supported; use %s", p.Spec.Type, fluxcdv1.InputProviderStatic)
	}
	if p.Spec.URL != "" {
		return "spec.url: not used by type Static; remove the field"
	}
	return ""
}

// PutProvider enters a provider, and wakes those whose inputs it changes.
func (s *Keeper) PutProvider(u *unstructured.Unstructured) (*fluxcdv1.ResourceSetInputProvider, error) {
	before, known := s.Providers.Get(ProviderID(u.GetNamespace(), u.GetName()))
	p, err := s.Providers.Put(u)
	if err != nil {
		return nil, err
	}
	if known && before.UID == p.UID && before.Generation == p.Generation && maps.Equal(before.Labels, p.Labels) &&
		toolkit.DisabledByAnnotation(before) == toolkit.DisabledByAnnotation(p) {
		return p, nil
	}
	s.wake(p, before)
	return p, nil
}

// DropProvider takes a ResourceSetInputProvider that is gone.
func (s *Keeper) DropProvider(u *unstructured.Unstructured) {
	id := ProviderID(u.GetNamespace(), u.GetName())
	before, _ := s.Providers.Get(id)
	s.Providers.Drop(id)
	s.wake(before)
}

// wake wakes the ResourceSets that refer to a provider, as it is or as it was.
func (s *Keeper) wake(versions ...*fluxcdv1.ResourceSetInputProvider) {
	for _, rs := range s.All() {
		for _, p := range versions {
			if p != nil && p.Namespace == rs.Namespace && refersToAny(rs, p) {
				s.Runner.InputsChanged(ID(rs.Namespace, rs.Name))
				break
			}
		}
	}
}

func refersToAny(rs *fluxcdv1.ResourceSet, p *fluxcdv1.ResourceSetInputProvider) bool {
	for _, ref := range rs.Spec.InputsFrom {
		if refersTo(ref, p) {
			return true
		}
	}
	return false
}

// ProviderReports write down what providers give.
type ProviderReports struct {
	toolkit.ByNamespace
	*Keeper
}

// Pass writes down what a provider gives.
func (r ProviderReports) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	return rounds.Done(r.reportProvider(ctx, id))
}

// reportProvider writes down what a provider gives.
func (s *Keeper) reportProvider(ctx context.Context, id engine.UnitID) error {
	p, there := s.Providers.Get(id)
	if !there || toolkit.DisabledByAnnotation(p) || p.DeletionTimestamp != nil {
		return nil
	}
	after := p.DeepCopy()
	if err := s.Guard.Call(id.String(), func() error { return provided(after) }); err != nil {
		return err
	}
	u, err := declared.Writer{Client: s.Home.Dynamic.Resource(toolkit.InputProviders), Manager: toolkit.OperatorField}.Status(ctx, p, p.Status, after.Status)
	if err != nil || u == nil {
		return err
	}
	s.tellProvider(p, after)
	_, err = s.PutProvider(u)
	return err
}

// provided sets the status of a provider.
func provided(p *fluxcdv1.ResourceSetInputProvider) error {
	if requested := p.Annotations[toolkit.RequestedAt]; requested != "" {
		p.Status.LastHandledReconcileAt = requested
	}
	c := &toolkit.Conditions{List: p.Status.Conditions, Generation: p.Generation, Now: metav1.NewTime(time.Now().Truncate(time.Second))}
	defer func() { p.Status.Conditions = c.Sorted() }()
	sets, err := exportedBy(p)
	if err != nil {
		reason := reasonProviderType
		if p.Spec.Type == fluxcdv1.InputProviderStatic {
			reason = string(engine.ReasonUnsupported)
		}
		c.Drop(toolkit.ConditionReconciling)
		c.Set(toolkit.ConditionReady, metav1.ConditionFalse, reason, err.Error())
		c.Set(toolkit.ConditionStalled, metav1.ConditionTrue, reason, err.Error())
		return nil
	}
	exported := make([]fluxcdv1.Input, 0, len(sets))
	for _, values := range sets {
		in := fluxcdv1.Input{}
		for name, value := range values {
			raw, err := json.Marshal(value)
			if err != nil {
				return fmt.Errorf("encoding %q: %w", name, err)
			}
			in[name] = &apiextensionsv1.JSON{Raw: raw}
		}
		exported = append(exported, in)
	}
	data, err := json.Marshal(exported)
	if err != nil {
		return fmt.Errorf("encoding the exported inputs: %w", err)
	}
	sum := sha256.Sum256(data)
	p.Status.ExportedInputs, p.Status.LastExportedRevision = exported, "sha256:"+hex.EncodeToString(sum[:])
	c.Drop(toolkit.ConditionReconciling, toolkit.ConditionStalled)
	c.Set(toolkit.ConditionReady, metav1.ConditionTrue, meta.ReconciliationSucceededReason, fmt.Sprintf("%d input set(s) exported", len(exported)))
	return nil
}

// tellProvider emits an event when what a provider says about itself changed.
func (s *Keeper) tellProvider(before, after *fluxcdv1.ResourceSetInputProvider) {
	was, is := &toolkit.Conditions{List: before.Status.Conditions}, &toolkit.Conditions{List: after.Status.Conditions}
	ready := is.Get(toolkit.ConditionReady)
	if ready == nil || before.Status.LastExportedRevision == after.Status.LastExportedRevision &&
		was.Is(toolkit.ConditionReady, ready.Status) {
		return
	}
	kind := corev1.EventTypeNormal
	if ready.Status != metav1.ConditionTrue {
		kind = corev1.EventTypeWarning
	}
	s.Events.Record(after, kind, ready.Reason, ready.Message, nil)
}
