// Package kargo has projects, warehouses and stages of Kargo for charts, the steps of the usual promotion over Git, and the rights of
// the account that promotes.
//
// No stage promotes automatically unless a policy of its project says so, and no account is granted anything that is not called for
// by name.
package kargo

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/rbac"
	"github.com/headgate-dev/headgate/chart/typed"
)

// Meta is what the objects of this package have in common.
type Meta struct {
	// Name of the object; that of its path if empty.
	Name string
	// Namespace of the object, which is the name of its project; that of its chart if empty.
	Namespace   string
	Labels      map[string]string
	Annotations map[string]string
}

func (m Meta) object() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace, Labels: maps.Clone(m.Labels), Annotations: maps.Clone(m.Annotations)}
}

func of(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind}
}

// Namespace puts the namespace of a project below scope, with the label by which the project adopts it.
func Namespace(scope chart.Scope, id string, meta Meta) typed.Object[*corev1.Namespace] {
	namespace := &corev1.Namespace{ObjectMeta: meta.object()}
	if namespace.Labels == nil {
		namespace.Labels = map[string]string{}
	}
	namespace.Labels[v1alpha1.ProjectLabel] = "true"
	return typed.Add(scope, id, namespace)
}

// Project puts a project below scope.
func Project(scope chart.Scope, id string, meta Meta) typed.Object[*v1alpha1.Project] {
	meta.Namespace = ""
	return typed.Add(scope, id, &v1alpha1.Project{TypeMeta: of(v1alpha1.ProjectKind), ObjectMeta: meta.object()})
}

// ProjectConfig puts the configuration of a project below scope: which stages promote automatically, and which senders may notify it.
func ProjectConfig(scope chart.Scope, id string, meta Meta, spec v1alpha1.ProjectConfigSpec) typed.Object[*v1alpha1.ProjectConfig] {
	return typed.Add(scope, id, &v1alpha1.ProjectConfig{TypeMeta: of(v1alpha1.ProjectConfigKind), ObjectMeta: meta.object(), Spec: spec})
}

// Promote is a policy: stages whose names match promote automatically, or do not. Patterns begin with "glob:" or "regex:". The first
// policy that matches a stage counts.
func Promote(automatically bool, stages string) v1alpha1.PromotionPolicy {
	return v1alpha1.PromotionPolicy{AutoPromotionEnabled: automatically, StageSelector: &v1alpha1.StageSelector{Name: stages}}
}

// Warehouse puts a warehouse below scope, which makes Freight of what it is subscribed to.
func Warehouse(scope chart.Scope, id string, meta Meta, spec v1alpha1.WarehouseSpec) typed.Object[*v1alpha1.Warehouse] {
	return typed.Add(scope, id, &v1alpha1.Warehouse{TypeMeta: of(v1alpha1.WarehouseKind), ObjectMeta: meta.object(), Spec: spec})
}

// Images are subscriptions to images.
func Images(images ...v1alpha1.ImageSubscription) []v1alpha1.RepoSubscription {
	var all []v1alpha1.RepoSubscription
	for _, image := range images {
		all = append(all, v1alpha1.RepoSubscription{Image: &image})
	}
	return all
}

// StageProps describe a stage.
type StageProps struct {
	Meta
	// Warehouse whose Freight is promoted.
	Warehouse string
	// After are stages that the Freight has to pass before; it comes directly from the warehouse if there are none.
	After []string
	// Steps of a promotion.
	Steps []v1alpha1.PromotionStep
}

// Stage puts a stage below scope.
func Stage(scope chart.Scope, id string, props StageProps) typed.Object[*v1alpha1.Stage] {
	request := v1alpha1.FreightRequest{
		Origin:  v1alpha1.FreightOrigin{Kind: v1alpha1.FreightFromWarehouse, Name: props.Warehouse},
		Sources: v1alpha1.FreightSources{Direct: len(props.After) == 0, Stages: props.After},
	}
	stage := &v1alpha1.Stage{
		TypeMeta: of(v1alpha1.StageKind), ObjectMeta: props.object(),
		Spec: v1alpha1.StageSpec{RequestedFreight: []v1alpha1.FreightRequest{request}},
	}
	if len(props.Steps) > 0 {
		stage.Spec.PromotionTemplate = &v1alpha1.PromotionTemplate{Spec: v1alpha1.PromotionTemplateSpec{Steps: props.Steps}}
	}
	return typed.Add(scope, id, stage)
}

// PromoterRole puts the role of accounts that promote over Git below scope: they write what a promotion consists of, and read
// credentials.
func PromoterRole(scope chart.Scope, id string, props rbac.Props) typed.Object[*rbacv1.Role] {
	return rbac.Role(scope, id, props,
		rbac.Allow(v1alpha1.GroupVersion.Group, []string{"freights", "stages", "warehouses", "promotions", "projectconfigs"},
			"get", "list", "watch", "create", "update", "patch"),
		rbac.Allow("", []string{"secrets", "serviceaccounts"}, "get", "list"),
	)
}

// Promoter is an account that promotes over Git.
type Promoter struct {
	Account typed.Object[*corev1.ServiceAccount]
	Binding typed.Object[*rbacv1.RoleBinding]
}

// GitPromoter puts an account and its binding to a role (see PromoterRole) below scope; the binding is named as given.
func GitPromoter(scope chart.Scope, id string, account rbac.Props, role, binding string) Promoter {
	made := Promoter{Account: rbac.ServiceAccount(scope, id, account)}
	made.Binding = rbac.RoleBinding(scope, id+"-binding", rbac.Props{Name: binding, Namespace: account.Namespace}, rbac.ToRole(role),
		rbac.Account(made.Account.Namespace(), made.Account.Name()))
	return made
}
