package toolkit

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
	Sources      = dialect.Group{Name: SourceGroup, Controllers: []string{"source-controller"}}
	Generators   = dialect.Group{Name: swapi.GroupVersion.Group, Controllers: []string{"source-watcher"}}
	Kustomize    = dialect.Group{Name: kustomizev1.GroupVersion.Group, Controllers: []string{"kustomize-controller"}}
	Helm         = dialect.Group{Name: helmv2.GroupVersion.Group, Controllers: []string{"helm-controller"}}
	Operator     = dialect.Group{Name: fluxcdv1.GroupVersion.Group, Controllers: []string{"flux-operator"}}
	Notification = dialect.Group{Name: notifyv1.GroupVersion.Group, Controllers: []string{"notification-controller"}}
	Image        = dialect.Group{Name: imagev1.GroupVersion.Group, Controllers: []string{"image-reflector-controller", "image-automation-controller"}}
)

// Groups are the API groups that are served, in the order of the way of the data.
func Groups() []dialect.Group {
	return []dialect.Group{Sources, Generators, Kustomize, Helm, Operator, Notification, Image}
}

// KindIn is one of the kinds of a group.
func KindIn(g dialect.Group, name string) schema.GroupKind {
	return schema.GroupKind{Group: g.Name, Kind: name}
}

// Kinds are those that commands know, by the names that the flux command has for them.
func Kinds() []dialect.Kind {
	kind := func(g dialect.Group, version, name, resource string, aliases ...string) dialect.Kind {
		return dialect.Kind{GroupKind: KindIn(g, name), Version: version, Resource: resource, Aliases: append(aliases, strings.ToLower(name), resource)}
	}
	source := func(name, resource string, aliases ...string) dialect.Kind {
		k := kind(Sources, sourcev1.GroupVersion.Version, name, resource, aliases...)
		k.Role = dialect.Source
		return k
	}
	unit := func(k dialect.Kind, finalizer string) dialect.Kind {
		k.Role, k.Finalizer = dialect.Unit, finalizer
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
		unit(kind(Kustomize, kustomizev1.GroupVersion.Version, "Kustomization", "kustomizations", "ks"), Finalizer),
		unit(kind(Helm, helmv2.GroupVersion.Version, "HelmRelease", "helmreleases", "hr"), Finalizer),
		unit(kind(Operator, fluxcdv1.GroupVersion.Version, "ResourceSet", "resourcesets", "rset"), fluxcdv1.Finalizer),
		kind(Operator, fluxcdv1.GroupVersion.Version, "ResourceSetInputProvider", "resourcesetinputproviders", "rsip"),
		kind(Operator, fluxcdv1.GroupVersion.Version, "FluxInstance", "fluxinstances", "instance"),
		image(kind(Image, imagev1.GroupVersion.Version, "ImageRepository", "imagerepositories", "imgrepo", "imagerepo")),
		image(kind(Image, imagev1.GroupVersion.Version, "ImagePolicy", "imagepolicies", "imgpol", "imagepol")),
		image(kind(Image, imagev1.GroupVersion.Version, "ImageUpdateAutomation", "imageupdateautomations", "imgupd", "iua", "imgauto")),
		kind(Notification, notifyv1.GroupVersion.Version, "Receiver", "receivers"),
		static(kind(Notification, notifyv1beta3.GroupVersion.Version, "Alert", "alerts")),
		static(kind(Notification, notifyv1beta3.GroupVersion.Version, "Provider", "providers", "alert-provider", "alert-providers")),
	}
}

// UnitKinds are those whose objects declare units.
func UnitKinds() map[schema.GroupKind]bool {
	return map[schema.GroupKind]bool{KustomizationKind: true, HelmReleaseKind: true, ResourceSetKind: true}
}
