package argo

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/commands"
	"github.com/headgate-dev/headgate/internal/argo/sets"
	"github.com/headgate-dev/headgate/internal/engine"
)

// DefaultNamespace is that of an installation that names none.
const DefaultNamespace = "argocd"

// Group is the API group of Argo CD.
const Group = "argoproj.io"

const (
	// owner is how targets of Applications say how their objects are marked.
	owner = "argo"
	// manager is the field manager of the upstream's controller.
	manager = "argocd-controller"
	// component is who events come from.
	component = "argocd-application-controller"

	// annotationHooks and the rest are our own. It keeps which hooks have run, and annotationDone which Jobs have completed that their time to live
	// deletes.
	annotationHooks = "headgate.dev/hooks"
	annotationDone  = "headgate.dev/completed"
	// annotationHookOf is on hooks: the digest of what they were made from, and by which sync.
	annotationHookOf = "headgate.dev/hook-of"
	// AnnotationPin holds an Application at a revision of its history: ID, until when.
	AnnotationPin = commands.AnnotationPin
)

var (
	groupVersion        = schema.GroupVersion{Group: Group, Version: "v1alpha1"}
	applicationResource = groupVersion.WithResource("applications")
	projectResource     = groupVersion.WithResource("appprojects")

	applicationKind    = schema.GroupKind{Group: Group, Kind: "Application"}
	applicationSetKind = schema.GroupKind{Group: Group, Kind: sets.Kind}
)

// UnitID is the unit that an Application declares.
func UnitID(namespace, name string) engine.UnitID {
	return engine.UnitID{Group: applicationKind.Group, Kind: applicationKind.Kind, Namespace: namespace, Name: name}
}

// finalizers that have the objects of an Application deleted with it.
var cascading = []string{v1alpha1.ResourcesFinalizer, v1alpha1.ResourcesFinalizerForeground, v1alpha1.ResourcesFinalizerBackground}
