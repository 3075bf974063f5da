package digitalocean

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// The groups of provider configurations, below which those of resources are.
const (
	modern     = "digitalocean.crossplane.io"
	namespaced = "digitalocean.m.crossplane.io"
	classic    = "do.crossplane.io"
)

// The Deployments of the upstream's providers.
const (
	upjetController   = "provider-upjet-digitalocean"
	classicController = "provider-digitalocean"
)

// The kinds.
const (
	dropletKind = "Droplet"
	imageKind   = "Image"
	keyKind     = "Key"
	ipKind      = "IP"
)

// Kinds are the managed resources.
func (p *Provider) Kinds() []managed.Kind {
	var all []managed.Kind
	for _, base := range []string{modern, namespaced} {
		image, key, droplet := kindOf("custom", base, imageKind), kindOf("ssh", base, keyKind), kindOf("droplet", base, dropletKind)
		all = append(all,
			resource(base, droplet,
				managed.Reference{To: "image", Ref: "imageRef", Selector: "imageSelector", Kind: image},
				managed.Reference{To: "sshKeys", Many: true, Ref: "sshKeysRefs", Selector: "sshKeysSelector", Kind: key}),
			resource(base, image),
			resource(base, key),
			resource(base, kindOf("networking", base, ipKind),
				managed.Reference{To: "dropletId", Number: true, Ref: "dropletIdRef", Selector: "dropletIdSelector", Kind: droplet}),
		)
	}
	return append(all, resource(classic, kindOf("compute", classic, dropletKind)))
}

// aliases are what commands call the cluster-scoped kinds of upjet's provider.
func aliases(base, kind string) []string {
	if base != modern {
		return nil
	}
	return map[string][]string{
		dropletKind: {"droplet", "droplets"}, imageKind: {"customimage", "customimages"}, keyKind: {"sshkey", "sshkeys"}, ipKind: {"reservedip", "reservedips"},
	}[kind]
}

// kindOf is how commands know a kind.
func kindOf(part, base, kind string) dialect.Kind {
	group, resource := part+"."+base, strings.ToLower(kind)+"s"
	k := dialect.Kind{
		GroupKind: schema.GroupKind{Group: group, Kind: kind}, Version: "v1alpha1", Resource: resource, ClusterScoped: base != namespaced,
		Aliases: append(aliases(base, kind), resource+"."+group),
	}
	if base == namespaced {
		k.Namespace = "default"
	}
	return k
}

// resource describes a kind below the group of its configurations.
func resource(base string, k dialect.Kind, references ...managed.Reference) managed.Kind {
	described := managed.Kind{
		Kind: k, Namespaced: base == namespaced, Policies: managed.ManagementPolicies, Deletion: base != namespaced, Naming: managed.ByProvider,
		Configurations: configurations(base), DefaultName: "default", References: references, ShowsDifference: true,
	}
	if base == classic {
		// Its external name is the name of the Droplet, and its number is in the status.
		described.Naming = managed.ByObject
	}
	return described
}

// configurations are the kinds of provider configurations of a group, the default first.
func configurations(group string) []managed.Configuration {
	version := "v1beta1"
	if group == classic {
		version = "v1alpha1"
	}
	of := func(kind string, clusterScoped bool) dialect.Kind {
		return dialect.Kind{
			GroupKind: schema.GroupKind{Group: group, Kind: kind}, Version: version, Resource: strings.ToLower(kind) + "s", ClusterScoped: clusterScoped,
			Aliases: []string{strings.ToLower(kind) + "s." + group}, Static: true,
		}
	}
	usage := of("ProviderConfigUsage", group != namespaced)
	if group == namespaced {
		return []managed.Configuration{
			{Kind: of("ClusterProviderConfig", true), Usage: usage},
			{Kind: of("ProviderConfig", false), Namespaced: true, Usage: usage},
		}
	}
	return []managed.Configuration{{Kind: of("ProviderConfig", true), Usage: usage}}
}

// Defaults are the kinds of configurations that resources use that name none.
func Defaults() []dialect.Kind {
	var all []dialect.Kind
	for _, group := range []string{modern, namespaced, classic} {
		all = append(all, configurations(group)[0].Kind)
	}
	return all
}
