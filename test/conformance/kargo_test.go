package conformance

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/externalsecrets"
	"github.com/headgate-dev/headgate/chart/kargo"
	"github.com/headgate-dev/headgate/chart/rbac"
	"github.com/headgate-dev/headgate/chart/workload"
)

const project = "kargo-pipelines"

type KargoProps struct {
	Certificate string `json:"certificate" factory:"required"`
	Key         string `json:"key" factory:"required"`
}

// kargoChart is what the original adds to the chart of Kargo.
func kargoChart(scope chart.Scope, p KargoProps) {
	chart.Add(scope, "namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "kargo", Labels: labels("managed-by", "cdk8s", "name", "kargo"), Annotations: wave("-20"),
	}})
	chart.Add(scope, "certificate", map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"metadata": map[string]any{"name": "kargo-webhooks-server-cert", "annotations": wave("-15")},
		"data":     map[string]any{"tls.crt": p.Certificate, "tls.key": p.Key},
	})
	workload.Ingress(scope, "webhooks", workload.IngressProps{
		Name: "kargo-external-webhooks", Class: "nginx", Host: "kargo-webhooks.cnoe.localtest.me", TLSSecret: "cnoe-tls-secret",
		Labels:      labels("managed-by", "cdk8s", "name", "kargo-external-webhooks", "part-of", "kargo"),
		Annotations: nginx("backend-protocol", "HTTP", "force-ssl-redirect", "true", "ssl-protocols", "TLSv1.2 TLSv1.3"),
	}, "kargo-external-webhooks-server", 80)
}

type KargoSecretsProps struct {
	Instructions string `json:"instructions" factory:"required"`
}

func kargoSecretsChart(scope chart.Scope, p KargoSecretsProps) {
	keys := []externalsecrets.Key{
		fetched("KARGO_ADMIN_PASSWORD_HASH", "KARGO-ADMIN-PASSWORD-HASH"), fetched("KARGO_ADMIN_TOKEN_SIGNING_KEY", "KARGO-ADMIN-TOKEN-SIGNING-KEY"),
	}
	secret(scope, "admin", externalsecrets.Props{
		Name: "kargo-admin-credentials", Secret: "kargo-admin-credentials", Keys: keys,
		Template: &esv1.Template{Type: "Opaque", EngineVersion: "v2", Data: with(echo(keys),
			"passwordHash", "{{ .KARGO_ADMIN_PASSWORD_HASH }}", "tokenSigningKey", "{{ .KARGO_ADMIN_TOKEN_SIGNING_KEY }}")},
	}, "-50")
	chart.Add(scope, "instructions", &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "kargo-setup-instructions"}, StringData: map[string]string{"setup-instructions.txt": p.Instructions},
	})
}

type CertificatesProps struct {
	Files string `json:"files" factory:"required"`
}

func kargoCertificatesChart(scope chart.Scope, p CertificatesProps) {
	workload.ConfigMap(scope, "certificates", workload.ConfigMapProps{
		Name: "gitea-ca-cert", Annotations: wave("-20"), Files: []workload.Files{{Dir: p.Files}},
		Labels: labels("component", "certificates", "name", "gitea-ca-cert", "part-of", "kargo"),
	})
}

func kargoCredentialsChart(scope chart.Scope, _ struct{}) {
	credentials := func(name, kind string, secretType corev1.SecretType, repository, user string, more ...string) {
		keys := []externalsecrets.Key{fetched("pat", "GITHUB-PAT")}
		secret(scope, name, externalsecrets.Props{
			Name: name + "-external", Secret: name, Keys: keys, DeletionPolicy: "Retain",
			Template: &esv1.Template{
				Type: secretType, EngineVersion: "v2", MergePolicy: "Replace",
				Data:     with(echo(keys), append(more, "password", "{{ .pat }}", "repoURL", repository, "username", user)...),
				Metadata: esv1.TemplateMetadata{Labels: with(labels("name", name, "part-of", project), v1alpha1.CredentialsLabel, kind)},
			},
		}, "-15", prefix+"name", name, prefix+"part-of", project, prefix+"component", "credentials")
	}
	credentials("kargo-ghcr-chat-credentials", v1alpha1.ImageCredentials, "", "ghcr.io/pittampalliorg/chat", "pittampalliorg")
	credentials("kargo-ghcr-backstage-credentials", v1alpha1.ImageCredentials, "", "ghcr.io/pittampalliorg/backstage-cnoe", "pittampalliorg")
	credentials("kargo-git-credentials", v1alpha1.GitCredentials, "Opaque", stacks, "x-access-token", "type", "git")
}

const stacks = "https://github.com/PittampalliOrg/stacks.git"

type KargoProjectProps struct {
	Secret       string `json:"secret" factory:"required"`
	Instructions string `json:"instructions" factory:"required"`
}

func kargoProjectChart(scope chart.Scope, p KargoProjectProps) {
	meta := func(component, name, wave string) kargo.Meta {
		return kargo.Meta{Name: project, Labels: labels("component", component, "name", name, "part-of", "kargo"), Annotations: map[string]string{"argocd.argoproj.io/sync-wave": wave}}
	}
	kargo.Namespace(scope, "namespace", meta("namespace", project, "-15"))
	kargo.Project(scope, "project", meta("project", project, "-10"))
	config := kargo.ProjectConfig(scope, "config", meta("project-config", project+"-config", "0"), v1alpha1.ProjectConfigSpec{
		PromotionPolicies: []v1alpha1.PromotionPolicy{kargo.Promote(true, "glob:*-dev"), kargo.Promote(false, "glob:*-prod")},
		WebhookReceivers: []v1alpha1.WebhookReceiver{{
			Name: "gitea-backstage", GitHub: &v1alpha1.SecretReceiver{SecretRef: corev1.LocalObjectReference{Name: "kargo-gitea-webhook-secret"}},
		}},
	})
	replace(config.Object, "/spec/promotionPolicies/1", map[string]any{"autoPromotionEnabled": false, "stageSelector": map[string]any{"name": "glob:*-prod"}})
	chart.Add(scope, "webhook", &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "kargo-gitea-webhook-secret", Annotations: wave("5"),
			Labels: labels("component", "webhook-secret", "name", "kargo-gitea-webhook", "part-of", project),
		},
		StringData: map[string]string{"secret": p.Secret, "setup-instructions.txt": p.Instructions},
	})
	kargo.PromoterRole(scope, "promoter", rbac.Props{Name: "kargo-git-promoter", Annotations: wave("10")})
	projectRights(scope)
}

// projectRights are who can do what in the project.
func projectRights(scope chart.Scope) {
	props := func(name, label string) rbac.Props {
		return rbac.Props{Name: name, Labels: labels("name", label, "part-of", project)}
	}
	authenticated := rbacv1.Subject{Kind: rbacv1.GroupKind, Name: "system:authenticated"}
	updater := rbac.ClusterRole(scope, "updater", props(project+"-argocd-updater", project+"-argocd-updater"),
		rbac.Allow("argoproj.io", []string{"applications"}, "get", "list", "patch", "update"))
	rbac.ClusterRoleBinding(scope, "updater-binding", props(updater.Name(), project+"-argocd-updater-binding"), updater.Name(),
		rbac.Account(project, "kargo-nextjs-git"), rbac.Account(project, "kargo-backstage-git"), rbac.Account("kargo", "kargo-controller"))
	rbac.ClusterRoleBinding(scope, "admin", props("kargo-admin-"+project, "kargo-admin-binding"), "kargo-admin",
		rbacv1.Subject{Kind: rbacv1.UserKind, Name: "system:serviceaccount:kargo:kargo-api"}, authenticated)
	rbac.RoleBinding(scope, "project-admin", props("kargo-project-admin", "kargo-project-admin-binding"), rbac.ToClusterRole("kargo-project-admin"),
		authenticated, rbac.Account("kargo", "kargo-api"), rbac.Account("kargo", "kargo-admin"))
}

type PipelineProps struct {
	Name  string                     `json:"name" factory:"required"`
	Image v1alpha1.ImageSubscription `json:"image"`
	Dev   []v1alpha1.PromotionStep   `json:"dev"`
	Prod  []v1alpha1.PromotionStep   `json:"prod"`
}

func kargoPipelineChart(scope chart.Scope, p PipelineProps) {
	meta := func(name, component string) kargo.Meta {
		label := name
		if component == "stage" {
			label += "-stage"
		}
		return kargo.Meta{Name: name, Labels: labels("component", component, "name", label, "part-of", project)}
	}
	account := "kargo-" + p.Name + "-git"
	kargo.GitPromoter(scope, "promoter", rbac.Props{Name: account, Namespace: project, Labels: meta(account, "serviceaccount").Labels},
		"kargo-git-promoter", account+"-promoter")
	warehouse := kargo.Warehouse(scope, "warehouse", meta(p.Name+"-warehouse", "warehouse"), v1alpha1.WarehouseSpec{
		FreightCreationPolicy: v1alpha1.FreightCreationAutomatic, Interval: "30s", Subscriptions: kargo.Images(p.Image),
	})
	kargo.Stage(scope, "dev", kargo.StageProps{Meta: meta(p.Name+"-dev", "stage"), Warehouse: warehouse.Name(), Steps: p.Dev})
	kargo.Stage(scope, "prod", kargo.StageProps{Meta: meta(p.Name+"-prod", "stage"), Warehouse: warehouse.Name(), Steps: p.Prod})
}

// promotion writes the image of an application to the file of images.
func promotion(name, stage, environment, image, suffix string, sync ...string) []v1alpha1.PromotionStep {
	return kargo.GitPipeline{
		RepoURL: stacks, File: ".env-files/images.json", Key: environment + "." + name, Image: image,
		Message: "chore(" + name + "-" + stage + "): promote image to " + kargo.Tag(image) + suffix, Sync: sync,
	}.Steps()
}

func nextjsPipeline() PipelineProps {
	const image = "ghcr.io/pittampalliorg/chat"
	return PipelineProps{
		Name: "nextjs", Dev: promotion("nextjs", "dev", "dev", image, ""), Prod: promotion("nextjs", "prod", "production", image, ""),
		Image: v1alpha1.ImageSubscription{RepoURL: image, AllowTags: `^\d+$`, DiscoveryLimit: 10, ImageSelectionStrategy: "NewestBuild", StrictSemvers: to(false)},
	}
}

func backstagePipeline() PipelineProps {
	const image = "gitea.cnoe.localtest.me:8443/giteaadmin/backstage-cnoe"
	prod := promotion("backstage", "prod", "production", image, " in images.json")
	return PipelineProps{
		Name: "backstage", Dev: promotion("backstage", "dev", "dev", image, " in images.json", "backstage"), Prod: append(prod, prod...),
		Image: v1alpha1.ImageSubscription{
			RepoURL: image, AllowTags: ".*", DiscoveryLimit: 10, ImageSelectionStrategy: "Lexical", InsecureSkipTLSVerify: true, StrictSemvers: to(false),
		},
	}
}

type WebhookProps struct {
	Scripts string `json:"scripts" factory:"required"`
}

// kargoWebhookChart has Gitea notify Kargo.
func kargoWebhookChart(scope chart.Scope, p WebhookProps) {
	keys := properties("gitea-credential", "token", "username", "password")
	secret(scope, "credentials", externalsecrets.Props{
		Name: "gitea-credentials-external", Secret: "gitea-credentials", Store: externalsecrets.ClusterStore("gitea"), Refresh: "5m",
		DeletionPolicy: "Retain", Keys: keys, Template: &esv1.Template{Data: echo(keys)},
	}, "-20", prefix+"name", "gitea-credentials", prefix+"part-of", project, prefix+"component", "webhook-setup")
	script := workload.ConfigMap(scope, "script", workload.ConfigMapProps{Name: "gitea-webhook-setup-script", Files: []workload.Files{{Dir: p.Scripts}}})
	job := func(container string, attempts int32) batchv1.JobSpec {
		spec := batchv1.JobSpec{BackoffLimit: &attempts, TTLSecondsAfterFinished: to(int32(3600))}
		spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyOnFailure, Containers: []corev1.Container{{
			Name: container, Image: "curlimages/curl:8.5.0", Command: []string{"/bin/sh"}, Args: []string{"/scripts/setup-webhooks.sh"},
		}}}
		workload.Mount(&spec.Template.Spec, 0, scriptVolume(script.Name()), "/scripts")
		workload.Mount(&spec.Template.Spec, 0, corev1.Volume{Name: "gitea-credentials", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: "gitea-credentials", Items: []corev1.KeyToPath{{Key: "token", Path: "token"}},
		}}}, "/gitea-credentials")
		for i := range spec.Template.Spec.Containers[0].VolumeMounts {
			spec.Template.Spec.Containers[0].VolumeMounts[i].ReadOnly = true
		}
		return spec
	}
	chart.Add(scope, "job", &batchv1.Job{Spec: job("webhook-setup", 3), ObjectMeta: metav1.ObjectMeta{Name: "gitea-webhook-setup", Annotations: map[string]string{
		"argocd.argoproj.io/hook": "PostSync", "argocd.argoproj.io/hook-delete-policy": "HookSucceeded",
	}}})
	chart.Add(scope, "cronjob", &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "gitea-webhook-verify"}, Spec: batchv1.CronJobSpec{
		Schedule: "0 */6 * * *", SuccessfulJobsHistoryLimit: to(int32(1)), FailedJobsHistoryLimit: to(int32(2)),
		JobTemplate: batchv1.JobTemplateSpec{Spec: job("webhook-verify", 1)},
	}})
}
