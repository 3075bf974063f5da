package conformance

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/rbac"
	"github.com/headgate-dev/headgate/chart/workload"
)

type NamespaceProps struct {
	Labels map[string]string `json:"labels"`
}

func namespaceChart(scope chart.Scope, p NamespaceProps) {
	name := scope.Node().Chart().Namespace()
	chart.Add(scope, "namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: p.Labels}})
}

type PostgresProps struct {
	Host string `json:"host" factory:"required"`
}

func postgresChart(scope chart.Scope, p PostgresProps) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Name: "postgres-service", Annotations: with(wave("50"), "description", "Headless service for Neon cloud PostgreSQL compatibility"),
	}}
	service.Spec = corev1.ServiceSpec{
		Type: corev1.ServiceTypeExternalName, ExternalName: p.Host,
		Ports: []corev1.ServicePort{{Name: "pg", Port: 5432, TargetPort: intstr.FromInt32(5432)}},
	}
	chart.Add(scope, "service", service)
	workload.ConfigMap(scope, "info", workload.ConfigMapProps{Name: "postgres-connection-info", Data: map[string]string{
		"connection-type": "neon-cloud",
		"info":            "Database is hosted on Neon cloud. Connection string is stored in neon-database-credentials secret.",
		"migration-note":  "Run database migrations using your application migration tools (Prisma, Drizzle, etc.)",
		"pooling":         "enabled",
		"ssl-mode":        "require",
	}})
}

func redisChart(scope chart.Scope, _ struct{}) {
	const port = 6379
	redis := workload.Deployment(scope, "redis", workload.Props{
		Name: "redis-deployment", Annotations: wave("60"), Selector: map[string]string{"app": "redis"}, Replicas: to(int32(1)),
		Pod: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "redis", Image: "redis:7-alpine", ImagePullPolicy: corev1.PullIfNotPresent,
			Ports: []corev1.ContainerPort{{ContainerPort: port}}, Resources: resources("50m", "128Mi", "200m", "256Mi"),
			LivenessProbe:  workload.Timing{InitialDelay: 30, Period: 10, Timeout: 5, Failures: 3}.TCP(port),
			ReadinessProbe: workload.Timing{InitialDelay: 5, Period: 5, Timeout: 3, Failures: 3, Successes: 1}.Command("redis-cli", "ping"),
			StartupProbe:   workload.Timing{Period: 10, Timeout: 5, Failures: 30, Successes: 1}.TCP(port),
		}}},
	})
	replace(redis.Object.Object, "/spec/template/spec/containers/0/startupProbe", map[string]any{
		"failureThreshold": 30, "initialDelaySeconds": 0, "periodSeconds": 10, "successThreshold": 1, "tcpSocket": map[string]any{"port": port}, "timeoutSeconds": 5,
	})
	redis.ExposeViaService("service", workload.ServiceProps{Name: "redis-service"})
}

type NextjsProps struct {
	Environment factory.Environment `json:"-"`
	Ingress     bool                `json:"ingress"`
	Debug       bool                `json:"debug"`
}

// config are the variables of the application.
func (p NextjsProps) config() map[string]string {
	env := p.Environment.Name
	url := "https://chat-" + env + ".cnoe.localtest.me:8443"
	all := map[string]string{
		"AUTH_TRUST_HOST": "true", "ENVIRONMENT": env, "FLAGD_HOST": "flagd.default.svc.cluster.local", "FLAGD_PORT": "8013",
		"K8S_NAMESPACE": "nextjs", "NEXTAUTH_URL_INTERNAL": "http://nextjs-service-" + env + ":3000", "NEXT_RUNTIME": "nodejs",
		"NODE_ENV": "production", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://alloy.monitoring:4318", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
		"OTEL_LOGS_EXPORTER": "otlp", "OTEL_METRICS_EXPORTER": "otlp", "OTEL_TRACES_EXPORTER": "otlp", "OTEL_SERVICE_NAME": "nextjs-" + env,
		"OTEL_RESOURCE_ATTRIBUTES": "k8s.cluster.name=" + env + "-vcluster,service.namespace=nextjs,service.name=nextjs-" + env,
		"REDIS_AVAILABLE":          "true", "REDIS_URL": "redis://redis-service-" + env + ":6379", "TRUST_PROXY": "1",
	}
	for _, name := range []string{"AUTH_URL", "NEXTAUTH_URL", "NEXT_PUBLIC_BASE_PATH", "NEXT_PUBLIC_BASE_URL", "NEXT_PUBLIC_SITE_URL"} {
		all[name] = url
	}
	if p.Debug {
		all["NODE_ENV"] = "development"
	}
	return all
}

func nextjsChart(scope chart.Scope, p NextjsProps) {
	env := p.Environment.Name
	labels := map[string]string{"app": "nextjs-" + env, "environment": env}
	config := workload.ConfigMap(scope, "config", workload.ConfigMapProps{Name: "nextjs-config-" + env, Data: p.config()})
	container := corev1.Container{
		Name: "nextjs", Image: p.Environment.Image(scope, "nextjs"), ImagePullPolicy: corev1.PullAlways,
		Env: workload.Env(map[string]string{"FLAGD_PROTOCOL": "grpc"}), Ports: []corev1.ContainerPort{{ContainerPort: 80}},
		EnvFrom: append(workload.FromConfigMaps(config.Name()),
			workload.FromSecrets("app-env", "neon-database-credentials", "nextauth-credentials")...),
		Resources: resources("100m", "256Mi", "1000m", "1Gi"),
	}
	if p.Debug {
		container.Command, container.Ports[0].ContainerPort = []string{"sleep", "infinity"}, 3000
		container.Resources = resources("50m", "128Mi", "500m", "512Mi")
	}
	app := workload.Deployment(scope, "app", workload.Props{
		Name: "nextjs-" + env, Labels: labels, Annotations: wave("10"), PodAnnotations: map[string]string{"openfeature.dev/enabled": "false"},
		Replicas: to(int32(1)), Pod: corev1.PodSpec{Containers: []corev1.Container{container}},
		Policies: []workload.Policy{workload.PullSecrets{"ghcr-dockercfg"}},
	})
	if !p.Debug {
		replace(app.Object.Object, "/spec/template/spec/containers/0/resources/limits", map[string]any{"cpu": "1000m", "memory": "1Gi"})
	}
	service := app.ExposeViaService("service", workload.ServiceProps{Name: "nextjs-service-" + env, Labels: labels, Port: 3000})
	if p.Ingress {
		service.ExposeViaIngress("ingress", workload.IngressProps{
			Name: "nextjs-ingress-" + env, Labels: labels, Class: "nginx", Host: "chat-" + env + ".cnoe.localtest.me",
			Annotations: nginx("proxy-body-size", "10m", "proxy-read-timeout", "600", "proxy-send-timeout", "600"),
		})
	}
}

// nginx are annotations of the ingress controller of this name.
func nginx(pairs ...string) map[string]string {
	all := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		all["nginx.ingress.kubernetes.io/"+pairs[i]] = pairs[i+1]
	}
	return all
}

type BackstageProps struct {
	Environment   factory.Environment `json:"-"`
	Host          string              `json:"host" factory:"required"`
	Storage       string              `json:"storage" factory:"required"`
	Debug         bool                `json:"debug"`
	Password      string              `json:"password" factory:"required"`
	ClusterConfig string              `json:"clusterConfig" factory:"required"`
}

func backstageChart(scope chart.Scope, p BackstageProps) {
	env := p.Environment.Name
	labels := map[string]string{"app": "backstage-" + env, "environment": env}
	postgres := postgresOf(scope, p)
	account := rbac.ServiceAccount(scope, "account", rbac.Props{Name: "backstage-" + env, Labels: labels})
	all := rbac.Props{Name: "backstage-read-all-" + env, Labels: labels}
	rbac.ClusterRole(scope, "read-all", all, rbac.AllowRead("*", "*"))
	rbac.ClusterRoleBinding(scope, "read-all-binding", all, all.Name, rbac.Account(account.Namespace(), account.Name()))
	secret := chart.Add(scope, "config", &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "k8s-config-" + env, Labels: labels}, StringData: map[string]string{"k8s-config.yaml": p.ClusterConfig},
	})
	pod := corev1.PodSpec{ServiceAccountName: account.Name(), Containers: []corev1.Container{p.container(p.Environment.Image(scope, "backstage"), postgres)}}
	workload.Mount(&pod, 0, corev1.Volume{Name: "k8s-config", VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret.Name()},
	}}, "/app/k8s-config.yaml")
	pod.Containers[0].VolumeMounts[0].SubPath = "k8s-config.yaml"
	image := pod.Containers[0].Image
	repository, tag, _ := strings.Cut(image, ":")
	app := workload.Deployment(scope, "app", workload.Props{
		Name: "backstage-" + env, Labels: labels, Annotations: wave("20"), Replicas: to(int32(1)), Pod: pod,
		PodAnnotations: map[string]string{"backstage.pittampalli.org/image": image},
		PodLabels: with(map[string]string{
			"backstage.pittampalli.org/image-repo": strings.ReplaceAll(repository, "/", "-"), "backstage.pittampalli.org/image-tag": tag,
		}, prefix+"component", "backend", prefix+"instance", "backstage-"+env, prefix+"name", "backstage", prefix+"part-of", "backstage", prefix+"version", tag),
		Policies: []workload.Policy{workload.PullSecrets{"ghcr-dockercfg"}},
	})
	app.Value.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
	if !p.Debug {
		replace(app.Object.Object, "/spec/template/spec/containers/0/resources/limits", map[string]any{"cpu": "1000m", "memory": "2Gi"})
	}
	service := app.ExposeViaService("service", workload.ServiceProps{Name: "backstage-" + env, Labels: labels})
	service.ExposeViaIngress("ingress", workload.IngressProps{
		Name: "backstage-ingress-" + env, Labels: labels, Class: "nginx", Host: p.Host, PathType: networkingv1.PathTypePrefix,
		Annotations: nginx("backend-protocol", "HTTP", "force-ssl-redirect", "false"),
	})
}

// container is that of the portal.
func (p BackstageProps) container(image, postgres string) corev1.Container {
	env := func(pairs ...string) []corev1.EnvVar {
		var all []corev1.EnvVar
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, corev1.EnvVar{Name: pairs[i], Value: pairs[i+1]})
		}
		return all
	}
	level, mode := "info", "production"
	if p.Debug {
		level, mode = "debug", "development"
	}
	url := "https://" + p.Host + ":8443"
	c := corev1.Container{
		Name: "backstage", Image: image, ImagePullPolicy: corev1.PullAlways,
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 7007, Protocol: corev1.ProtocolTCP}},
		Env: env("LOG_LEVEL", level, "NODE_TLS_REJECT_UNAUTHORIZED", "0", "NODE_ENV", mode, "ENVIRONMENT", p.Environment.Name,
			"POSTGRES_HOST", postgres, "POSTGRES_PORT", "5432", "POSTGRES_USER", "backstage", "POSTGRES_PASSWORD", p.Password,
			"POSTGRES_DB", "backstage_"+p.Environment.Name, "APP_CONFIG_app_baseUrl", url, "APP_CONFIG_backend_baseUrl", url,
			"APP_CONFIG_backend_cors_origin", url),
	}
	if p.Debug {
		c.Command, c.Resources = []string{"sleep", "infinity"}, resources("100m", "256Mi", "500m", "1Gi")
		return c
	}
	c.Resources = resources("200m", "512Mi", "1000m", "2Gi")
	c.LivenessProbe = workload.Timing{InitialDelay: 60, Period: 10, Timeout: 5}.HTTP("/healthcheck", intstr.FromInt32(7007))
	c.ReadinessProbe = workload.Timing{InitialDelay: 30, Period: 10, Timeout: 5}.HTTP("/healthcheck", intstr.FromInt32(7007))
	return c
}

// postgresOf is the database of the portal; its host is returned.
func postgresOf(scope chart.Scope, p BackstageProps) string {
	name := "postgresql-" + p.Environment.Name
	labels := map[string]string{"app": name, "environment": p.Environment.Name}
	database := workload.StatefulSet(scope, "postgres", workload.Props{
		Name: name, Labels: labels, Replicas: to(int32(1)),
		Pod: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "postgresql", Image: "postgres:16", Ports: []corev1.ContainerPort{{ContainerPort: 5432}},
			Env: []corev1.EnvVar{
				{Name: "POSTGRES_DB", Value: "backstage_" + p.Environment.Name}, {Name: "POSTGRES_USER", Value: "backstage"}, {Name: "POSTGRES_PASSWORD", Value: p.Password},
			},
			Resources:    resources("100m", "256Mi", "500m", "512Mi"),
			VolumeMounts: []corev1.VolumeMount{{Name: "postgres-storage", MountPath: "/var/lib/postgresql/data"}},
		}}},
	}, claim("postgres-storage", p.Storage))
	return workload.Govern(database, "postgres-service", workload.ServiceProps{Name: name, Labels: labels}).Name()
}
