package rbac_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/rbac"
)

func Example() {
	app := chart.NewApp(chart.Settings{})
	shop := chart.New(app, "shop", chart.Props{Namespace: "shop"})
	account := rbac.ServiceAccount(shop, "account", rbac.Props{Name: "web"})
	role := rbac.Role(shop, "reader", rbac.Props{}, rbac.Named(rbac.Allow("", []string{"secrets"}, "get"), "login"))
	rbac.RoleBinding(shop, "binding", rbac.Props{}, rbac.ToRole(role.Name()), rbac.Account(account.Namespace(), account.Name()))
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result.YAML()))
	// Output:
	// apiVersion: v1
	// kind: ServiceAccount
	// metadata:
	//   name: web
	//   namespace: shop
	// ---
	// apiVersion: rbac.authorization.k8s.io/v1
	// kind: Role
	// metadata:
	//   name: shop-reader
	//   namespace: shop
	// rules:
	//   - apiGroups:
	//       - ""
	//     resourceNames:
	//       - login
	//     resources:
	//       - secrets
	//     verbs:
	//       - get
	// ---
	// apiVersion: rbac.authorization.k8s.io/v1
	// kind: RoleBinding
	// metadata:
	//   name: shop-binding
	//   namespace: shop
	// roleRef:
	//   apiGroup: rbac.authorization.k8s.io
	//   kind: Role
	//   name: shop-reader
	// subjects:
	//   - kind: ServiceAccount
	//     name: web
	//     namespace: shop
}

func TestRules(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		got    rbacv1.PolicyRule
		want   rbacv1.PolicyRule
	}{
		"Read": {"reading is three verbs", rbac.AllowRead("apps", "deployments", "statefulsets"), rbacv1.PolicyRule{
			APIGroups: []string{"apps"}, Resources: []string{"deployments", "statefulsets"}, Verbs: []string{"get", "list", "watch"},
		}},
		"Write": {"writing includes reading, and never all verbs", rbac.AllowReadWrite("", "configmaps"), rbacv1.PolicyRule{
			APIGroups: []string{""}, Resources: []string{"configmaps"},
			Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestClusterScope(t *testing.T) {
	app := chart.NewApp(chart.Settings{})
	c := chart.New(app, "c", chart.Props{Namespace: "shop"})
	role := rbac.ClusterRole(c, "role", rbac.Props{Name: "reader"}, rbac.AllowRead("", "pods"))
	binding := rbac.ClusterRoleBinding(c, "binding", rbac.Props{Name: "readers"}, role.Name(), rbac.User("ada"), rbac.Group("platform"))
	if role.Namespace() != "" || binding.Namespace() != "" {
		t.Errorf("namespaces %q and %q, want none", role.Namespace(), binding.Namespace())
	}
	want := []rbacv1.Subject{
		{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: "ada"}, {APIGroup: "rbac.authorization.k8s.io", Kind: "Group", Name: "platform"},
	}
	if diff := cmp.Diff(want, binding.Value.Subjects); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := (rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "reader"}); binding.Value.RoleRef != want {
		t.Errorf("%v, want %v", binding.Value.RoleRef, want)
	}
}
