package standins

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/simulate"
)

var (
	claims  = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	classes = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
	volumes = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumes"}
	nodes   = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}

	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// providePlaces makes what workloads need to be put somewhere: classes of volumes, and nodes.
func (s *Simulation) providePlaces(ctx context.Context, d runner.Demands) bool {
	if !s.want.Health || !s.working(d) {
		return false
	}
	made := s.provideVolumes(ctx)
	return s.provideNodes(ctx) || made
}

// provideVolumes creates the StorageClasses and the volumes that claims name and nothing creates: the drivers and the people that would
// are not here.
func (s *Simulation) provideVolumes(ctx context.Context) bool {
	list, err := s.client.Resource(claims).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false
	}
	made := false
	for i := range list.Items {
		phase, _, _ := unstructured.NestedString(list.Items[i].Object, "status", "phase")
		if phase != "Pending" {
			continue
		}
		class, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "storageClassName")
		volume, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "volumeName")
		switch {
		case volume != "":
			made = s.provideNew(ctx, volumes, simulate.Volume(&list.Items[i])) || made
		case class != "":
			made = s.provideNew(ctx, classes, simulate.StorageClass(class)) || made
		}
	}
	return made
}

// provideNamespaces makes those for want of which units failed: what says in which namespace a release is does not make it.
func (s *Simulation) provideNamespaces(ctx context.Context, d runner.Demands) bool {
	if !s.want.Health {
		return false
	}
	made := false
	for _, failed := range d.Failed {
		for _, name := range simulate.NamespacesLacking(failed.Message) {
			s.provideNew(ctx, namespaces, simulate.Object(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "", name))
			if s.mayTry(failed.Unit, name) {
				s.startOver(ctx, failed.Unit)
				made = true
			}
		}
	}
	return made
}

// startOver tries a failed unit again, also a release that has no attempt left.
func (s *Simulation) startOver(ctx context.Context, unit engine.UnitID) {
	if hr, is := s.Parts.Releases.Get(unit); is && unit.GroupKind() == toolkit.HelmReleaseKind {
		token := time.Now().Format(time.RFC3339Nano)
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			toolkit.RequestedAt: token, helmv2.ResetRequestAnnotation: token,
		}}})
		if err == nil {
			_, err = s.client.Resource(toolkit.HelmReleases).Namespace(hr.Namespace).Patch(ctx, hr.Name, types.MergePatchType, patch, toolkit.PatchAs(simulationManager))
		}
		if err != nil {
			s.Parts.Log.Info("a release cannot be tried again", "release", unit.String(), "error", err.Error())
		}
		return
	}
	s.Parts.Runner.Retry(unit)
}

// provideNew makes an object unless it is there.
func (s *Simulation) provideNew(ctx context.Context, resource schema.GroupVersionResource, o *unstructured.Unstructured) bool {
	_, err := s.client.Resource(resource).Create(ctx, o, metav1.CreateOptions{FieldManager: simulationManager})
	switch {
	case apierrors.IsAlreadyExists(err):
		return false
	case err != nil:
		s.Parts.Log.Info("an object cannot be simulated", "object", engine.IDOf(o).String(), "error", err.Error())
		return false
	}
	s.note("Object", engine.IDOf(o).String(), engine.UnitID{})
	return true
}

// maxNodes bounds the nodes that are created: what is requested beyond that is a mistake.
const maxNodes = 64

// provideNodes makes nodes for pods that fit on none: with the labels that they select, and as many as they want to be
// apart from each other.
func (s *Simulation) provideNodes(ctx context.Context) bool {
	waiting, err := s.client.Resource(pods).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName="})
	if err != nil || len(waiting.Items) == 0 {
		return false
	}
	there, err := s.client.Resource(nodes).List(ctx, metav1.ListOptions{})
	if err != nil || len(there.Items) == 0 {
		return false
	}
	var places []simulate.Place
	for i := range waiting.Items {
		place, lacks := simulate.PlaceOf(&waiting.Items[i])
		if lacks && !slices.ContainsFunc(places, place.Same) {
			places = append(places, place)
		}
	}
	made := false
	for _, place := range places {
		if s.nodes >= maxNodes {
			break
		}
		if s.provideNew(ctx, nodes, place.Node(&there.Items[0], fmt.Sprintf("simulated-%d", s.nodes+1))) {
			s.nodes++
			made = true
		}
	}
	return made
}
