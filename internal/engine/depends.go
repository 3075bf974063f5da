package engine

import (
	"fmt"
	"strings"
)

// DependsOn is the annotation by which a unit of any dialect waits for objects of any kind.
const DependsOn = "headgate.dev/depends-on"

// ParseDependsOn reads the value of the annotation DependsOn: "[group/]Kind/[namespace/]name, ...". A group
// differs from a kind by the dot that every group has. The error names the item.
func ParseDependsOn(text, namespace string) ([]Dependency, error) {
	var deps []Dependency
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		parts := strings.Split(item, "/")
		var id ObjectID
		if strings.Contains(parts[0], ".") {
			id.Group, parts = parts[0], parts[1:]
		}
		switch len(parts) {
		case 2:
			id.Kind, id.Namespace, id.Name = parts[0], namespace, parts[1]
		case 3:
			id.Kind, id.Namespace, id.Name = parts[0], parts[1], parts[2]
		}
		if id.Kind == "" || id.Name == "" {
			return nil, fmt.Errorf("%q: want [group/]Kind/[namespace/]name", item)
		}
		deps = append(deps, DependencyOn(id))
	}
	return deps, nil
}

// wellKnownGroups lets users leave out the group of the kinds that come with every cluster, and of units.
var wellKnownGroups = map[string]string{
	"Deployment": "apps", "StatefulSet": "apps", "DaemonSet": "apps", "ReplicaSet": "apps",
	"Job": "batch", "CronJob": "batch", "Ingress": "networking.k8s.io",
	"CustomResourceDefinition": "apiextensions.k8s.io", "GitRepository": "source.toolkit.fluxcd.io",
	"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io", "ResourceSet": "fluxcd.controlplane.io",
	"Application": "argoproj.io",
}

// unitGroups are the groups of the kinds that declare units.
var unitGroups = map[string]string{
	"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io", "ResourceSet": "fluxcd.controlplane.io",
	"Application": "argoproj.io",
}

var clusterScoped = map[string]bool{"CustomResourceDefinition": true, "Namespace": true, "ClusterRole": true}

// DependencyOn is the dependency on an object: on the unit that it declares, if it is of such a kind.
func DependencyOn(id ObjectID) Dependency {
	if id.Group == "" {
		id.Group = wellKnownGroups[id.Kind]
	}
	if group, unit := unitGroups[id.Kind]; unit && group == id.Group {
		return Dependency{Unit: UnitOf(id)}
	}
	if clusterScoped[id.Kind] {
		id.Namespace = ""
	}
	return Dependency{Object: id}
}
