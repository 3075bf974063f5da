package conformance

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/rbac"
	"github.com/headgate-dev/headgate/chart/workload"
)

type HeadlampProps struct {
	Plugins   string `json:"plugins" factory:"required"`
	Installer string `json:"installer" factory:"required"`
}

func headlampProps(g tree) HeadlampProps {
	return HeadlampProps{
		Plugins:   g.files("headlamp/manifests/ConfigMap.headlamp-plugins.k8s.yaml", "plugins.yaml"),
		Installer: g.text("headlamp/manifests/Deployment.headlamp.k8s.yaml", "spec", "template", "spec", "containers", "1", "args", "1"),
	}
}

func headlampChart(scope chart.Scope, p HeadlampProps) {
	name := labels("name", "headlamp")
	chart.Add(scope, "namespace", namespaceOf("headlamp", "-20", labels("managed-by", "cdk8s", "name", "headlamp")))
	account := rbac.ServiceAccount(scope, "account", rbac.Props{Name: "headlamp", Labels: name})
	rbac.ClusterRoleBinding(scope, "admin", rbac.Props{Name: "headlamp-admin", Labels: name}, "cluster-admin", rbac.Account(account.Namespace(), account.Name()))
	config := workload.ConfigMap(scope, "plugins", workload.ConfigMapProps{Name: "headlamp-plugins", Labels: name, Files: []workload.Files{{Dir: p.Plugins}}})
	pod := corev1.PodSpec{
		ServiceAccountName: account.Name(), Containers: []corev1.Container{headlampServer(), pluginManager(p.Installer)},
		SecurityContext: &corev1.PodSecurityContext{FSGroup: to(int64(101)), RunAsNonRoot: to(true), RunAsUser: to(int64(100))},
	}
	plugins := corev1.Volume{Name: "plugins", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	workload.Mount(&pod, 0, plugins, "/headlamp/plugins")
	workload.Mount(&pod, 1, plugins, "/headlamp/plugins")
	workload.Mount(&pod, 1, corev1.Volume{Name: "plugins-config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: config.Name()},
	}}}, "/config")
	app := workload.Deployment(scope, "app", workload.Props{Name: "headlamp", Labels: name, Replicas: to(int32(1)), Pod: pod})
	server := loose(app.Template.Spec.Containers[0])
	server["env"] = []any{}
	replace(app.Object.Object, "/spec/template/spec/containers/0", server)
	service := app.ExposeViaService("service", workload.ServiceProps{Name: "headlamp", Labels: name, Port: 80, Type: corev1.ServiceTypeClusterIP})
	service.Value.Spec.Ports[0].Protocol = corev1.ProtocolTCP
	service.ExposeViaIngress("ingress", workload.IngressProps{
		Name: "headlamp", Class: "nginx", Host: "headlamp.cnoe.localtest.me", Annotations: nginx("ssl-redirect", "true"),
	})
}

func headlampServer() corev1.Container {
	return corev1.Container{
		Name: "headlamp", Image: "ghcr.io/headlamp-k8s/headlamp:v0.33.0", ImagePullPolicy: corev1.PullIfNotPresent,
		Command: []string{
			"/headlamp/headlamp-server", "-in-cluster", "-html-static-dir", "/headlamp/frontend", "-plugins-dir", "/headlamp/plugins", "-watch-plugins-changes",
		},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 4466, Protocol: corev1.ProtocolTCP}}, Resources: resources("100m", "128Mi", "500m", "512Mi"),
		LivenessProbe:   workload.Timing{InitialDelay: 30, Period: 10}.HTTP("/", intstr.FromString("http")),
		ReadinessProbe:  workload.Timing{InitialDelay: 5, Period: 5}.HTTP("/", intstr.FromString("http")),
		SecurityContext: unprivileged(),
	}
}

func pluginManager(script string) corev1.Container {
	return corev1.Container{
		Name: "plugin-manager", Image: "curlimages/curl:8.9.1", ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"/bin/sh"},
		Args: []string{"-c", script}, Resources: resources("10m", "32Mi", "50m", "64Mi"), SecurityContext: unprivileged(),
	}
}

func unprivileged() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: to(false), ReadOnlyRootFilesystem: to(false), RunAsNonRoot: to(true), RunAsUser: to(int64(100)),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}
