package conformance

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/externalsecrets"
	"github.com/headgate-dev/headgate/chart/rbac"
	"github.com/headgate-dev/headgate/chart/workload"
)

type PullSecretProps struct {
	PartOf string `json:"partOf" factory:"required"`
}

// pullSecretChart is a login for the registry of images.
func pullSecretChart(scope chart.Scope, p PullSecretProps) {
	// The text is laid out as the original's template literal is; externalsecrets.DockerConfigJSON writes the same in one line.
	const text = `{
    "auths": {
      "ghcr.io": {
        "username": "pittampalliorg",
        "password": "{{ .password }}",
        "auth": "{{ printf "%s:%s" "pittampalliorg" .password | b64enc }}"
      }
    }
  }`
	secret(scope, "pull-secret", externalsecrets.Props{
		Name: "ghcr-dockercfg-external", Secret: "ghcr-dockercfg", Keys: []externalsecrets.Key{fetched("password", "GITHUB-PAT")},
		Template: &esv1.Template{
			Type: "kubernetes.io/dockerconfigjson", EngineVersion: "v2", Data: map[string]string{".dockerconfigjson": text},
		},
	}, "-10", prefix+"name", "ghcr-dockercfg", prefix+"part-of", p.PartOf)
}

func nextjsSecretsChart(scope chart.Scope, p PostgresProps) {
	pullSecretChart(scope, PullSecretProps{PartOf: "nextjs"})
	var keys []externalsecrets.Key
	for _, pair := range [][2]string{
		{"OPENAI_API_KEY", "OPENAI-API-KEY"},
		{"AZURE_API_KEY", "AZURE-API-KEY"},
		{"ANTHROPIC_API_KEY", "ANTHROPIC-API-KEY"},
		{"GEMINI_API_KEY", "GEMINI-API-KEY"},
		{"XAI_API_KEY", "XAI-API-KEY"},
		{"AUTH_SECRET", "AUTH-SECRET"},
		{"POSTGRES_PASSWORD", "POSTGRES-PASSWORD"},
		{"POSTGRES_URL", "POSTGRES-URL"},
		{"TIMEZONE_DB_API_KEY", "TIMEZONE-DB-API-KEY"},
		{"NEON_DATABASE_PASSWORD", "NEON-DATABASE-PASSWORD"},
		{"NEON_API_KEY", "NEON-API-KEY"},
		{"NEON_PROJECT_ID", "NEON-PROJECT-ID"},
	} {
		keys = append(keys, fetched(pair[0], pair[1]))
	}
	secret(scope, "env", externalsecrets.Props{
		Name: "app-env", Secret: "app-env", Keys: keys,
		Template: &esv1.Template{EngineVersion: "v2", MergePolicy: "Replace", Data: echo(keys)},
	}, "80")
	keys = []externalsecrets.Key{fetched("password", "NEON-DATABASE-PASSWORD"), fetched("url", "POSTGRES-URL")}
	secret(scope, "neon", externalsecrets.Props{
		Name: "neon-database-credentials", Secret: "neon-database-credentials", Keys: keys,
		Template: &esv1.Template{EngineVersion: "v2", Data: with(echo(keys),
			"DATABASE_URL", "postgresql://vpittamp:{{ .password }}@"+p.Host+"/devdb?sslmode=require", "POSTGRES_DB", "devdb", "POSTGRES_HOST", p.Host,
			"POSTGRES_PASSWORD", "{{ .password }}", "POSTGRES_URL", "{{ .url }}", "POSTGRES_USER", "vpittamp")},
	}, "80")
	keys = []externalsecrets.Key{fetched("AUTH_SECRET", "AUTH-SECRET"), fetched("NEXTAUTH_SECRET", "AUTH-SECRET")}
	secret(scope, "auth", externalsecrets.Props{
		Name: "nextauth-credentials", Secret: "nextauth-credentials", Keys: keys, Template: &esv1.Template{Data: echo(keys)},
	}, "80")
}

type BootstrapProps struct {
	Vault string `json:"vault" factory:"required"`
}

func bootstrapSecretsChart(scope chart.Scope, p BootstrapProps) {
	clusterStore(scope, "azure-keyvault-store", labels("managed-by", "bootstrap"), "-92", esv1.Provider{AzureKV: &esv1.AzureKVProvider{
		AuthType: "WorkloadIdentity", VaultURL: p.Vault,
		ServiceAccountRef: &esv1.ServiceAccountSelector{Name: "external-secrets", Namespace: "external-secrets"},
	}})
	keys := []externalsecrets.Key{fetched("ghPrivateKey", "github-app-private-key")}
	secret(scope, "repository", externalsecrets.Props{
		Name: "github-app-repo-creds-external", Secret: "github-app-repo-creds-from-external", Refresh: "10m", Keys: keys,
		Template: &esv1.Template{
			Metadata: esv1.TemplateMetadata{Labels: map[string]string{"argocd.argoproj.io/secret-type": "repository"}},
			Data: with(echo(keys), "githubAppID", "1272071", "githubAppInstallationID", "66754705",
				"githubAppPrivateKey", "{{ .ghPrivateKey | toString }}", "type", "git", "url", "https://github.com/PittampalliOrg/cdk8s-project.git"),
		},
	}, "-90", prefix+"managed-by", "bootstrap")
	keys = []externalsecrets.Key{fetched("privateKey", "github-app-private-key")}
	secret(scope, "pem", externalsecrets.Props{
		Name: "github-pem", Secret: "github-pem", Refresh: "10m", Keys: keys, Template: &esv1.Template{Data: echo(keys)},
	}, "-90", prefix+"managed-by", "bootstrap")
}

type WorkloadIdentityProps struct {
	Client string `json:"client" factory:"required"`
	Tenant string `json:"tenant" factory:"required"`
}

func workloadIdentityChart(scope chart.Scope, p WorkloadIdentityProps) {
	rbac.ServiceAccount(scope, "account", rbac.Props{
		Name: "external-secrets", Labels: map[string]string{"azure.workload.identity/use": "true"},
		Annotations: with(wave("-94"), "argocd.argoproj.io/sync-options", "ServerSideApply=true",
			"azure.workload.identity/client-id", p.Client, "azure.workload.identity/tenant-id", p.Tenant),
	})
}

func headlampSecretsChart(scope chart.Scope, _ struct{}) {
	keys := []externalsecrets.Key{
		{Name: "clientId", Remote: "headlamp-client-credentials", Property: "client-id"},
		{Name: "clientSecret", Remote: "headlamp-client-credentials", Property: "client-secret"},
	}
	secret(scope, "oidc", externalsecrets.Props{
		Name: "headlamp-oidc-secrets", Secret: "headlamp-oidc-secrets", Store: externalsecrets.ClusterStore("keycloak"), Refresh: "5m", Keys: keys,
		Template: &esv1.Template{Type: "Opaque", EngineVersion: "v2", Data: with(echo(keys),
			"OIDC_CLIENT_ID", "{{ .clientId }}", "OIDC_CLIENT_SECRET", "{{ .clientSecret }}",
			"OIDC_ISSUER_URL", "https://cnoe.localtest.me:8443/keycloak/realms/cnoe",
			"OIDC_REDIRECT_URL", "https://headlamp.cnoe.localtest.me:8443/oidc-callback", "OIDC_SCOPES", "openid email profile")},
	}, "-15")
}

type HeadlampClientProps struct {
	Files string `json:"files" factory:"required"`
}

func headlampClientChart(scope chart.Scope, p HeadlampClientProps) {
	workload.ConfigMap(scope, "config", workload.ConfigMapProps{
		Name: "headlamp-client-config", Files: []workload.Files{{Dir: p.Files}},
		Labels: labels("component", "oidc-client-config", "managed-by", "cdk8s", "name", "headlamp"),
	})
	keys := []externalsecrets.Key{fetched("clientSecret", "KEYCLOAK-HEADLAMP-CLIENT-SECRET")}
	secret(scope, "client", externalsecrets.Props{
		Name: "headlamp-client-external-secret", Secret: "headlamp-client-credentials", Keys: keys,
		Template: &esv1.Template{Type: "Opaque", EngineVersion: "v2", Data: with(echo(keys),
			"client-id", "headlamp", "client-secret", "{{ .clientSecret }}")},
	}, "-50", prefix+"managed-by", "cdk8s", prefix+"name", "headlamp", prefix+"component", "oidc-client")
}

func aiPlatformChart(scope chart.Scope, _ struct{}) {
	const platform = "ai-platform-engineering"
	agent := func(id, target string, keys []externalsecrets.Key, wave string, labels ...string) {
		secret(scope, id, externalsecrets.Props{
			Name: target + "-external", Secret: target, Keys: keys, Template: &esv1.Template{Data: echo(keys)},
		}, wave, labels...)
	}
	secrets := map[string][]string{
		"backstage": {"BACKSTAGE_API_TOKEN", "BACKSTAGE_API_URL", "BACKSTAGE_URL"},
		"github":    {"GITHUB_PERSONAL_ACCESS_TOKEN"},
		"jira":      {"ATLASSIAN_TOKEN", "ATLASSIAN_EMAIL", "ATLASSIAN_API_URL", "ATLASSIAN_VERIFY_SSL"},
		"pagerduty": {"PAGERDUTY_API_KEY", "PAGERDUTY_API_URL"},
		"slack":     {"SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_CLIENT_SECRET", "SLACK_TEAM_ID"},
	}
	for _, name := range []string{"backstage", "github", "jira", "pagerduty", "slack"} {
		agent(name, "agent-"+name+"-secret", properties(platform+"-"+name, secrets[name]...), "-60", prefix+"name", "agent-"+name,
			prefix+"component", "external-secrets", prefix+"part-of", platform, prefix+"managed-by", "cdk8s")
	}
	agent("argocd", "agent-argocd-secret", properties(platform+"-argocd", "ARGOCD_TOKEN", "ARGOCD_API_URL", "ARGOCD_VERIFY_SSL"), "")
	agent("llm", "llm-secret", properties(platform+"-global", "LLM_PROVIDER", "OPENAI_API_KEY", "OPENAI_ENDPOINT", "OPENAI_MODEL_NAME",
		"AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_VERSION", "AZURE_OPENAI_DEPLOYMENT", "AWS_ACCESS_KEY_ID",
		"AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_BEDROCK_MODEL_ID", "AWS_BEDROCK_PROVIDER"), "-60",
		prefix+"name", platform, prefix+"component", "external-secrets", prefix+"managed-by", "cdk8s")
	workload.Ingress(scope, "ingress", workload.IngressProps{
		Name: platform + "-ingress", Annotations: wave("0"), Class: "nginx", Host: platform + ".cnoe.localtest.me",
	}, platform, 8000)
}

// namespaceOf is a namespace with labels.
func namespaceOf(name, wave string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: labels, Annotations: map[string]string{"argocd.argoproj.io/sync-wave": wave},
	}}
}

// clusterStore is a store for all namespaces.
func clusterStore(scope chart.Scope, name string, labels map[string]string, wave string, provider esv1.Provider) {
	chart.Add(scope, "store", &esv1.ClusterSecretStore{
		TypeMeta:   metav1.TypeMeta{APIVersion: esv1.GroupVersion.String(), Kind: esv1.ClusterSecretStoreKind},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: map[string]string{"argocd.argoproj.io/sync-wave": wave}},
		Spec:       esv1.SecretStoreSpec{Provider: &provider},
	})
}
