// Package toolkit is what all rooms of the Flux dialect say alike, as the controllers of the GitOps Toolkit write it: names and
// kinds, field managers, finalizers, conditions, events.
//
// It reads and decides nothing.
package toolkit

import (
	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	autov1 "github.com/fluxcd/image-automation-controller/api/v1"
	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/source"
)

// The names that the upstream controllers write into a cluster; ours are the same, so that a
// cluster can move from one to the other and back.
const (
	ApplyManager    = "kustomize-controller"
	KustomizeField  = "gotk-kustomize-controller"
	SourceField     = "gotk-source-controller"
	sourceManager   = "source-controller"
	NotifierManager = "notification-controller"
	NotifierField   = "gotk-notification-controller"
	Prefix          = "kustomize.toolkit.fluxcd.io/"
	NameLabel       = Prefix + "name"
	NamespaceLabel  = Prefix + "namespace"
	Finalizer       = kustomizev1.KustomizationFinalizer
	RequestedAt     = meta.ReconcileRequestAnnotation
)

// Namespace is where a Flux cluster keeps its root objects; System is the name of these.
const (
	Namespace = "flux-system"
	System    = "flux-system"
)

// The resources of the kinds that are served, and those that need a distinction.
var (
	Kustomizations    = kustomizev1.GroupVersion.WithResource("kustomizations")
	GitRepositories   = sourcev1.GroupVersion.WithResource("gitrepositories")
	OCIRepositories   = sourcev1.GroupVersion.WithResource("ocirepositories")
	ExternalArtifacts = sourcev1.GroupVersion.WithResource("externalartifacts")
	HelmRepositories  = sourcev1.GroupVersion.WithResource("helmrepositories")
	HelmCharts        = sourcev1.GroupVersion.WithResource("helmcharts")
	Buckets           = sourcev1.GroupVersion.WithResource("buckets")

	ReceiverResource  = notifyv1.GroupVersion.WithResource("receivers")
	ImageRepositories = imagev1.GroupVersion.WithResource("imagerepositories")
	ImagePolicies     = imagev1.GroupVersion.WithResource("imagepolicies")
	ImageAutomations  = autov1.GroupVersion.WithResource("imageupdateautomations")

	ArtifactGenerators = swapi.GroupVersion.WithResource("artifactgenerators")

	HelmReleases    = helmv2.GroupVersion.WithResource("helmreleases")
	HelmReleaseKind = schema.GroupKind{Group: helmv2.GroupVersion.Group, Kind: helmv2.HelmReleaseKind}

	ResourceSetResource = fluxcdv1.GroupVersion.WithResource("resourcesets")
	InputProviders      = fluxcdv1.GroupVersion.WithResource("resourcesetinputproviders")
	FluxInstances       = fluxcdv1.GroupVersion.WithResource("fluxinstances")
	ResourceSetKind     = schema.GroupKind{Group: fluxcdv1.GroupVersion.Group, Kind: fluxcdv1.ResourceSetKind}

	KustomizationKind = schema.GroupKind{Group: kustomizev1.GroupVersion.Group, Kind: kustomizev1.KustomizationKind}
	GitRepositoryKind = schema.GroupKind{Group: sourcev1.GroupVersion.Group, Kind: sourcev1.GitRepositoryKind}
)

// Ownership is how Flux marks what it manages.
func Ownership() cluster.Ownership { return ApplyNames().Ownership() }

// ApplyNames are the names that the applier needs.
func ApplyNames() apply.Names {
	return apply.Names{
		Manager: ApplyManager, Prefix: Prefix, Name: NameLabel, Namespace: NamespaceLabel,
		Protected: []string{KustomizationKind.Group, GitRepositoryKind.Group, HelmReleaseKind.Group, swapi.GroupVersion.Group, fluxcdv1.GroupVersion.Group, Notification.Name, Image.Name},
	}
}

// The names that helm-controller writes.
const (
	ReleaseOwner   = "helm"
	ReleaseManager = "helm-controller"
	ReleaseField   = "gotk-helm-controller"
	ReleasePrefix  = "helm.toolkit.fluxcd.io/"
)

// The names that flux-operator writes.
const (
	ResourceSetOwner  = "resourceset"
	OperatorManager   = "flux-operator"
	OperatorField     = "flux-operator"
	operatorPrefix    = "fluxcd.controlplane.io/"
	ResourceSetPrefix = "resourceset.fluxcd.controlplane.io/"
)

// ResourceSetNames are those of the objects of ResourceSets.
func ResourceSetNames() apply.Names {
	return apply.Names{
		Manager: OperatorManager, Prefix: operatorPrefix, Name: ResourceSetPrefix + "name", Namespace: ResourceSetPrefix + "namespace",
		Protected: ApplyNames().Protected,
	}
}

// The names that the image controllers write.
const (
	reflectorManager  = "image-reflector-controller"
	ReflectorField    = "gotk-image-reflector-controller"
	automationManager = "image-automation-controller"
	AutomationField   = "gotk-image-automation-controller"
)

// The names that source-watcher writes.
const (
	GeneratorManager = "source-watcher"
	ManagedByLabel   = "app.kubernetes.io/managed-by"
)

// ReleaseNames are those of the objects of releases.
func ReleaseNames() apply.Names {
	return apply.Names{
		Manager: ReleaseManager, Prefix: ReleasePrefix, Name: ReleasePrefix + "name", Namespace: ReleasePrefix + "namespace",
		Protected: ApplyNames().Protected,
	}
}

// ReleaseID is the unit that a HelmRelease declares.
func ReleaseID(namespace, name string) engine.UnitID {
	return engine.UnitID{Group: HelmReleaseKind.Group, Kind: HelmReleaseKind.Kind, Namespace: namespace, Name: name}
}

// KustomizationID is the unit that a Kustomization declares.
func KustomizationID(namespace, name string) engine.UnitID {
	return engine.UnitID{Group: KustomizationKind.Group, Kind: KustomizationKind.Kind, Namespace: namespace, Name: name}
}

// SourceID is a source of Flux.
func SourceID(kind, namespace, name string) engine.SourceID {
	return engine.SourceID{Group: sourcev1.GroupVersion.Group, Kind: kind, Namespace: namespace, Name: name}
}

// SourceKey is the key under which the artifact of a source of Flux is kept.
func SourceKey(kind, namespace, name string) source.Key {
	return source.Key(SourceID(kind, namespace, name))
}
