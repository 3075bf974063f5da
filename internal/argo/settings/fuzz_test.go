package settings

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FuzzRead reads ConfigMaps and Secrets of any content: no error shows a value of a Secret.
func FuzzRead(f *testing.F) {
	f.Add("resource.customizations", "apps/Deployment: {health.lua: 'return {}'}", "repository", "url", "https://git.example/x")
	f.Add("resource.exclusions", "- {apiGroups: ['*'], kinds: [Event]}", "cluster", "config", `{"bearerToken":"hunter2hunter2","tlsClientConfig":{"insecure":true}}`)
	f.Add("timeout.reconciliation", "180s", "repo-creds", "sshPrivateKey", "-----BEGIN OPENSSH PRIVATE KEY-----")
	f.Add("globalProjects", "- {projectName: x, labelSelector: {matchExpressions: [{key: a, operator: In}]}}", "cluster", "server", "https://user:hunter2hunter2@x")
	f.Add("kustomize.buildOptions", "--enable-helm --load-restrictor", "repository", "githubAppPrivateKey", "hunter2hunter2")
	f.Fuzz(func(t *testing.T, key, value, kind, field, text string) {
		const secret = "hunter2hunter2"
		objects := Objects{
			ConfigMaps: []corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: ConfigName}, Data: map[string]string{key: value}}},
			Secrets: []corev1.Secret{{
				ObjectMeta: metav1.ObjectMeta{Name: "s", Labels: map[string]string{"argocd.argoproj.io/secret-type": kind}},
				Data:       map[string][]byte{"url": []byte("https://git.example/x"), "password": []byte(secret), "bearerToken": []byte(secret), field: []byte(text)},
			}},
		}
		_, err := Read(objects)
		if err != nil && strings.Contains(err.Error(), secret) && !strings.Contains(key+value+kind+field, secret) {
			t.Errorf("an error shows a value of a Secret: %v", err)
		}
	})
}
