package standins

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// provideObjects makes objects healthy that no controller handles, and creates those that nothing creates.
func (s *Simulation) provideObjects(ctx context.Context, d runner.Demands) bool {
	if !s.want.Health {
		return false
	}
	made := false
	for _, demand := range d.Objects {
		if s.provideObject(ctx, demand) {
			made = true
		}
	}
	return made
}

func (s *Simulation) provideObject(ctx context.Context, demand runner.ObjectDemand) bool {
	gk := demand.ID.GroupKind()
	if gk.Kind == "CustomResourceDefinition" {
		kind, known := simulate.KindOf(demand.ID.Name)
		return known && demand.Gone && s.want.CRDs && s.stubKind(ctx, kind, nil, demand.Unit)
	}
	r, served := s.Parts.Home.Kinds.Lookup(gk.WithVersion(""))
	if !served || s.ours(demand.ID) || !demand.Gone && s.builtIn(gk) {
		return false
	}
	client := s.client.Resource(r.GroupVersionResource).Namespace(demand.ID.Namespace)
	o, err := client.Get(ctx, demand.ID.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		o = simulate.Object(gk.WithVersion(r.Version), demand.ID.Namespace, demand.ID.Name)
		if o == nil {
			return false
		}
		o, err = client.Create(ctx, o, metav1.CreateOptions{FieldManager: simulationManager})
		if err == nil {
			s.note("Object", demand.ID.String(), demand.Unit)
		}
		if err == nil && s.builtIn(gk) {
			return true
		}
	}
	if err == nil {
		checks := checksOf(demand.Exprs, gk)
		if demand.Assess != nil {
			checks = append(checks, simulate.Check{Assess: demand.Assess})
		}
		return s.heal(ctx, client, o, checks, demand.Unit)
	}
	s.Parts.Log.Info("an object cannot be simulated", "object", demand.ID.String(), "error", err.Error())
	return false
}

func checksOf(exprs []engine.HealthExpr, gk schema.GroupKind) []simulate.Check {
	var checks []simulate.Check
	for _, e := range engine.ExprsFor(exprs, gk) {
		checks = append(checks, simulate.Check{Current: e.Current, InProgress: e.InProgress, Failed: e.Failed})
	}
	return checks
}

// Assumed reports whether an object counts as healthy although the expressions of its unit say otherwise, since they read values that
// are simulated, and would hold with others.
func (s *Simulation) Assumed(o *unstructured.Unstructured, exprs []engine.HealthExpr) bool {
	if !s.want.Health {
		return false
	}
	holds, err := simulate.Suppose(o, checksOf(exprs, o.GroupVersionKind().GroupKind()))
	if err != nil {
		s.Parts.Log.Info("a health expression cannot be evaluated over simulated values", "object", engine.IDOf(o).String(), "error", err.Error())
		return false
	}
	if holds {
		s.note("Expression", "the health of "+engine.IDOf(o).String()+", whose expression reads simulated values", engine.UnitID{})
	}
	return holds
}

// heal writes the status by which an object is healthy, once for each generation.
func (s *Simulation) heal(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured, checks []simulate.Check, unit engine.UnitID) bool {
	key := fmt.Sprintf("%s at generation %d", o.GetUID(), o.GetGeneration())
	s.mu.Lock()
	done := s.healed[key]
	s.mu.Unlock()
	if done {
		return false
	}
	status, ok, err := s.healer.Status(o, s.definition(ctx, o.GroupVersionKind().GroupKind()), checks)
	if err != nil {
		s.Parts.Log.Info("an object may not become healthy", "object", engine.IDOf(o).String(), "error", err.Error())
	}
	if !ok || status == nil {
		return false
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"labels": map[string]any{simulate.Label: "status"}}, "status": status,
	})
	if err == nil {
		_, err = client.Patch(ctx, o.GetName(), types.MergePatchType, patch, toolkit.PatchAs(simulationManager))
	}
	if err == nil {
		// Where a kind keeps its status apart, the first write has left it out.
		_, err = client.Patch(ctx, o.GetName(), types.MergePatchType, patch, toolkit.PatchAs(simulationManager), "status")
		if apierrors.IsNotFound(err) {
			err = nil
		}
	}
	if err != nil {
		s.Parts.Log.Info("an object cannot be made healthy", "object", engine.IDOf(o).String(), "error", err.Error())
		return false
	}
	s.mu.Lock()
	s.healed[key] = true
	s.mu.Unlock()
	s.note("Status", engine.IDOf(o).String(), unit)
	return true
}

// definition is the CRD of a kind, nil when there is none.
func (s *Simulation) definition(ctx context.Context, gk schema.GroupKind) *unstructured.Unstructured {
	r, served := s.Parts.Home.Kinds.Lookup(gk.WithVersion(""))
	if !served {
		return nil
	}
	crd, err := s.client.Resource(crdResource).Get(ctx, r.Resource+"."+gk.Group, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return crd
}

// externalSecretKind is that of objects whose controller writes Secrets.
var externalSecretKind = schema.GroupKind{Group: "external-secrets.io", Kind: "ExternalSecret"}

// provideExternalSecrets writes the Secrets of the ExternalSecrets that there are.
func (s *Simulation) provideExternalSecrets(ctx context.Context, _ runner.Demands) bool {
	r, served := s.Parts.Home.Kinds.Lookup(externalSecretKind.WithVersion(""))
	if !served || !s.want.Secrets {
		return false
	}
	list, err := s.client.Resource(r.GroupVersionResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false
	}
	made := false
	for i := range list.Items {
		o := &list.Items[i]
		if s.ours(engine.ObjectID{Group: externalSecretKind.Group, Kind: externalSecretKind.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}) {
			continue
		}
		client := s.client.Resource(r.GroupVersionResource).Namespace(o.GetNamespace())
		if s.heal(ctx, client, o, nil, engine.UnitID{}) {
			s.writeTarget(ctx, o)
			made = true
		}
	}
	return made
}

var secrets = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

func (s *Simulation) writeTarget(ctx context.Context, o *unstructured.Unstructured) {
	secret, ok := simulate.Target(o)
	if !ok {
		return
	}
	id := engine.IDOf(secret)
	_, err := s.client.Resource(secrets).Namespace(secret.GetNamespace()).
		Create(ctx, secret, metav1.CreateOptions{FieldManager: simulationManager})
	if apierrors.IsAlreadyExists(err) && (secret.GetLabels()[simulate.Label] == "" || !s.real(ctx, simulate.Need{Kind: simulate.SecretKind, Namespace: id.Namespace, Name: id.Name})) {
		err = s.mergeInto(ctx, secret)
	}
	if err == nil {
		s.note("Secret", id.String(), engine.UnitID{})
	} else if !apierrors.IsAlreadyExists(err) {
		s.Parts.Log.Info("a Secret cannot be simulated", "object", id.String(), "error", err.Error())
	}
}

// mergeInto adds the data of a Secret to one that is there.
func (s *Simulation) mergeInto(ctx context.Context, secret *unstructured.Unstructured) error {
	patch, err := json.Marshal(map[string]any{"data": secret.Object["data"]})
	if err != nil {
		return err
	}
	_, err = s.client.Resource(secrets).Namespace(secret.GetNamespace()).
		Patch(ctx, secret.GetName(), types.MergePatchType, patch, toolkit.PatchAs(simulationManager))
	return err
}
