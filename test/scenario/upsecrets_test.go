package scenario

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/internal/cli"
)

const upSecretsRoot = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 1h
  path: ./apps
  prune: true
  wait: true
  timeout: 2m
  sourceRef: {kind: GitRepository, name: flux-system}
  healthCheckExprs:
  - {apiVersion: external-secrets.io/v1, kind: ExternalSecret, current: "status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"}
`

const upSecretsApps = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: onepassword}
spec:
  provider:
    onepassword:
      connectHost: http://onepassword-connect.external-secrets:8080
      vaults: {lab: 1}
      auth: {secretRef: {connectTokenSecretRef: {name: onepassword, namespace: external-secrets, key: token}}}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault, namespace: shop}
spec:
  provider:
    vault: {server: "http://vault.vault:8200", path: kv, auth: {tokenSecretRef: {name: vault, key: token}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: database, namespace: shop}
spec:
  secretStoreRef: {name: onepassword, kind: ClusterSecretStore}
  target: {template: {data: {url: "postgres://{{ .username }}:{{ .password }}@db"}}}
  dataFrom: [{extract: {key: database}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: cache, namespace: shop}
spec:
  secretStoreRef: {name: vault}
  data: [{secretKey: password, remoteRef: {key: cache, property: password}}]
`

// TestUpSecrets has External Secrets come from a file that SOPS encrypts where it has a store, and from stand-ins where not; a store that the file gets
// later takes over. No value is anywhere but in the Secrets.
func TestUpSecrets(t *testing.T) {
	t.Parallel()
	repo, dir, mine := t.TempDir(), shortDir(t), t.TempDir()
	writeFile(t, filepath.Join(repo, "clusters/lab/apps.yaml"), upSecretsRoot)
	writeFile(t, filepath.Join(repo, "apps/all.yaml"), upSecretsApps)
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	key, file := filepath.Join(mine, "key"), filepath.Join(mine, "lab.yaml")
	writeFile(t, key, identity.String()+"\n")
	writeFile(t, filepath.Join(mine, ".sops.yaml"), "creation_rules: [{age: "+identity.Recipient().String()+"}]\n")
	save := func(text string) {
		t.Helper()
		plain := filepath.Join(mine, "next.yaml")
		writeFile(t, plain, text)
		var out, errs bytes.Buffer
		if code := cli.Main(t.Context(), []string{"secret", "encrypt", plain}, cli.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Child: true}); code != 0 {
			t.Fatalf("secret encrypt ends with %d: %s", code, &errs)
		}
		writeFile(t, file, out.String())
	}
	save("stores:\n  onepassword:\n    database: {username: ada, password: s3cret-of-the-file}\n")
	p := run(t, "up", repo, "--simulate", "--secrets", file, "--age-key-file", key, "--ephemeral", "--state-dir", dir)
	p.says("2 units")
	kubeconfig := filepath.Join(dir, "ephemeral", "kubeconfig")
	client := clientOf(t, kubeconfig)
	value := func(name, key string, is func(string) bool) *corev1.Secret {
		t.Helper()
		var s *corev1.Secret
		eventually(t, "Secret "+name, func() (bool, string) {
			var err error
			s, err = client.CoreV1().Secrets("shop").Get(t.Context(), name, metav1.GetOptions{})
			return err == nil && is(string(s.Data[key])), fmt.Sprint(err)
		})
		return s
	}
	value("database", "url", func(v string) bool { return v == "postgres://ada:s3cret-of-the-file@db" })
	value("cache", "password", func(v string) bool { return strings.HasPrefix(v, "simulated") })
	if !strings.Contains(p.output.String(), "simulates ExternalSecret/shop/cache") || strings.Contains(p.output.String(), "simulates ExternalSecret/shop/database") {
		t.Errorf("stand-ins are not made for what the file lacks alone")
	}
	if code, out := asked(t, dir, "sync", "es", "database", "-n", "shop"); code != 0 || !strings.Contains(out, "secret synced") {
		t.Errorf("sync es: exit code %d\n%s", code, out)
	}

	save("stores:\n  onepassword:\n    database: {username: ada, password: s3cret-that-rotated}\n  shop/vault:\n    cache: {password: s3cret-of-the-cache}\n")
	value("database", "url", func(v string) bool { return v == "postgres://ada:s3cret-that-rotated@db" })
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	taken := value("cache", "password", func(v string) bool { return v == "s3cret-of-the-cache" })
	if taken.Labels["headgate.dev/simulated"] != "" || len(taken.OwnerReferences) != 1 {
		t.Errorf("Secret cache has the labels %v and the owners %v", taken.Labels, taken.OwnerReferences)
	}
	if code, out := asked(t, dir, "sync", "es", "--all"); code != 0 {
		t.Errorf("sync es --all: exit code %d\n%s", code, out)
	}
	nowhere(t, p, dir, client, objects)
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// nowhere has no value in what is printed, in events and statuses, and in the state directory.
func nowhere(t *testing.T, p *process, dir string, client kubernetes.Interface, objects dynamic.Interface) {
	t.Helper()
	const values = "s3cret-"
	if strings.Contains(p.output.String(), values) {
		t.Error("a value is printed")
	}
	events, err := client.CoreV1().Events("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(events.Items) == 0 {
		t.Fatalf("%d events, error %v", len(events.Items), err)
	}
	for _, e := range events.Items {
		if strings.Contains(e.Message, values) {
			t.Errorf("an event has a value: %s", e.Reason)
		}
	}
	list, err := objects.Resource(externalSecretResource).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 {
		t.Fatalf("%d ExternalSecrets, error %v", len(list.Items), err)
	}
	for _, one := range list.Items {
		status, _, _ := unstructured.NestedMap(one.Object, "status")
		if strings.Contains(fmt.Sprint(status), values) {
			t.Errorf("the status of %s has a value", one.GetName())
		}
	}
	read := 0
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(name)
		if err == nil && bytes.Contains(data, []byte(values)) {
			t.Errorf("%s has a value in clear", name)
		}
		read++
		return nil
	})
	if err != nil || read == 0 {
		t.Errorf("%d files of the state directory were read, error %v", read, err)
	}
}
