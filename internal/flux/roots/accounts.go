package roots

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// administrators are the controllers that act with every right in an installation of Flux.
var administrators = []string{"kustomize-controller", "helm-controller", "flux-operator"}

const rbacGroup = "rbac.authorization.k8s.io"

// resources are how the kinds of accounts and their rights are reached.
var resources = map[string]schema.GroupVersionResource{
	"ServiceAccount":     {Version: "v1", Resource: "serviceaccounts"},
	"ClusterRole":        {Group: rbacGroup, Version: "v1", Resource: "clusterroles"},
	"ClusterRoleBinding": {Group: rbacGroup, Version: "v1", Resource: "clusterrolebindings"},
}

// PutAccounts makes the accounts that an installation of Flux brings, with the rights that they have there: units name them in
// spec.serviceAccountName. They are for a cluster in which nothing was installed.
func PutAccounts(ctx context.Context, config *rest.Config, serve dialect.Groups) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	for _, o := range Accounts(serve) {
		if err := apply.Put(ctx, client.Resource(resources[o.GetKind()]).Namespace(o.GetNamespace()), InstallManager, o); err != nil {
			return err
		}
	}
	return nil
}

// Accounts are those of the controllers of served groups, and their rights; none where no group of Flux is served.
func Accounts(serve dialect.Groups) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	var every, full []any
	for _, group := range toolkit.Groups() {
		if !serve.Serves(group.Name) {
			continue
		}
		for _, name := range group.Controllers {
			all = append(all, object("v1", "ServiceAccount", toolkit.Namespace, name, nil))
			subject := map[string]any{"kind": "ServiceAccount", "name": name, "namespace": toolkit.Namespace}
			every = append(every, subject)
			if slices.Contains(administrators, name) {
				full = append(full, subject)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	all = append(all, object(rbacGroup+"/v1", "ClusterRole", "", common, map[string]any{"rules": commonRules()}), binding(common, common, every))
	if len(full) > 0 {
		all = append(all, binding("cluster-reconciler-"+toolkit.Namespace, "cluster-admin", full))
	}
	return all
}

// common is the role that all controllers have.
const common = "crd-controller-" + toolkit.Namespace

// commonRules are what each controller may do: everything with the kinds of Flux, and what reconciling them takes.
func commonRules() []any {
	var groups []any
	for _, group := range toolkit.Groups() {
		groups = append(groups, group.Name)
	}
	rule := func(groups []any, resources []any, verbs ...any) any {
		return map[string]any{"apiGroups": groups, "resources": resources, "verbs": verbs}
	}
	core := []any{""}
	return []any{
		rule(groups, []any{"*"}, "*"),
		rule(core, []any{"namespaces", "secrets", "configmaps", "serviceaccounts"}, "get", "list", "watch"),
		rule(core, []any{"events"}, "create", "patch"),
		rule(core, []any{"configmaps"}, "create", "update", "patch", "delete"),
		rule([]any{"coordination.k8s.io"}, []any{"leases"}, "get", "list", "watch", "create", "update", "patch", "delete"),
		rule(core, []any{"serviceaccounts/token"}, "create"),
	}
}

func binding(name, role string, subjects []any) *unstructured.Unstructured {
	return object(rbacGroup+"/v1", "ClusterRoleBinding", "", name, map[string]any{
		"roleRef":  map[string]any{"apiGroup": rbacGroup, "kind": "ClusterRole", "name": role},
		"subjects": subjects,
	})
}

func object(version, kind, namespace, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind}}
	for field, value := range fields {
		o.Object[field] = value
	}
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}
