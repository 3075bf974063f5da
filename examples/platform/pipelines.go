package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
)

const (
	// project is the Project of Kargo, and its namespace.
	project = "pipelines"
	// registry is that of the Git server.
	registry = "gitea.cnoe.localtest.me:8443/giteaadmin/"
	// repositories are where the packages are served, without the name of one.
	repositories = "https://gitea.cnoe.localtest.me:8443/giteaAdmin/idpbuilder-localdev-"
)

// PipelinesProps are what the chart "pipelines" takes.
type PipelinesProps struct {
	// Applications that have an image of their own name.
	Applications []string `json:"applications" factory:"required"`
}

// Pipelines bring each image that is pushed to dev at once, and to staging when a person says so.
func Pipelines(scope chart.Scope, p PipelinesProps) {
	home := chart.Add(scope, "namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: project, Labels: map[string]string{v1alpha1.ProjectLabel: "true"},
	}})
	chart.Add(scope, "project", &v1alpha1.Project{ObjectMeta: metav1.ObjectMeta{Name: project}}).DependsOn(home)
	chart.Add(scope, "policies", &v1alpha1.ProjectConfig{
		ObjectMeta: metav1.ObjectMeta{Name: project, Namespace: project},
		Spec: v1alpha1.ProjectConfigSpec{PromotionPolicies: []v1alpha1.PromotionPolicy{
			{StageSelector: &v1alpha1.StageSelector{Name: "glob:*-dev"}, AutoPromotionEnabled: true},
		}},
	}).DependsOn(home)
	for _, app := range p.Applications {
		chart.Add(scope, app, &v1alpha1.Warehouse{
			ObjectMeta: metav1.ObjectMeta{Name: app, Namespace: project},
			Spec:       v1alpha1.WarehouseSpec{Subscriptions: []v1alpha1.RepoSubscription{{Image: &v1alpha1.ImageSubscription{RepoURL: registry + app}}}},
		}).DependsOn(home)
		stage(scope, app, "dev", v1alpha1.FreightSources{Direct: true}).DependsOn(home)
		stage(scope, app, "staging", v1alpha1.FreightSources{Stages: []string{app + "-dev"}}).DependsOn(home)
	}
}

// stage is an application in an environment. What is promoted to it is the image that its Application deploys.
func stage(scope chart.Scope, app, environment string, sources v1alpha1.FreightSources) *chart.Object {
	name := app + "-" + environment
	image := registry + app
	return chart.Add(scope, name, &v1alpha1.Stage{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: project},
		Spec: v1alpha1.StageSpec{
			RequestedFreight: []v1alpha1.FreightRequest{{
				Origin: v1alpha1.FreightOrigin{Kind: v1alpha1.FreightFromWarehouse, Name: app}, Sources: sources,
			}},
			PromotionTemplate: &v1alpha1.PromotionTemplate{Spec: v1alpha1.PromotionTemplateSpec{Steps: []v1alpha1.PromotionStep{{
				Uses: "argocd-update",
				Config: v1alpha1.Config{"apps": []any{map[string]any{
					"name": name,
					"sources": []any{map[string]any{
						"repoURL": repositories + name + "-manifests.git",
						"kustomize": map[string]any{"images": []any{map[string]any{
							"repoURL": image, "tag": `${{ quote(imageFrom("` + image + `").Tag) }}`,
						}}},
					}},
				}}},
			}}}},
		},
	})
}

// promoted are the annotations of an Application that permit a Stage of the same name to sync it.
func promoted(name string) map[string]string {
	return map[string]string{v1alpha1.AuthorizedStageAnnotation: project + ":" + name}
}
