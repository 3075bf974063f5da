// Package objects has the managed resource of Kubernetes: Object, as provider-kubernetes has it. It stands for an object of a
// cluster, which it creates and keeps as declared, or only observes.
//
// Everything is watched: an object that changes, a referent that comes, a Secret that goes have a pass made, and nothing is polled.
// The package reads and writes as the account that the configuration names, and refuses whatever would have a
// namespace read another one. ObservedObjectCollections are not served.
package objects

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// The API groups.
const (
	Group      = "kubernetes.crossplane.io"
	Namespaced = "kubernetes.m.crossplane.io"
)

// controller is that of the upstream.
const controller = "provider-kubernetes"

// Provider brings the kinds.
type Provider struct{}

// New returns the provider.
func New() *Provider { return &Provider{} }

// Groups are the cluster-scoped and the namespaced one.
func (*Provider) Groups() []dialect.Group {
	return []dialect.Group{
		{Name: Group, Controllers: []string{controller, "crossplane-contrib-" + controller, "upbound-" + controller}},
		{Name: Namespaced, Controllers: []string{controller, "crossplane-contrib-" + controller, "upbound-" + controller}},
	}
}

// Kinds are Object in both scopes.
func (*Provider) Kinds() []managed.Kind {
	cluster := managed.Kind{
		Kind:     kind(Group, "v1alpha2", "Object", true, "object", "objects"),
		Policies: managed.BothPolicies, Deletion: true, Repeatable: true, DefaultName: "default", Poll: -1,
		Configurations: []managed.Configuration{{
			Kind:  configuration(Group, "ProviderConfig", true),
			Usage: kind(Group, "v1alpha1", "ProviderConfigUsage", true),
		}},
	}
	usage := kind(Namespaced, "v1alpha1", "ProviderConfigUsage", false)
	namespaced := managed.Kind{
		Kind:       kind(Namespaced, "v1alpha1", "Object", false),
		Namespaced: true, Policies: managed.ManagementPolicies, Repeatable: true, DefaultName: "default", Poll: -1,
		Configurations: []managed.Configuration{
			{Kind: configuration(Namespaced, "ClusterProviderConfig", true), Usage: usage},
			{Kind: configuration(Namespaced, "ProviderConfig", false), Namespaced: true, Usage: usage},
		},
	}
	return []managed.Kind{cluster, namespaced}
}

// kind is one of the provider.
func kind(group, version, name string, clusterScoped bool, aliases ...string) dialect.Kind {
	resource := strings.ToLower(name) + "s"
	k := dialect.Kind{
		GroupKind: schema.GroupKind{Group: group, Kind: name}, Version: version, Resource: resource, ClusterScoped: clusterScoped,
		Aliases: append(aliases, resource+"."+group),
	}
	if !clusterScoped {
		k.Namespace = "default"
	}
	return k
}

// configuration is a kind of configurations, which have nothing to be ready for.
func configuration(group, name string, clusterScoped bool) dialect.Kind {
	k := kind(group, "v1alpha1", name, clusterScoped)
	k.Static = true
	return k
}

// Definitions are those of both groups.
func (*Provider) Definitions() ([]*unstructured.Unstructured, error) {
	all, err := deploy.ProvisionCRDs()
	if err != nil {
		return nil, err
	}
	var own []*unstructured.Unstructured
	for _, one := range all {
		if group, _, _ := unstructured.NestedString(one.Object, "spec", "group"); group == Group || group == Namespaced {
			own = append(own, one)
		}
	}
	return own, nil
}

// Serve returns what reaches objects of clusters.
func (*Provider) Serve(ctx context.Context, to managed.Tools) (managed.Connector, error) {
	return &connector{Tools: to, accounts: &accounts{ctx: ctx, to: to, all: map[string]*account{}}}, nil
}
