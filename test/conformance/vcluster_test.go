package conformance

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/argocd"
	"github.com/headgate-dev/headgate/chart/rbac"
	"github.com/headgate-dev/headgate/chart/workload"
)

type VclusterProps struct {
	Name string `json:"name" factory:"required"`
}

func (p VclusterProps) host() string { return p.Name + "-vcluster.cnoe.localtest.me" }

func (p VclusterProps) service() string { return "vcluster-" + p.Name + "-helm" }

func (p VclusterProps) labels() map[string]string {
	return labels("component", "vcluster", "instance", p.Name, "name", "vcluster-"+p.Name, "part-of", "platform")
}

// sources are the chart of the virtual cluster with its values.
func (p VclusterProps) sources() []v1alpha1.ApplicationSource {
	type object = map[string]any
	enabled := func(is bool) object { return object{"enabled": is} }
	address := p.service() + "." + p.Name + "-vcluster.svc"
	values := object{
		"controlPlane": object{
			"advanced":    object{"virtualScheduler": enabled(true)},
			"proxy":       object{"extraSANs": []string{address, p.host()}},
			"statefulSet": object{"scheduling": object{"podManagementPolicy": "OrderedReady"}},
		},
		"exportKubeConfig": object{"server": "https://" + address + ":443"},
		"sync": object{
			"fromHost": object{
				"ingressClasses": enabled(true), "nodes": enabled(true),
				"secrets": object{"enabled": true, "mappings": object{"byName": object{"backstage/*": "backstage/*", "nextjs/*": "nextjs/*"}}},
			},
			"toHost": object{"ingresses": enabled(false), "serviceAccounts": enabled(true)},
		},
	}
	return []v1alpha1.ApplicationSource{{
		RepoURL: "https://charts.loft.sh", Chart: "vcluster", TargetRevision: "0.26.0", Helm: &v1alpha1.ApplicationSourceHelm{ValuesObject: raw(values)},
	}}
}

// vclusterChart is the Application once more, as the original has it among the manifests of the package.
func vclusterChart(scope chart.Scope, p VclusterProps) {
	wave := 10
	argocd.Application(scope, "application", argocd.ApplicationProps{
		Name: p.service(), Namespace: "argocd", Labels: p.labels(), Wave: &wave, Sources: p.sources(),
		Destination: v1alpha1.ApplicationDestination{Server: argocd.InCluster, Namespace: scope.Node().Chart().Namespace()},
		SyncPolicy:  argocd.Automated(argocd.CreateNamespace),
	})
}

func vclusterIngressChart(scope chart.Scope, p VclusterProps) {
	name := "vcluster-" + p.Name + "-ingress"
	workload.Ingress(scope, "ingress", workload.IngressProps{
		Name: name, Class: "nginx", Host: p.host(), PathType: networkingv1.PathTypeImplementationSpecific,
		Labels:      labels("component", "ingress", "instance", p.Name, "name", name, "part-of", "vcluster"),
		Annotations: with(nginx("backend-protocol", "HTTPS", "ssl-passthrough", "true", "ssl-redirect", "true"), "argocd.argoproj.io/sync-wave", "15"),
	}, p.service(), 443)
}

type RegistrationProps struct {
	Name      string `json:"name" factory:"required"`
	Wave      int    `json:"wave"`
	Scheduled bool   `json:"scheduled"`
	Scripts   string `json:"scripts" factory:"required"`
}

// registrationChart copies the credentials of virtual clusters to where Argo CD finds them: once, or again and again.
func registrationChart(scope chart.Scope, p RegistrationProps) {
	annotations := wave(strconv.Itoa(p.Wave))
	account := rbac.ServiceAccount(scope, "account", rbac.Props{Name: p.Name, Annotations: annotations})
	subject := rbac.Account(account.Namespace(), account.Name())
	reader := rbac.ClusterRole(scope, "reader", rbac.Props{Name: p.Name + "-reader"},
		rbac.Allow("", []string{"secrets"}, "get", "list"), rbac.Allow("", []string{"namespaces"}, "get", "list"))
	rbac.ClusterRoleBinding(scope, "reader-binding", rbac.Props{Name: reader.Name() + "-binding"}, reader.Name(), subject)
	writer := rbac.Role(scope, "writer", rbac.Props{Name: p.Name + "-writer"},
		rbac.Allow("", []string{"secrets"}, "create", "update", "patch", "get", "list"))
	rbac.RoleBinding(scope, "writer-binding", rbac.Props{Name: writer.Name() + "-binding"}, rbac.ToRole(writer.Name()), subject)
	script := workload.ConfigMap(scope, "script", workload.ConfigMapProps{
		Name: p.Name + "-script", Annotations: annotations, Files: []workload.Files{{Dir: p.Scripts, Include: []string{"*.sh"}}},
	})
	job := batchv1.JobSpec{TTLSecondsAfterFinished: to(int32(300))}
	job.Template.Spec = p.pod(script.Name(), account.Name())
	meta := metav1.ObjectMeta{Name: p.Name, Annotations: annotations}
	if !p.Scheduled {
		job.Template.Name = p.Name
		chart.Add(scope, "job", &batchv1.Job{ObjectMeta: meta, Spec: job})
		return
	}
	job.BackoffLimit = to(int32(2))
	job.Template.Labels = labels("component", "registration", "name", p.Name)
	job.Template.Spec.Containers[0].Resources = resources("50m", "64Mi", "100m", "128Mi")
	chart.Add(scope, "cronjob", &batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{
		Schedule: "*/5 * * * *", ConcurrencyPolicy: batchv1.ForbidConcurrent, JobTemplate: batchv1.JobTemplateSpec{Spec: job},
		SuccessfulJobsHistoryLimit: to(int32(1)), FailedJobsHistoryLimit: to(int32(3)),
	}})
}

// pod runs the script.
func (p RegistrationProps) pod(script, account string) corev1.PodSpec {
	pod := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyOnFailure, ServiceAccountName: account, Containers: []corev1.Container{{
		Name: "register", Image: "bitnami/kubectl:1.31", Command: []string{"/bin/bash"}, Args: []string{"/scripts/register-vclusters.sh"},
	}}}
	workload.Mount(&pod, 0, scriptVolume(script), "/scripts")
	return pod
}

// scriptVolume has the files of a ConfigMap, which may be executed.
func scriptVolume(config string) corev1.Volume {
	return corev1.Volume{Name: "script", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: config}, DefaultMode: to(int32(0o755)),
	}}}
}

func registrationRBACChart(scope chart.Scope, _ struct{}) {
	grant := func(name string) rbac.Props {
		return rbac.Props{Name: name, Labels: labels("name", name, "part-of", "vcluster-registration")}
	}
	subject := rbac.Account("external-secrets", "external-secrets")
	all := grant("external-secrets-cluster-secret-reader")
	rbac.ClusterRole(scope, "all", all, rbac.AllowRead("", "secrets"))
	rbac.ClusterRoleBinding(scope, "all-binding", all, all.Name, subject)
	some := grant("external-secrets-vcluster-reader")
	rbac.ClusterRole(scope, "some", some,
		rbac.Named(rbac.AllowRead("", "secrets"), "vc-dev-vcluster-helm", "vc-staging-vcluster-helm"),
		rbac.Allow("", []string{"namespaces"}, "get", "list"))
	rbac.ClusterRoleBinding(scope, "some-binding", some, some.Name, subject)
}
