package flux

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
	applyManager    = "kustomize-controller"
	kustomizeField  = "gotk-kustomize-controller"
	sourceField     = "gotk-source-controller"
	sourceManager   = "source-controller"
	notifierManager = "notification-controller"
	notifierField   = "gotk-notification-controller"
	prefix          = "kustomize.toolkit.fluxcd.io/"
	nameLabel       = prefix + "name"
	namespaceLabel  = prefix + "namespace"
	finalizer       = kustomizev1.KustomizationFinalizer
	requestedAt     = meta.ReconcileRequestAnnotation
	// dependsOn is our own: dependencies on objects of any kind.
	dependsOn = "headgate.dev/depends-on"
)

// Namespace is where a Flux cluster keeps its root objects; System is the name of these.
const (
	Namespace = "flux-system"
	System    = "flux-system"
)

var (
	kustomizations    = kustomizev1.GroupVersion.WithResource("kustomizations")
	gitRepositories   = sourcev1.GroupVersion.WithResource("gitrepositories")
	ociRepositories   = sourcev1.GroupVersion.WithResource("ocirepositories")
	externalArtifacts = sourcev1.GroupVersion.WithResource("externalartifacts")
	helmRepositories  = sourcev1.GroupVersion.WithResource("helmrepositories")
	helmCharts        = sourcev1.GroupVersion.WithResource("helmcharts")
	buckets           = sourcev1.GroupVersion.WithResource("buckets")

	receiverResource  = notifyv1.GroupVersion.WithResource("receivers")
	imageRepositories = imagev1.GroupVersion.WithResource("imagerepositories")
	imagePolicies     = imagev1.GroupVersion.WithResource("imagepolicies")
	imageAutomations  = autov1.GroupVersion.WithResource("imageupdateautomations")

	artifactGenerators = swapi.GroupVersion.WithResource("artifactgenerators")

	helmReleases    = helmv2.GroupVersion.WithResource("helmreleases")
	helmReleaseKind = schema.GroupKind{Group: helmv2.GroupVersion.Group, Kind: helmv2.HelmReleaseKind}

	resourceSetResource = fluxcdv1.GroupVersion.WithResource("resourcesets")
	inputProviders      = fluxcdv1.GroupVersion.WithResource("resourcesetinputproviders")
	fluxInstances       = fluxcdv1.GroupVersion.WithResource("fluxinstances")
	resourceSetKind     = schema.GroupKind{Group: fluxcdv1.GroupVersion.Group, Kind: fluxcdv1.ResourceSetKind}

	kustomizationKind = schema.GroupKind{Group: kustomizev1.GroupVersion.Group, Kind: kustomizev1.KustomizationKind}
	gitRepositoryKind = schema.GroupKind{Group: sourcev1.GroupVersion.Group, Kind: sourcev1.GitRepositoryKind}
)

// Ownership is how Flux marks what it manages.
func Ownership() cluster.Ownership { return ApplyNames().Ownership() }

// ApplyNames are the names that the applier needs.
func ApplyNames() apply.Names {
	return apply.Names{
		Manager: applyManager, Prefix: prefix, Name: nameLabel, Namespace: namespaceLabel,
		Protected: []string{kustomizationKind.Group, gitRepositoryKind.Group, helmReleaseKind.Group, swapi.GroupVersion.Group, fluxcdv1.GroupVersion.Group, notificationGroup.Name, imageGroup.Name},
	}
}

// The names that helm-controller writes.
const (
	releaseOwner   = "helm"
	releaseManager = "helm-controller"
	releaseField   = "gotk-helm-controller"
	releasePrefix  = "helm.toolkit.fluxcd.io/"
)

// The names that flux-operator writes.
const (
	resourceSetOwner  = "resourceset"
	operatorManager   = "flux-operator"
	operatorField     = "flux-operator"
	operatorPrefix    = "fluxcd.controlplane.io/"
	resourceSetPrefix = "resourceset.fluxcd.controlplane.io/"
)

// resourceSetNames are those of the objects of ResourceSets.
func resourceSetNames() apply.Names {
	return apply.Names{
		Manager: operatorManager, Prefix: operatorPrefix, Name: resourceSetPrefix + "name", Namespace: resourceSetPrefix + "namespace",
		Protected: ApplyNames().Protected,
	}
}

// The names that the image controllers write.
const (
	reflectorManager  = "image-reflector-controller"
	reflectorField    = "gotk-image-reflector-controller"
	automationManager = "image-automation-controller"
	automationField   = "gotk-image-automation-controller"
)

// The names that source-watcher writes.
const (
	generatorManager = "source-watcher"
	managedByLabel   = "app.kubernetes.io/managed-by"
)

// releaseNames are those of the objects of releases.
func releaseNames() apply.Names {
	return apply.Names{
		Manager: releaseManager, Prefix: releasePrefix, Name: releasePrefix + "name", Namespace: releasePrefix + "namespace",
		Protected: ApplyNames().Protected,
	}
}

// releaseID is the unit that a HelmRelease declares.
func releaseID(namespace, name string) engine.UnitID {
	return engine.UnitID{Group: helmReleaseKind.Group, Kind: helmReleaseKind.Kind, Namespace: namespace, Name: name}
}

// unitID is the unit that a Kustomization declares.
func unitID(namespace, name string) engine.UnitID {
	return engine.UnitID{Group: kustomizationKind.Group, Kind: kustomizationKind.Kind, Namespace: namespace, Name: name}
}

// sourceID is a source of Flux.
func sourceID(kind, namespace, name string) engine.SourceID {
	return engine.SourceID{Group: sourcev1.GroupVersion.Group, Kind: kind, Namespace: namespace, Name: name}
}

// sourceKey is the key under which the artifact of a source of Flux is kept.
func sourceKey(kind, namespace, name string) source.Key {
	return source.Key(sourceID(kind, namespace, name))
}
