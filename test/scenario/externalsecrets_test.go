package scenario

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/secrets"
)

const vaultSecret = "s3cret-of-the-vault"

const fakeStore = `apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: vault}
spec:
  conditions: [{namespaces: [es]}]
  provider:
    fake:
      data:
      - {key: db, value: '{"user":"ada","password":"%s"}'}
`

const externalSecrets = `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db, namespace: es, labels: {team: a}}
spec:
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  target:
    name: database
    template:
      type: Opaque
      metadata: {labels: {user: "{{ .user }}"}}
      data: {url: 'postgres://{{ .user }}:{{ .password | b64enc }}@db'}
  dataFrom: [{extract: {key: db}}]
---
apiVersion: generators.external-secrets.io/v1alpha1
kind: Password
metadata: {name: password, namespace: es}
spec: {length: 32, noUpper: false, allowRepeat: true}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: generated, namespace: es}
spec:
  refreshInterval: "0"
  dataFrom: [{sourceRef: {generatorRef: {kind: Password, name: password}}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: missing, namespace: es}
spec:
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  data: [{secretKey: k, remoteRef: {key: nothing}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: malformed, namespace: es}
spec:
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  target: {template: {data: {k: "{{ .password | mustFromJson }}"}}}
  dataFrom: [{extract: {key: db}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: denied, namespace: default}
spec:
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  dataFrom: [{extract: {key: db}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: peeping, namespace: es}
spec:
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  target: {template: {data: {k: '{{ getSecretKey "root" "default" "k" }}'}}}
  dataFrom: [{extract: {key: db}}]
`

// unservable are a store that does not respond, what reads it, and a field that is not supported.
const unservable = `apiVersion: v1
kind: Secret
metadata: {name: token, namespace: es}
stringData: {token: t}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: silent, namespace: es}
spec: {provider: {vault: {server: "http://127.0.0.1:1", path: kv, auth: {tokenSecretRef: {name: token, key: token}}}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: unreached, namespace: es}
spec:
  secretStoreRef: {name: silent}
  data: [{secretKey: k, remoteRef: {key: db}}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: windowed, namespace: es}
spec:
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  syncWindows: {kind: allow, windows: [{schedule: "0 3 * * *", duration: 1h}]}
  data: [{secretKey: k, remoteRef: {key: db}}]
`

// vaulted is an engine that serves external secrets.
type vaulted struct {
	t      *testing.T
	world  *world
	client kubernetes.Interface
}

var storeResource = schema.GroupVersionResource{Group: "external-secrets.io", Version: "v1", Resource: "secretstores"}

var externalSecretResource = schema.GroupVersionResource{Group: "external-secrets.io", Version: "v1", Resource: "externalsecrets"}

// TestExternalSecrets has ExternalSecrets of a fake store and of a generator become Secrets, follow their inputs, be refreshed on request, be
// reverted, and fail without showing a value.
func TestExternalSecrets(t *testing.T) {
	t.Parallel()
	v := newVaulted(t)
	v.put(fmt.Sprintf(fakeStore, vaultSecret))
	for _, one := range strings.Split(externalSecrets+"---\n"+unservable, "---\n") {
		v.put(one)
	}
	v.ready("es", "db", "True", "SecretSynced", "secret synced")
	s := v.secret("database", func(s *corev1.Secret) bool { return len(s.Data["url"]) > 0 })
	if want := "postgres://ada:czNjcmV0LW9mLXRoZS12YXVsdA==@db"; string(s.Data["url"]) != want || len(s.Data) != 1 || s.Labels["user"] != "ada" {
		t.Errorf("the Secret has the keys %d and the labels %v, not what the template says", len(s.Data), s.Labels)
	}
	if len(s.OwnerReferences) != 1 || s.OwnerReferences[0].Name != "db" {
		t.Errorf("the Secret belongs to %v", s.OwnerReferences)
	}
	t.Run("edited", func(t *testing.T) {
		s.Data["url"] = []byte("edited")
		if _, err := v.client.CoreV1().Secrets("es").Update(t.Context(), s, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		v.secret("database", func(s *corev1.Secret) bool { return strings.HasPrefix(string(s.Data["url"]), "postgres://ada") })
	})
	t.Run("deleted", func(t *testing.T) {
		if err := v.client.CoreV1().Secrets("es").Delete(t.Context(), "database", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		v.secret("database", func(*corev1.Secret) bool { return true })
	})
	t.Run("store", func(t *testing.T) {
		v.put(fmt.Sprintf(fakeStore, "second"))
		v.secret("database", func(s *corev1.Secret) bool { return strings.Contains(string(s.Data["url"]), "c2Vjb25k") })
		v.put(fmt.Sprintf(fakeStore, vaultSecret))
	})
	t.Run("generator", func(t *testing.T) {
		v.ready("es", "generated", "True", "SecretSynced", "")
		first := v.secret("generated", func(s *corev1.Secret) bool { return len(s.Data["password"]) == 32 })
		if err := v.world.put(strings.Replace(strings.Split(externalSecrets, "---\n")[2], "namespace: es}", "namespace: es, annotations: {force-sync: one}}", 1)); err != nil {
			t.Fatal(err)
		}
		v.secret("generated", func(s *corev1.Secret) bool { return string(s.Data["password"]) != string(first.Data["password"]) })
	})
	t.Run("older version", v.older)
	t.Run("failures", func(t *testing.T) {
		v.ready("es", "missing", "False", "SecretSyncedError", `key "k"`)
		v.ready("es", "malformed", "False", "SecretSyncedError", "the function mustFromJson failed")
		v.ready("default", "denied", "False", "SecretSyncedError", "denied by spec.conditions")
		v.ready("es", "unreached", "False", "SecretSyncedError", `spec.data[0], key "k"`)
		v.condition(storeResource, "es", "silent", "False", "ValidationFailed", "unable to validate store: ")
		v.ready("es", "windowed", "False", "SecretSyncedError", "spec.syncWindows is not supported")
		v.ready("es", "peeping", "False", "SecretSyncedError", "getSecretKey failed")
	})
	t.Run("values", v.hidden)
}

// older has objects of the version before be served as those of today, and what that version alone has be refused by its field.
func (v *vaulted) older(t *testing.T) {
	before := func(kind, metadata, spec string) string {
		return "apiVersion: external-secrets.io/v1beta1\nkind: " + kind + "\nmetadata: {" + metadata + "}\nspec: " + spec + "\n"
	}
	v.put(before("SecretStore", "name: older, namespace: es", `{provider: {fake: {data: [{key: db, value: '{"user":"bob"}'}]}}}`))
	v.put(before("ExternalSecret", "name: older, namespace: es", "{secretStoreRef: {name: older}, dataFrom: [{extract: {key: db}}]}"))
	v.ready("es", "older", "True", "SecretSynced", "secret synced")
	if s := v.secret("older", func(*corev1.Secret) bool { return true }); string(s.Data["user"]) != "bob" {
		t.Errorf("the Secret has the keys %d", len(s.Data))
	}
	for field, manifest := range map[string]string{
		".spec.provider.fake.data[0].valueMap": before("SecretStore", "name: refused, namespace: es", "{provider: {fake: {data: [{key: db, valueMap: {a: b}}]}}}"),
		"spec.target.template.engineVersion":   before("ExternalSecret", "name: refused, namespace: es", "{secretStoreRef: {name: older}, target: {template: {engineVersion: v1}}, dataFrom: [{extract: {key: db}}]}"),
	} {
		if err := v.world.put(manifest); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("what has %s is put with error %v", field, err)
		}
	}
}

func newVaulted(t *testing.T) *vaulted {
	t.Helper()
	k := startKit(t, kit.Options{Serve: []string{"external-secrets"}, Dialects: dialects.With(dialects.Options{Secrets: secrets.Options{Told: true}})})
	client, err := dynamic.NewForConfig(k.Config)
	if err != nil {
		t.Fatal(err)
	}
	v := &vaulted{t: t, world: &world{kit: k, client: client}}
	if v.client, err = kubernetes.NewForConfig(k.Config); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "es"}}
	if _, err := v.client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return v
}

func (v *vaulted) put(manifest string) {
	v.t.Helper()
	if err := v.world.put(manifest); err != nil {
		v.t.Fatal(err)
	}
}

func (v *vaulted) wait(what string, done func() (bool, string)) {
	v.t.Helper()
	eventually(v.t, what, done)
}

// secret waits until a Secret is as it is to be.
func (v *vaulted) secret(name string, is func(*corev1.Secret) bool) *corev1.Secret {
	v.t.Helper()
	var found *corev1.Secret
	v.wait("Secret "+name, func() (bool, string) {
		s, err := v.client.CoreV1().Secrets("es").Get(v.t.Context(), name, metav1.GetOptions{})
		if err != nil || !is(s) {
			return false, fmt.Sprint(err)
		}
		found = s
		return true, ""
	})
	return found
}

// ready waits until the condition of an ExternalSecret says something.
func (v *vaulted) ready(namespace, name, status, reason, text string) {
	v.t.Helper()
	v.condition(externalSecretResource, namespace, name, status, reason, text)
}

// hidden has no status and no event with a value.
func (v *vaulted) hidden(t *testing.T) {
	all, err := v.world.client.Resource(externalSecretResource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	events, err := v.client.CoreV1().Events(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Items) == 0 || len(events.Items) == 0 {
		t.Errorf("there are %d ExternalSecrets and %d events", len(all.Items), len(events.Items))
	}
	for i := range all.Items {
		if strings.Contains(fmt.Sprint(all.Items[i].Object["status"]), vaultSecret) {
			t.Errorf("the status of %s has a value", all.Items[i].GetName())
		}
	}
	for i := range events.Items {
		if strings.Contains(events.Items[i].Message, vaultSecret) {
			t.Errorf("an event has a value: %s", events.Items[i].Reason)
		}
	}
}
