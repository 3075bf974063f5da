package argo

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/argo/commands"
	"github.com/headgate-dev/headgate/internal/argo/offline"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Options are what a person says of how the API of Argo CD is served.
type Options struct {
	// Namespace is that of the installation, "argocd" by default.
	Namespace string
	// GPG is what the environment says of signatures: "false" or "no" has nothing verified, as with the upstream.
	GPG string
	// NoRemoteBases refuses kustomizations that refer to something outside their source.
	NoRemoteBases bool
	// VirtualClusters has the vcluster chart served by a VirtualCluster where it is for the cluster of the installation, and these are served
	// there. Otherwise, the chart is installed as it is.
	VirtualClusters bool
}

// Dialect is the one of Argo CD.
type Dialect struct {
	Options
	offline.Layouts
	commands.Verbs
}

// New returns the dialect; Options may be changed until it is served.
func New(o Options) *Dialect { return &Dialect{Options: o} }

// ForbidRemoteBases refuses kustomizations that refer to something outside their source.
func (d *Dialect) ForbidRemoteBases() { d.NoRemoteBases = true }

// Name is the word for the group.
func (*Dialect) Name() string { return "argocd" }

// Groups is the one of Argo CD.
func (*Dialect) Groups() []dialect.Group {
	return []dialect.Group{{Name: Group, Controllers: []string{"argocd-application-controller", "argocd-applicationset-controller"}}}
}

// Kinds are those that commands know.
func (*Dialect) Kinds() []dialect.Kind {
	kind := func(name, resource string, aliases ...string) dialect.Kind {
		return dialect.Kind{
			GroupKind: schema.GroupKind{Group: Group, Kind: name}, Version: applicationResource.Version, Resource: resource,
			Aliases: append(aliases, strings.ToLower(name), resource), Namespace: DefaultNamespace,
		}
	}
	all := []dialect.Kind{
		kind("Application", "applications", "app", "apps"), kind("ApplicationSet", "applicationsets", "appset", "appsets"),
		kind("AppProject", "appprojects", "project", "projects", "appproj", "appprojs"),
	}
	all[0].Role, all[1].Generates, all[2].Static = dialect.Unit, true, true
	return all
}

// Definitions are those of the group, and the namespace of the installation.
func (d *Dialect) Definitions(serve dialect.Groups) ([]*unstructured.Unstructured, []string, error) {
	if !serve.Serves(Group) {
		return nil, nil, nil
	}
	all, err := deploy.ArgoCRDs()
	return all, []string{d.namespace()}, err
}

// Declared is the unit that an Application declares, with what it depends on by its annotation.
func (*Dialect) Declared(u *unstructured.Unstructured) (engine.Unit, error) {
	unit := engine.Unit{ID: engine.UnitOf(engine.IDOf(u))}
	var err error
	if unit.Dependencies, err = engine.ParseDependsOn(u.GetAnnotations()[engine.DependsOn], u.GetNamespace()); err != nil {
		return unit, fmt.Errorf("annotation %s: %w", engine.DependsOn, err)
	}
	return unit, nil
}

// Upstream is how the controllers of Argo CD are known.
func (*Dialect) Upstream() dialect.Upstream {
	return dialect.Upstream{
		Name: "argocd", Title: "Argo CD", PartOf: "argocd", Kinds: []string{"Deployment", "StatefulSet"}, Renamed: true, Migrates: true,
		Replaced: []schema.GroupKind{{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"}, {Group: "batch", Kind: "Job"}},
	}
}

func (d *Dialect) namespace() string { return cmp.Or(d.Namespace, DefaultNamespace) }

// Walk renders the Applications of a repository.
func (d *Dialect) Walk(_ context.Context, r *dialect.Repository) (dialect.Walk, error) {
	w, err := offline.New(r)
	if err != nil {
		return nil, err
	}
	w.NoRemoteBases = d.NoRemoteBases
	return w, nil
}

// WalkLive renders an Application as a cluster has it.
func (d *Dialect) WalkLive(ctx context.Context, r *dialect.Repository, config *rest.Config) (dialect.Walk, error) {
	w, err := offline.Live(ctx, r, config)
	if err != nil {
		return nil, err
	}
	w.NoRemoteBases = d.NoRemoteBases
	return w, nil
}

var (
	_ dialect.Dialect    = (*Dialect)(nil)
	_ dialect.Upstreamed = (*Dialect)(nil)
	_ dialect.Explain    = (*Dialect)(nil)
	_ dialect.Offline    = (*Dialect)(nil)
	_ dialect.Live       = (*Dialect)(nil)
	_ dialect.Layouts    = (*Dialect)(nil)
	_ dialect.Scans      = (*Dialect)(nil)
	_ dialect.Confined   = (*Dialect)(nil)
)
