package chart_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/chart"
)

// ExampleApp_Synth describes a Deployment and the ConfigMap that it reads.
func ExampleApp_Synth() {
	app := chart.NewApp(chart.Settings{})
	web := chart.New(app, "web", chart.Props{Namespace: "shop", Labels: map[string]string{"app.kubernetes.io/part-of": "shop"}})
	config := chart.Add(web, "config", &corev1.ConfigMap{Data: map[string]string{"debug": "yes"}})
	server := &appsv1.Deployment{}
	server.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "server", Image: "nginx:1.29",
		EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: config.Name()}}}},
	}}
	chart.Add(web, "server", server).DependsOn(config)
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result.YAML()))
	// Output:
	// apiVersion: v1
	// kind: ConfigMap
	// metadata:
	//   labels:
	//     app.kubernetes.io/part-of: shop
	//   name: web-config
	//   namespace: shop
	// data:
	//   debug: "yes"
	// ---
	// apiVersion: apps/v1
	// kind: Deployment
	// metadata:
	//   labels:
	//     app.kubernetes.io/part-of: shop
	//   name: web-server
	//   namespace: shop
	// spec:
	//   template:
	//     spec:
	//       containers:
	//         - envFrom:
	//             - configMapRef:
	//                 name: web-config
	//           image: nginx:1.29
	//           name: server
}
