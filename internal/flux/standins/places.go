package standins

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/simulate"
)

var (
	claims  = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	classes = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
	nodes   = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
)

// providePlaces makes what workloads need to be put somewhere: classes of volumes, and nodes.
func (s *Simulation) providePlaces(ctx context.Context, d runner.Demands) bool {
	if !s.want.Health || !s.working(d) {
		return false
	}
	made := s.provideClasses(ctx)
	return s.provideNodes(ctx) || made
}

// provideClasses creates the StorageClasses that claims name and nothing creates: the drivers that would are not here.
func (s *Simulation) provideClasses(ctx context.Context) bool {
	list, err := s.client.Resource(claims).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false
	}
	made := false
	for i := range list.Items {
		phase, _, _ := unstructured.NestedString(list.Items[i].Object, "status", "phase")
		name, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "storageClassName")
		if phase == "Pending" && name != "" && s.provideNew(ctx, classes, simulate.StorageClass(name)) {
			made = true
		}
	}
	return made
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
