package flux

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
)

// group is an API group that can be served, and which controllers of the upstream serve it.
type group struct {
	name        string
	controllers []string
}

// theirs tells whether a controller of the upstream serves the group. That of a shard has the name of the shard behind
// its own.
func (g group) theirs(controller string) bool {
	return slices.ContainsFunc(g.controllers, func(name string) bool {
		return controller == name || strings.HasPrefix(controller, name+"-")
	})
}

// kind is one of the kinds of the group.
func (g group) kind(name string) schema.GroupKind { return schema.GroupKind{Group: g.name, Kind: name} }

// The API groups, in the order of the way of the data.
var (
	sourceGroup       = group{sourcev1.GroupVersion.Group, []string{"source-controller"}}
	generatorGroup    = group{swapi.GroupVersion.Group, []string{"source-watcher"}}
	kustomizeGroup    = group{kustomizev1.GroupVersion.Group, []string{"kustomize-controller"}}
	helmGroup         = group{helmv2.GroupVersion.Group, []string{"helm-controller"}}
	operatorGroup     = group{fluxcdv1.GroupVersion.Group, []string{"flux-operator"}}
	notificationGroup = group{notifyv1.GroupVersion.Group, []string{"notification-controller"}}
	imageGroup        = group{imagev1.GroupVersion.Group, []string{"image-reflector-controller", "image-automation-controller"}}
)

func fluxGroups() []group {
	return []group{sourceGroup, generatorGroup, kustomizeGroup, helmGroup, operatorGroup, notificationGroup, imageGroup}
}

// argoGroup is the one of Argo CD, which a guest serves.
var argoGroup = group{ArgoGroup, []string{"argocd-application-controller", "argocd-applicationset-controller"}}

// ArgoGroup is the API group of Argo CD.
const ArgoGroup = "argoproj.io"

func allGroups() []group { return append(fluxGroups(), argoGroup) }

// allFlux is the word for every API group of Flux, allArgo for that of Argo CD.
const (
	allFlux = "flux"
	allArgo = "argocd"
)

// ErrGroup is returned for an API group that is not served here.
var ErrGroup = errors.New("unknown API group")

// Groups are the API groups that an Engine serves. The zero value is all of them.
type Groups struct{ names []string }

// ParseGroups reads API groups; "flux" is all of those of Flux, and "argocd" that of Argo CD.
func ParseGroups(names []string) (Groups, error) {
	var known []string
	for _, g := range allGroups() {
		known = append(known, g.name)
	}
	var out Groups
	for _, name := range names {
		switch {
		case name == allFlux:
			for _, g := range fluxGroups() {
				out.names = append(out.names, g.name)
			}
		case name == allArgo:
			out.names = append(out.names, ArgoGroup)
		case slices.Contains(known, name):
			out.names = append(out.names, name)
		default:
			return Groups{}, fmt.Errorf("%w %q: use %s, %s, or any of %s", ErrGroup, name, allFlux, allArgo, strings.Join(known, ", "))
		}
	}
	return out, nil
}

// Names are the API groups, in the order of the way of the data.
func (g Groups) Names() []string {
	var names []string
	for _, known := range allGroups() {
		if g.serves(known) {
			names = append(names, known.name)
		}
	}
	return names
}

// Serves tells whether an API group is served.
func (g Groups) Serves(name string) bool { return g.servesName(name) }

// ServesFlux tells whether a group of Flux is served.
func (g Groups) ServesFlux() bool { return slices.ContainsFunc(fluxGroups(), g.serves) }

func (g Groups) serves(what group) bool { return g.servesName(what.name) }

func (g Groups) servesName(name string) bool {
	if len(g.names) > 0 {
		return slices.Contains(g.names, name)
	}
	return slices.ContainsFunc(allGroups(), func(known group) bool { return known.name == name })
}

// unitKinds are the kinds whose objects declare units.
func (g Groups) unitKinds() map[schema.GroupKind]bool {
	kinds := map[schema.GroupKind]bool{}
	for _, gk := range []schema.GroupKind{kustomizationKind, helmReleaseKind, resourceSetKind} {
		if g.servesName(gk.Group) {
			kinds[gk] = true
		}
	}
	return kinds
}

// defines tells whether a definition is that of a kind that is served.
func (g Groups) defines(crd *unstructured.Unstructured) bool {
	name, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	return g.servesName(name)
}

// Replaces tells whether a controller of the upstream serves one of the groups.
func (g Groups) Replaces(controller string) bool {
	_, ours := g.servedBy(controller)
	return ours
}

// servedBy names the served group that a controller of the upstream serves as well, if there is one.
func (g Groups) servedBy(controller string) (string, bool) {
	for _, known := range allGroups() {
		if known.theirs(controller) && g.serves(known) {
			return known.name, true
		}
	}
	return "", false
}
