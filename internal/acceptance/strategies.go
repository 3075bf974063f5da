package acceptance

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kube-aggregator/pkg/registry/apiservice"
	servicehelp "k8s.io/kubernetes/pkg/api/service"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
)

// hidden are the strategies of kinds whose storage wraps one and does not show it.
func hidden(gk schema.GroupKind) rest.RESTCreateStrategy {
	switch gk.String() {
	case "Namespace":
		return namespace.Strategy
	case "Role.rbac.authorization.k8s.io":
		return role.Strategy
	case "RoleBinding.rbac.authorization.k8s.io":
		return rolebinding.Strategy
	case "ClusterRole.rbac.authorization.k8s.io":
		return clusterrole.Strategy
	case "ClusterRoleBinding.rbac.authorization.k8s.io":
		return clusterrolebinding.Strategy
	default:
		return nil
	}
}

// addCore adds the kinds of the core whose storage needs a running server.
func (g *group) addCore() {
	gv := schema.GroupVersion{Version: "v1"}
	for resource, k := range map[string]struct {
		kind       string
		namespaced bool
		strategy   rest.RESTCreateStrategy
	}{
		"pods":                   {"Pod", true, pod.Strategy},
		"services":               {"Service", true, services{service.Strategy}},
		"persistentvolumes":      {"PersistentVolume", false, persistentvolume.Strategy},
		"persistentvolumeclaims": {"PersistentVolumeClaim", true, persistentvolumeclaim.Strategy},
		"replicationcontrollers": {"ReplicationController", true, replicationcontroller.Strategy},
		"podtemplates":           {"PodTemplate", true, podtemplate.Strategy},
		"limitranges":            {"LimitRange", true, limitrange.Strategy},
		"endpoints":              {"Endpoints", true, endpoint.Strategy},
		"nodes":                  {"Node", false, node.Strategy},
	} {
		g.kinds[gv.WithKind(k.kind)] = &builtin{group: g, kind: gv.WithKind(k.kind), resource: gv.WithResource(resource), scope: k.namespaced, strategy: k.strategy}
	}
}

// anyPort stands in for one that the server chooses.
const anyPort = 30000

// services is the strategy of Services with what their storage does before: the one address is also the first of all,
// and a port for health checks is chosen where one is needed.
type services struct{ rest.RESTCreateStrategy }

// PrepareForCreate completes the addresses and the port.
func (s services) PrepareForCreate(ctx context.Context, o runtime.Object) {
	if svc, ok := o.(*core.Service); ok {
		if svc.Spec.ClusterIP != "" && len(svc.Spec.ClusterIPs) == 0 {
			svc.Spec.ClusterIPs = []string{svc.Spec.ClusterIP}
		}
		if svc.Spec.HealthCheckNodePort == 0 && servicehelp.NeedsHealthCheck(svc) {
			svc.Spec.HealthCheckNodePort = anyPort
		}
	}
	s.RESTCreateStrategy.PrepareForCreate(ctx, o)
}

// extensions is the group of definitions.
func extensions() *group {
	gv := schema.GroupVersion{Group: extensionsGroup, Version: "v1"}
	g := &group{name: extensionsGroup, scheme: apiserver.Scheme, kinds: map[schema.GroupVersionKind]*builtin{}}
	k := &builtin{group: g, kind: gv.WithKind("CustomResourceDefinition"), resource: gv.WithResource("customresourcedefinitions")}
	k.strategy = customresourcedefinition.NewStrategy(apiserver.Scheme)
	g.kinds[k.kind] = k
	return g
}

// aggregator is the group of APIServices.
func aggregator() *group {
	gv := schema.GroupVersion{Group: aggregatorGroup, Version: "v1"}
	g := &group{name: aggregatorGroup, scheme: aggregatorscheme.Scheme, kinds: map[schema.GroupVersionKind]*builtin{}}
	k := &builtin{group: g, kind: gv.WithKind("APIService"), resource: gv.WithResource("apiservices"), strategy: apiservice.NewStrategy(aggregatorscheme.Scheme)}
	g.kinds[k.kind] = k
	return g
}
