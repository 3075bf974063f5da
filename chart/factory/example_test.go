package factory_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/packages"
	"github.com/headgate-dev/headgate/chart/workload"
)

// ShopProps are what the chart of the example takes.
type ShopProps struct {
	Environment factory.Environment `json:"-"`
	Port        int32               `json:"port" factory:"required"`
}

// Shop is a chart.
func Shop(scope chart.Scope, p ShopProps) {
	app := workload.Deployment(scope, "app", workload.Props{
		Replicas: p.Environment.Replicas,
		Pod: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "shop", Image: p.Environment.Image(scope, "shop"), Ports: []corev1.ContainerPort{{ContainerPort: p.Port}},
		}}},
	})
	app.ExposeViaService("service", workload.ServiceProps{})
}

func Example() {
	registry := factory.NewRegistry()
	factory.Register(registry, "shop", Shop)
	config, err := factory.Parse("applications.yaml", []byte(`
environments:
  dev:
    images: {shop: "example.org/shop:1.4.0-rc1"}
    replicas: 1
  production:
    inherits: dev
    destination: {name: production}
    images: {shop: "example.org/shop:1.3.0"}
    replicas: 3
applications:
  - name: shop
    namespace: shop
    chart: {type: shop, props: {port: 8080}}
    environments: {dev: {}, production: {}}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	built, err := factory.Build(registry, config, factory.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := packages.Synth(built, packages.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, file := range result.Files {
		fmt.Println(file.Path)
	}
	fmt.Print(string(result.Files[4].Data))
	// Output:
	// shop-dev.yaml
	// shop-dev/manifests/Deployment.shop-app.k8s.yaml
	// shop-dev/manifests/Service.shop-service.k8s.yaml
	// shop-dev/manifests/kustomization.yaml
	// shop-production.yaml
	// shop-production/manifests/Deployment.shop-app.k8s.yaml
	// shop-production/manifests/Service.shop-service.k8s.yaml
	// shop-production/manifests/kustomization.yaml
	// apiVersion: argoproj.io/v1alpha1
	// kind: Application
	// metadata:
	//   name: shop-production
	//   namespace: argocd
	// spec:
	//   destination:
	//     name: production
	//     namespace: shop
	//   project: default
	//   source:
	//     path: "."
	//     repoURL: cnoe://shop-production/manifests
	//     targetRevision: HEAD
}

// Mistakes of all applications are found at once, with the line of the configuration.
func ExampleBuild_mistakes() {
	registry := factory.NewRegistry()
	factory.Register(registry, "shop", Shop)
	config, loading := factory.Parse("applications.yaml", []byte(`
applications:
  - name: shop
    namespace: shop
    chart: {type: shpo, props: {port: 8080}}
    dependencies: [postgres]
  - name: db
    namespace: shop
    chart: {type: shop}
`), nil)
	_, building := factory.Build(registry, config, factory.Options{})
	fmt.Println(loading)
	fmt.Println(building)
	// Output:
	// <nil>
	// applications.yaml:6: applications[0].dependencies[0]: unknown application "postgres"; there are: db, shop
	// applications.yaml:5: applications[0].chart.type: unknown chart "shpo"; did you mean "shop"?
	// applications.yaml:9: applications[1].chart.props.port: the chart requires a value, and there is none
}
