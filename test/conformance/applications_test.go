package conformance

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart/argocd"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/packages"
)

// describe is the whole platform: its charts and its applications.
func describe(g tree) (*factory.Registry, factory.Config) {
	r := factory.NewRegistry()
	factory.Register(r, "namespace", namespaceChart)
	factory.Register(r, "postgres", postgresChart)
	factory.Register(r, "redis", redisChart)
	factory.Register(r, "vcluster-ingress", vclusterIngressChart)
	factory.Register(r, "vcluster", vclusterChart)
	factory.Register(r, "registration", registrationChart)
	factory.Register(r, "registration-rbac", registrationRBACChart)
	factory.Register(r, "nextjs", nextjsChart)
	factory.Register(r, "nextjs-secrets", nextjsSecretsChart)
	factory.Register(r, "backstage", backstageChart)
	factory.Register(r, "pull-secret", pullSecretChart)
	factory.Register(r, "kargo", kargoChart)
	factory.Register(r, "kargo-secrets", kargoSecretsChart)
	factory.Register(r, "kargo-certificates", kargoCertificatesChart)
	factory.Register(r, "kargo-webhook", kargoWebhookChart)
	factory.Register(r, "kargo-credentials", kargoCredentialsChart)
	factory.Register(r, "kargo-project", kargoProjectChart)
	factory.Register(r, "kargo-pipeline", kargoPipelineChart)
	factory.Register(r, "vault", vaultChart)
	factory.Register(r, "bootstrap-secrets", bootstrapSecretsChart)
	factory.Register(r, "workload-identity", workloadIdentityChart)
	factory.Register(r, "dagger", daggerChart)
	factory.Register(r, "headlamp", headlampChart)
	factory.Register(r, "headlamp-secrets", headlampSecretsChart)
	factory.Register(r, "headlamp-client", headlampClientChart)
	factory.Register(r, "ai-platform", aiPlatformChart)

	config := factory.Config{
		Environments: map[string]factory.Environment{
			"dev": {
				Destination: factory.Destination{Name: "dev-vcluster"},
				Images:      map[string]string{"nextjs": "ghcr.io/pittampalliorg/chat:79", "backstage": "ghcr.io/vpittamp/devspace-containers/typescript:20"},
			},
			"staging": {
				Destination: factory.Destination{Name: "staging-vcluster"},
				Images:      map[string]string{"nextjs": "ghcr.io/pittampalliorg/chat:79", "backstage": "ghcr.io/pittampalliorg/backstage-cnoe:latest"},
			},
		},
		ArgoCD: factory.ArgoCD{SyncOptions: []string{argocd.CreateNamespace}, SyncPolicy: argocd.Automated()},
	}
	config.Applications = append(config.Applications, teamApplications(g)...)
	config.Applications = append(config.Applications, platformApplications(g)...)
	config.Applications = append(config.Applications, kargoApplications(g)...)
	return r, config
}

const prefix = "app.kubernetes.io/"

// labels are pairs of well-known labels.
func labels(pairs ...string) map[string]string {
	all := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		all[prefix+pairs[i]] = pairs[i+1]
	}
	return all
}

// with adds pairs to labels.
func with(all map[string]string, pairs ...string) map[string]string {
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

// about are the labels of an application: what it is, where it belongs, and what it is a part of.
type about struct{ component, environment, partOf string }

// app is an application as most are, with the chart of a type.
func app(name, namespace string, wave int, a about, chartType string, props any) factory.Application {
	return factory.Application{
		Name: name, Namespace: namespace, Chart: factory.Chart{Type: chartType, Props: props},
		ArgoCD: factory.ArgoCD{
			SyncWave: &wave, Finalizers: []string{v1alpha1.ResourcesFinalizer},
			Labels: with(labels("component", a.component, "environment", a.environment, "managed-by", "cdk8s", "name", name, "part-of", a.partOf),
				"example", "basic"),
		},
	}
}

// options replaces the options of the sync policy.
func options(a factory.Application, options ...string) factory.Application {
	a.ArgoCD.SyncOptions = options
	return a
}

func retry(a factory.Application, limit int64, duration, longest string) factory.Application {
	a.ArgoCD.Retry = argocd.Retry(limit, duration, 2, longest)
	return a
}

func label(a factory.Application, pairs ...string) factory.Application {
	a.ArgoCD.Labels = with(a.ArgoCD.Labels, pairs...)
	return a
}

const noNamespace = "CreateNamespace=false"

// differs is a kind with the fields that may differ.
func differs(group, kind string, pointers ...string) v1alpha1.ResourceIgnoreDifferences {
	return v1alpha1.ResourceIgnoreDifferences{Group: group, Kind: kind, JSONPointers: pointers}
}

// teamApplications are those of the teams, each in two environments.
func teamApplications(g tree) []factory.Application {
	nextjs := team("nextjs", 50, "frontend", "application-stack", NextjsProps{}, []v1alpha1.ResourceIgnoreDifferences{
		differs("apps", "Deployment", "/spec/replicas", "/spec/template/metadata/annotations"),
		differs("", "Service", "/spec/clusterIP"), differs("networking.k8s.io", "Ingress", "*"),
	})
	nextjs.ArgoCD.Retry = argocd.Retry(5, "10s", 2, "3m")
	nextjs.ArgoCD.SyncOptions = []string{argocd.CreateNamespace, argocd.ServerSideApply, argocd.ApplyOutOfSyncOnly}
	backstage := team("backstage", 20, "developer-portal", "platform", nil, []v1alpha1.ResourceIgnoreDifferences{
		differs("apps", "Deployment", "/spec/replicas", "/spec/template/metadata/annotations"),
		differs("apps", "StatefulSet", "/spec/replicas", "/spec/volumeClaimTemplates"),
		differs("", "Service", "/spec/clusterIP"), differs("networking.k8s.io", "Ingress", "*"),
	})
	backstage.ArgoCD.Retry = argocd.Retry(5, "10s", 2, "5m")
	backstage.ArgoCD.SyncOptions = []string{argocd.CreateNamespace, argocd.ServerSideApply, argocd.SkipDryRun}
	for name, host := range map[string]string{"dev": "cnoe.localtest.me", "staging": "backstage-staging.cnoe.localtest.me"} {
		override := backstage.Environments[name]
		override.Props = BackstageProps{
			Host: host, Storage: map[string]string{"dev": "5Gi", "staging": "10Gi"}[name], Debug: name == "dev",
			Password: g.text("backstage-"+name+"/manifests/StatefulSet.postgresql-"+name+".k8s.yaml",
				"spec", "template", "spec", "containers", "0", "env", "2", "value"),
			ClusterConfig: g.text("backstage-"+name+"/manifests/Secret.k8s-config-"+name+".k8s.yaml", "stringData", "k8s-config.yaml"),
		}
		backstage.Environments[name] = override
	}
	for name, override := range nextjs.Environments {
		override.Props = map[string]any{"ingress": name == "staging", "debug": name == "dev"}
		nextjs.Environments[name] = override
	}
	return []factory.Application{
		retry(app("nextjs-namespace", "nextjs", 45, about{"namespace", "host", "application-stack"}, "namespace",
			NamespaceProps{Labels: labels("managed-by", "argocd")}), 15, "10s", "5m"), nextjs, backstage,
	}
}

// team is an application in both environments, in a namespace of its name.
func team(name string, wave int, component, partOf string, props any, ignore []v1alpha1.ResourceIgnoreDifferences) factory.Application {
	a := factory.Application{
		Name: name, Namespace: name, Chart: factory.Chart{Type: name, Props: props}, Environments: map[string]factory.Override{},
		ArgoCD: factory.ArgoCD{
			SyncWave: &wave, Finalizers: []string{v1alpha1.ResourcesFinalizer}, IgnoreDifferences: ignore,
			Labels: labels("component", component, "managed-by", "cdk8s", "name", name, "part-of", partOf),
		},
	}
	for _, environment := range []string{"dev", "staging"} {
		a.Environments[environment] = factory.Override{ArgoCD: factory.ArgoCD{
			Labels:      with(labels("instance", name+"-"+environment), "environment", environment),
			Annotations: map[string]string{"kargo.akuity.io/authorized-stage": "kargo-pipelines:" + name + "-" + environment},
		}}
	}
	return a
}

// platformApplications are those that the teams build on.
func platformApplications(g tree) []factory.Application {
	vault := app("vault", "vault", -150, about{"secrets-management", "dev", "platform"}, "vault", vaultProps(g))
	vault.ArgoCD.IgnoreDifferences = []v1alpha1.ResourceIgnoreDifferences{
		differs("admissionregistration.k8s.io", "MutatingWebhookConfiguration", "/webhooks"),
	}
	vault.ArgoCD.Sources = []v1alpha1.ApplicationSource{
		{
			RepoURL: "https://helm.releases.hashicorp.com", Chart: "vault", TargetRevision: "0.27.0",
			Helm: &v1alpha1.ApplicationSourceHelm{ValueFiles: []string{"$values/values.yaml"}},
		},
		packages.Ref("values", "vault"),
	}
	registration := func(name, script, image string, wave int, scheduled bool) factory.Application {
		return options(app(name, "argocd", wave, about{"registration", "dev", "vcluster-registration"}, "registration", RegistrationProps{
			Name: image, Wave: wave, Scheduled: scheduled,
			Scripts: g.files(name+"/manifests/ConfigMap."+script+".k8s.yaml", "register-vclusters.sh"),
		}), noNamespace)
	}
	const identity = "external-secrets-workload-identity/manifests/ServiceAccount.external-secrets.k8s.yaml"
	host := g.text("postgres/manifests/Service.postgres-service.k8s.yaml", "spec", "externalName")
	all := []factory.Application{
		app("postgres", "nextjs", 50, about{"database", "host", "data-layer"}, "postgres", PostgresProps{Host: host}),
		app("redis", "nextjs", 60, about{"cache", "host", "data-layer"}, "redis", nil),
		vault,
		registration("vcluster-registration-job", "vcluster-registration-script", "vcluster-registration", 20, false),
		registration("vcluster-registration-cronjob", "vcluster-registration-cronjob-script", "vcluster-registration-cronjob", 25, true),
		options(app("vcluster-registration-rbac", "external-secrets", 5, about{"rbac", "dev", "vcluster-registration"}, "registration-rbac", nil), noNamespace),
		app("bootstrap-secrets", "argocd", -100, about{"secrets", "dev", "platform"}, "bootstrap-secrets", BootstrapProps{
			Vault: g.text("bootstrap-secrets/manifests/ClusterSecretStore.azure-keyvault-store.k8s.yaml", "spec", "provider", "azurekv", "vaultUrl"),
		}),
		options(app("external-secrets-workload-identity", "external-secrets", -90, about{"security", "dev", "platform"}, "workload-identity", WorkloadIdentityProps{
			Client: g.text(identity, "metadata", "annotations", "azure.workload.identity/client-id"),
			Tenant: g.text(identity, "metadata", "annotations", "azure.workload.identity/tenant-id"),
		}), argocd.ServerSideApply),
		app("dagger-infra", "argo", -80, about{"rbac", "dev", "argo-workflows"}, "dagger", nil),
		retry(options(app("nextjs-secrets", "nextjs", 80, about{"secrets", "host", "application-stack"}, "nextjs-secrets", PostgresProps{Host: host}),
			argocd.CreateNamespace, argocd.SkipDryRun), 10, "10s", "5m"),
		retry(options(app("backstage-secrets", "backstage", 80, about{"secrets", "host", "application-stack"}, "pull-secret", PullSecretProps{PartOf: "backstage"}),
			argocd.CreateNamespace, argocd.SkipDryRun), 10, "10s", "5m"),
		options(app("headlamp", "headlamp", 60, about{"dashboard", "dev", "headlamp"}, "headlamp", headlampProps(g)), argocd.CreateNamespace, argocd.ServerSideApply),
		app("headlamp-keycloak-secrets", "headlamp", 45, about{"secrets", "dev", "headlamp"}, "headlamp-secrets", nil),
		options(app("keycloak-headlamp-client", "keycloak", 40, about{"oidc-client", "dev", "keycloak"}, "headlamp-client", HeadlampClientProps{
			Files: g.files("keycloak-headlamp-client/manifests/ConfigMap.headlamp-client-config.k8s.yaml", "client-config.json", "instructions.txt"),
		}), argocd.CreateNamespace, argocd.SkipDryRun),
		retry(options(app("ai-platform-engineering", "ai-platform-engineering", 100, about{"ai-platform", "dev", "platform"}, "ai-platform", nil),
			argocd.CreateNamespace, "PrunePropagationPolicy=foreground", argocd.PruneLast), 5, "5s", "3m"),
	}
	for _, environment := range []string{"dev", "staging"} {
		all = append(all, vclusterApplications(environment)...)
	}
	return all
}

// vclusterApplications are a virtual cluster, installed by its chart, and its Ingress.
func vclusterApplications(environment string) []factory.Application {
	wave := 10
	props := VclusterProps{Name: environment}
	cluster := factory.Application{
		Name: "vcluster-" + environment, Namespace: environment + "-vcluster", Chart: factory.Chart{Type: "vcluster", Props: props},
		ArgoCD: factory.ArgoCD{Name: "vcluster-" + environment + "-helm", SyncWave: &wave, Labels: props.labels(), Sources: props.sources()},
	}
	ingress := app("vcluster-"+environment+"-ingress", environment+"-vcluster", 15, about{"ingress", "dev", "vcluster"}, "vcluster-ingress", props)
	return []factory.Application{cluster, label(ingress, prefix+"instance", environment)}
}

// kargoApplications are those of the promotions.
func kargoApplications(g tree) []factory.Application {
	kargo := label(options(app("kargo", "kargo", 70, about{"continuous-delivery", "dev", "platform"}, "kargo", KargoProps{
		Certificate: g.text("kargo/manifests/Secret.kargo-webhooks-server-cert.k8s.yaml", "data", "tls.crt"),
		Key:         g.text("kargo/manifests/Secret.kargo-webhooks-server-cert.k8s.yaml", "data", "tls.key"),
	}), argocd.CreateNamespace, argocd.ServerSideApply, argocd.Replace), prefix+"instance", "kargo", prefix+"version", "1.6.1")
	kargo.ArgoCD.IgnoreDifferences = []v1alpha1.ResourceIgnoreDifferences{
		differs("cert-manager.io", "Certificate"), differs("cert-manager.io", "Issuer"),
		differs("batch", "Job", "/spec/podReplacementPolicy", "/status/terminating"),
	}
	const secret = "kargo-pipelines-project/manifests/Secret.kargo-gitea-webhook-secret.k8s.yaml"
	project := options(app("kargo-pipelines-project", "kargo-pipelines", 75, about{"project", "dev", "kargo-pipelines"}, "kargo-project", KargoProjectProps{
		Secret: g.text(secret, "stringData", "secret"), Instructions: g.text(secret, "stringData", "setup-instructions.txt"),
	}), noNamespace, argocd.ApplyOutOfSyncOnly, argocd.RespectIgnoreDifferences)
	project.ArgoCD.SyncPolicy = argocd.AutomatedWith(false, false)
	project.ArgoCD.IgnoreDifferences = []v1alpha1.ResourceIgnoreDifferences{
		differs("kargo.akuity.io", "Project", "/status"), differs("kargo.akuity.io", "ProjectConfig", "/status"),
	}
	pipeline := func(name string, props PipelineProps) factory.Application {
		a := app("kargo-"+name+"-pipeline", "kargo-pipelines", 80, about{"pipeline", "dev", "kargo-pipelines"}, "kargo-pipeline", props)
		return label(a, prefix+"managed-by", "argocd")
	}
	return []factory.Application{
		kargo, project, pipeline("nextjs", nextjsPipeline()), pipeline("backstage", backstagePipeline()),
		app("kargo-secrets", "kargo", -50, about{"secrets", "dev", "kargo"}, "kargo-secrets", KargoSecretsProps{
			Instructions: g.text("kargo-secrets/manifests/Secret.kargo-setup-instructions.k8s.yaml", "stringData", "setup-instructions.txt"),
		}),
		options(app("kargo-ca-certificates", "kargo", 35, about{"certificates", "dev", "kargo"}, "kargo-certificates", CertificatesProps{
			Files: g.files("kargo-ca-certificates/manifests/ConfigMap.gitea-ca-cert.k8s.yaml", "ca.crt", "gitea-ca.crt"),
		}), noNamespace),
		app("kargo-pipelines-credentials", "kargo-pipelines", 76, about{"credentials", "dev", "kargo-pipelines"}, "kargo-credentials", nil),
		label(app("kargo-gitea-webhook-setup", "kargo-pipelines", 85, about{"webhook-setup", "dev", "kargo-pipelines"}, "kargo-webhook", WebhookProps{
			Scripts: g.files("kargo-gitea-webhook-setup/manifests/ConfigMap.gitea-webhook-setup-script.k8s.yaml", "setup-webhooks.sh"),
		}), prefix+"managed-by", "argocd"),
	}
}

// raw is a value as the extension of a Helm source.
func raw(value any) *runtime.RawExtension {
	data, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return &runtime.RawExtension{Raw: data}
}
