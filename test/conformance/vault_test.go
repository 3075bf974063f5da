package conformance

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/rbac"
	"github.com/headgate-dev/headgate/chart/workload"
)

// VaultProps are the scripts that the containers run.
type VaultProps struct {
	Init   string `json:"init" factory:"required"`
	Config string `json:"config" factory:"required"`
	Unseal string `json:"unseal" factory:"required"`
}

func vaultProps(g tree) VaultProps {
	script := func(file string) string {
		return g.text("vault/manifests/"+file+".k8s.yaml", "spec", "template", "spec", "containers", "0", "args", "0")
	}
	return VaultProps{Init: script("Job.vault-init"), Config: script("Job.vault-config"), Unseal: script("Deployment.vault-unsealer")}
}

func vaultChart(scope chart.Scope, p VaultProps) {
	clusterStore(scope, "vault-secret-store", nil, "2", esv1.Provider{Vault: &esv1.VaultProvider{
		Server: "http://vault.vault.svc.cluster.local:8200", Path: "secret", Version: "v2",
		Auth: &esv1.VaultAuth{Token: &esv1.SecretKeySelector{Name: "vault-root-token", Namespace: "vault", Key: "token"}},
	}})
	ingress := workload.Ingress(scope, "ingress", workload.IngressProps{
		Name: "vault-ingress", Class: "nginx", Host: "vault.cnoe.localtest.me", Annotations: nginx("backend-protocol", "HTTP"),
	}, "vault", 8200)
	ingress.Value.Spec.Rules = append(ingress.Value.Spec.Rules,
		workload.Rule("localhost", "/vault(/|$)(.*)", networkingv1.PathTypeImplementationSpecific, "vault", 8200))
	initAccount := vaultAccount(scope, "vault-init",
		rbac.Allow("", []string{"secrets"}, "create", "get", "patch", "update"),
		rbac.Allow("", []string{"pods"}, "delete", "get", "list", "watch"),
		rbac.Allow("", []string{"persistentvolumeclaims"}, "get", "list", "delete"))
	configAccount := vaultAccount(scope, "vault-config", rbac.Allow("", []string{"secrets"}, "get"))
	env := []corev1.EnvVar{{Name: "VAULT_ADDR", Value: "http://vault:8200"}, {Name: "VAULT_SKIP_VERIFY", Value: "true"}}
	vaultJob(scope, initAccount, "0", vaultPod("vault-init", initAccount, p.Init, corev1.RestartPolicyOnFailure, env))
	vaultJob(scope, configAccount, "1", vaultPod("vault-config", configAccount, p.Config, corev1.RestartPolicyOnFailure, nil))
	pod := vaultPod("vault-unsealer", initAccount, p.Unseal, corev1.RestartPolicyAlways, env)
	check := []string{"/bin/bash", "-c", "curl -s http://vault:8200/v1/sys/health >/dev/null"}
	pod.Containers[0].LivenessProbe = workload.Timing{InitialDelay: 60, Period: 60, Timeout: 10, Failures: 3}.Command(check...)
	pod.Containers[0].ReadinessProbe = workload.Timing{InitialDelay: 30, Period: 30, Timeout: 5, Failures: 2}.Command(check...)
	pod.Containers[0].Resources = resources("50m", "64Mi", "100m", "128Mi")
	workload.Deployment(scope, "unsealer", workload.Props{
		Name: "vault-unsealer", Labels: map[string]string{"app": "vault-unsealer"}, Annotations: wave("2"), Replicas: to(int32(1)), Pod: pod,
	})
}

// vaultAccount is an account with a role of its own; its name is returned.
func vaultAccount(scope chart.Scope, name string, rules ...rbacv1.PolicyRule) string {
	account := rbac.ServiceAccount(scope, name, rbac.Props{Name: name})
	rbac.Role(scope, name+"-role", rbac.Props{Name: name}, rules...)
	rbac.RoleBinding(scope, name+"-binding", rbac.Props{Name: name}, rbac.ToRole(name), rbac.Account(account.Namespace(), account.Name()))
	return account.Name()
}

func vaultPod(name, account, script string, restart corev1.RestartPolicy, env []corev1.EnvVar) corev1.PodSpec {
	return corev1.PodSpec{RestartPolicy: restart, ServiceAccountName: account, Containers: []corev1.Container{{
		Name: name, Image: "docker.io/library/ubuntu:22.04", Command: []string{"/bin/bash", "-c"}, Args: []string{script}, Env: env,
	}}}
}

func vaultJob(scope chart.Scope, name, at string, pod corev1.PodSpec) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: with(wave(at), "argocd.argoproj.io/hook-delete-policy", "HookSucceeded")}}
	job.Spec.Template.Spec = pod
	chart.Add(scope, name+"-job", job)
}
