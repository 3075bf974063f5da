package flux

import (
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	notifyv1beta3 "github.com/fluxcd/notification-controller/api/v1beta3"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// SourceGroup is the API group of sources.
const SourceGroup = "source.toolkit.fluxcd.io"

// The API groups, in the order of the way of the data.
var (
	sourceGroup       = dialect.Group{Name: SourceGroup, Controllers: []string{"source-controller"}}
	generatorGroup    = dialect.Group{Name: swapi.GroupVersion.Group, Controllers: []string{"source-watcher"}}
	kustomizeGroup    = dialect.Group{Name: kustomizev1.GroupVersion.Group, Controllers: []string{"kustomize-controller"}}
	helmGroup         = dialect.Group{Name: helmv2.GroupVersion.Group, Controllers: []string{"helm-controller"}}
	operatorGroup     = dialect.Group{Name: fluxcdv1.GroupVersion.Group, Controllers: []string{"flux-operator"}}
	notificationGroup = dialect.Group{Name: notifyv1.GroupVersion.Group, Controllers: []string{"notification-controller"}}
	imageGroup        = dialect.Group{Name: imagev1.GroupVersion.Group, Controllers: []string{"image-reflector-controller", "image-automation-controller"}}
)

func groups() []dialect.Group {
	return []dialect.Group{sourceGroup, generatorGroup, kustomizeGroup, helmGroup, operatorGroup, notificationGroup, imageGroup}
}

// kindIn is one of the kinds of a group.
func kindIn(g dialect.Group, name string) schema.GroupKind {
	return schema.GroupKind{Group: g.Name, Kind: name}
}

// kinds are those that commands know, by the names that the flux command has for them.
func kinds() []dialect.Kind {
	kind := func(g dialect.Group, version, name, resource string, aliases ...string) dialect.Kind {
		return dialect.Kind{GroupKind: kindIn(g, name), Version: version, Resource: resource, Aliases: append(aliases, strings.ToLower(name), resource)}
	}
	source := func(name, resource string, aliases ...string) dialect.Kind {
		k := kind(sourceGroup, sourcev1.GroupVersion.Version, name, resource, aliases...)
		k.Role = dialect.Source
		return k
	}
	unit := func(k dialect.Kind) dialect.Kind {
		k.Role = dialect.Unit
		return k
	}
	static := func(k dialect.Kind) dialect.Kind {
		k.Static = true
		return k
	}
	derived := func(k dialect.Kind) dialect.Kind {
		k.Derived = true
		return k
	}
	image := func(k dialect.Kind) dialect.Kind {
		k.Category = "images"
		return k
	}
	return []dialect.Kind{
		source("GitRepository", "gitrepositories", "git", "gitrepo"),
		source("OCIRepository", "ocirepositories", "oci", "ocirepo"),
		source("Bucket", "buckets"),
		source("HelmRepository", "helmrepositories", "helm", "helmrepo"),
		derived(source("HelmChart", "helmcharts", "chart")),
		unit(kind(kustomizeGroup, kustomizev1.GroupVersion.Version, "Kustomization", "kustomizations", "ks")),
		unit(kind(helmGroup, helmv2.GroupVersion.Version, "HelmRelease", "helmreleases", "hr")),
		unit(kind(operatorGroup, fluxcdv1.GroupVersion.Version, "ResourceSet", "resourcesets", "rset")),
		kind(operatorGroup, fluxcdv1.GroupVersion.Version, "ResourceSetInputProvider", "resourcesetinputproviders", "rsip"),
		kind(operatorGroup, fluxcdv1.GroupVersion.Version, "FluxInstance", "fluxinstances", "instance"),
		image(kind(imageGroup, imagev1.GroupVersion.Version, "ImageRepository", "imagerepositories", "imgrepo", "imagerepo")),
		image(kind(imageGroup, imagev1.GroupVersion.Version, "ImagePolicy", "imagepolicies", "imgpol", "imagepol")),
		image(kind(imageGroup, imagev1.GroupVersion.Version, "ImageUpdateAutomation", "imageupdateautomations", "imgupd", "iua", "imgauto")),
		kind(notificationGroup, notifyv1.GroupVersion.Version, "Receiver", "receivers"),
		static(kind(notificationGroup, notifyv1beta3.GroupVersion.Version, "Alert", "alerts")),
		static(kind(notificationGroup, notifyv1beta3.GroupVersion.Version, "Provider", "providers", "alert-provider", "alert-providers")),
	}
}

// unitKinds are those whose objects declare units.
func unitKinds() map[schema.GroupKind]bool {
	return map[schema.GroupKind]bool{kustomizationKind: true, helmReleaseKind: true, resourceSetKind: true}
}
