package takeover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// Instances holds FluxInstances. It is safe for concurrent use.
type Instances struct {
	toolkit.ByNamespace
	*declared.Registry[fluxcdv1.FluxInstance, *fluxcdv1.FluxInstance]

	toolkit.Tools
	policies *policies.Effective

	mu sync.Mutex
	// told is what was said last of an object that asks for an installation.
	told map[engine.UnitID]string
}

// NewInstances returns an empty registry of FluxInstances.
func NewInstances(t toolkit.Tools, policies *policies.Effective) *Instances {
	return &Instances{
		Registry: declared.NewRegistry[fluxcdv1.FluxInstance](toolkit.KindIn(toolkit.Operator, fluxcdv1.FluxInstanceKind)), Tools: t, policies: policies, told: map[engine.UnitID]string{},
	}
}

func (s *Instances) say(id engine.UnitID, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[id] = message
}

func (s *Instances) said(id engine.UnitID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told[id]
}

// InstanceID is the identity of a FluxInstance.
func InstanceID(namespace, name string) engine.UnitID {
	return engine.UnitID{Group: fluxcdv1.GroupVersion.Group, Kind: fluxcdv1.FluxInstanceKind, Namespace: namespace, Name: name}
}

// Pass serves a FluxInstance, as it is now.
func (s *Instances) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	return rounds.Done(s.report(ctx, id))
}

// report serves a FluxInstance, and writes down how.
func (s *Instances) report(ctx context.Context, id engine.UnitID) error {
	o, there := s.Get(id)
	if !there || toolkit.DisabledByAnnotation(o) || o.DeletionTimestamp != nil {
		return nil
	}
	after := o.DeepCopy()
	if requested := o.Annotations[toolkit.RequestedAt]; requested != "" {
		after.Status.LastHandledReconcileAt = requested
	}
	c := &toolkit.Conditions{List: after.Status.Conditions, Generation: o.Generation, Now: metav1.NewTime(time.Now().Truncate(time.Second))}
	var message string
	failure := s.Guard.Call(id.String(), func() (err error) {
		message, err = s.serve(ctx, id, place{s.Home.Dynamic, o.Namespace}, o.Spec)
		return err
	})
	if failure != nil {
		c.Set(toolkit.ConditionReady, metav1.ConditionFalse, meta.ReconciliationFailedReason, failure.Error())
		c.Set(toolkit.ConditionReconciling, metav1.ConditionTrue, meta.ProgressingWithRetryReason, failure.Error())
	} else {
		c.Drop(toolkit.ConditionReconciling, toolkit.ConditionStalled)
		c.Set(toolkit.ConditionReady, metav1.ConditionTrue, reasonServed, message)
	}
	after.Status.Conditions = c.Sorted()
	u, err := declared.Writer{Client: s.Home.Dynamic.Resource(toolkit.FluxInstances), Manager: toolkit.OperatorField}.Status(ctx, o, o.Status, after.Status)
	if err != nil {
		return err
	}
	if u == nil {
		return failure
	}
	s.tell(o, after)
	if _, err := s.Put(u); err != nil {
		return err
	}
	return failure
}

// tell emits an event when what a FluxInstance says about itself changed.
func (s *Instances) tell(before, after *fluxcdv1.FluxInstance) {
	was, is := &toolkit.Conditions{List: before.Status.Conditions}, &toolkit.Conditions{List: after.Status.Conditions}
	ready := is.Get(toolkit.ConditionReady)
	if last := was.Get(toolkit.ConditionReady); last != nil && last.Status == ready.Status && last.Message == ready.Message {
		return
	}
	if ready.Status == metav1.ConditionTrue {
		s.Events.Record(after, corev1.EventTypeNormal, meta.ReconciliationSucceededReason, ready.Message, nil)
		return
	}
	s.Events.Record(after, corev1.EventTypeWarning, ready.Reason, ready.Message, nil)
}

// place is where a sync is created, by a client that has the rights of what declares it.
type place struct {
	client    dynamic.Interface
	namespace string
}

// serve does what a declaration asks for that has a meaning here, and says what became of it. What it permits no longer holds from
// the beginning, whatever becomes of its sync.
func (s *Instances) serve(ctx context.Context, id engine.UnitID, at place, spec fluxcdv1.FluxInstanceSpec) (string, error) {
	message := "Headgate serves the API of Flux instead of its controllers; none is installed"
	wishes := WishesOf(spec)
	s.policies.Ask(id, wishes.Policy)
	if spec.Sync != nil {
		said, err := s.sync(ctx, at, spec.Sync)
		if err != nil {
			return "", err
		}
		message += "; " + said
	}
	return message + wishes.words(id.Namespace == toolkit.Namespace), nil
}

// sync makes the source and the Kustomization of a sync, unless one of them is the root of this run.
func (s *Instances) sync(ctx context.Context, at place, sync *fluxcdv1.Sync) (string, error) {
	namespace, name := at.namespace, cmp.Or(sync.Name, at.namespace)
	objects, err := syncObjects(namespace, name, sync)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return s.Reserved[engine.IDOf(o)] }) {
		return fmt.Sprintf("sync: %s/%s is the root of this run and is not changed", namespace, name), nil
	}
	for _, o := range objects {
		if err := apply.Put(ctx, at.client.Resource(syncResources[o.GetKind()]).Namespace(namespace), roots.InstallManager, o); err != nil {
			return "", fmt.Errorf("spec.sync: %w", err)
		}
	}
	return fmt.Sprintf("sync: %s and Kustomization %s/%s", sync.Kind, namespace, name), nil
}

// syncResources are the resources of the objects of a sync.
var syncResources = map[string]schema.GroupVersionResource{
	sourcev1.GitRepositoryKind: toolkit.GitRepositories, sourcev1.OCIRepositoryKind: toolkit.OCIRepositories, sourcev1.BucketKind: toolkit.Buckets,
	kustomizev1.KustomizationKind: toolkit.Kustomizations,
}

// syncEvery is the interval of a Kustomization of a sync, sourceEvery that of a source that names none.
const (
	syncEvery   = 10 * time.Minute
	sourceEvery = time.Minute
)

// syncObjects are the source and the Kustomization of a sync.
func syncObjects(namespace, name string, sync *fluxcdv1.Sync) ([]*unstructured.Unstructured, error) {
	m := metav1.ObjectMeta{Name: name, Namespace: namespace}
	every := metav1.Duration{Duration: sourceEvery}
	if sync.Interval != nil {
		every = *sync.Interval
	}
	var login *meta.LocalObjectReference
	if sync.PullSecret != "" {
		login = &meta.LocalObjectReference{Name: sync.PullSecret}
	}
	kind := metav1.TypeMeta{APIVersion: sourcev1.GroupVersion.String(), Kind: sync.Kind}
	var from runtime.Object
	switch sync.Kind {
	case sourcev1.GitRepositoryKind:
		from = &sourcev1.GitRepository{TypeMeta: kind, ObjectMeta: m, Spec: sourcev1.GitRepositorySpec{
			URL: sync.URL, Interval: every, Reference: &sourcev1.GitRepositoryRef{Name: sync.Ref}, SecretRef: login, Provider: sync.Provider,
		}}
	case sourcev1.OCIRepositoryKind:
		from = &sourcev1.OCIRepository{TypeMeta: kind, ObjectMeta: m, Spec: sourcev1.OCIRepositorySpec{
			URL: sync.URL, Interval: every, Reference: &sourcev1.OCIRepositoryRef{Tag: sync.Ref}, SecretRef: login, Provider: sync.Provider,
		}}
	case sourcev1.BucketKind:
		from = &sourcev1.Bucket{TypeMeta: kind, ObjectMeta: m, Spec: sourcev1.BucketSpec{
			Endpoint: sync.URL, Interval: every, BucketName: sync.Ref, SecretRef: login, Provider: sync.Provider,
		}}
	default:
		return nil, fmt.Errorf("spec.sync.kind: %q is not supported; use GitRepository, OCIRepository or Bucket", sync.Kind)
	}
	root := &kustomizev1.Kustomization{
		TypeMeta:   metav1.TypeMeta{APIVersion: kustomizev1.GroupVersion.String(), Kind: kustomizev1.KustomizationKind},
		ObjectMeta: m,
		Spec: kustomizev1.KustomizationSpec{
			Interval: metav1.Duration{Duration: syncEvery}, Path: sync.Path, Prune: true,
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sync.Kind, Name: name},
		},
	}
	var objects []*unstructured.Unstructured
	for _, typed := range []runtime.Object{from, root} {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		if err != nil {
			return nil, fmt.Errorf("encoding the sync: %w", err)
		}
		delete(fields, "status")
		unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
		objects = append(objects, &unstructured.Unstructured{Object: fields})
	}
	return objects, nil
}
