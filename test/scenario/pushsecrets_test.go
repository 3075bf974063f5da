package scenario

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
)

const connectStore = `apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: onepassword, namespace: es, labels: {for: pushes}}
spec:
  provider:
    onepassword:
      connectHost: %s
      vaults: {lab: 1}
      auth: {secretRef: {connectTokenSecretRef: {name: connect, key: token}}}
`

const pushSecret = `apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: tls, namespace: es}
spec:
  deletionPolicy: Delete
  secretStoreRefs: [{labelSelector: {matchLabels: {for: pushes}}}]
  selector: {secret: {name: certificate}}
  template: {data: {bundle: "{{ .crt }}+{{ .key }}"}}
  data:
  - {match: {secretKey: bundle, remoteRef: {remoteKey: shop-tls, property: bundle}}}
`

const spreadSecret = `apiVersion: external-secrets.io/v1
kind: ClusterExternalSecret
metadata: {name: registry}
spec:
  externalSecretName: registry-login
  namespaceSelectors: [{matchLabels: {team: shop}}]
  externalSecretMetadata: {labels: {from: registry}}
  externalSecretSpec:
    secretStoreRef: {name: open, kind: ClusterSecretStore}
    data: [{secretKey: password, remoteRef: {key: registry}}]
`

var (
	pushResource   = schema.GroupVersionResource{Group: "external-secrets.io", Version: "v1alpha1", Resource: "pushsecrets"}
	spreadResource = schema.GroupVersionResource{Group: "external-secrets.io", Version: "v1", Resource: "clusterexternalsecrets"}
)

// TestPushSecrets writes values of Secrets to a 1Password Connect server, follows their changes, and takes them away again.
func TestPushSecrets(t *testing.T) {
	t.Parallel()
	v := newVaulted(t)
	connect := storetest.NewConnect(t, "lab")
	secret := func(name, key, value string) {
		t.Helper()
		v.put(fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: es}\nstringData: {%s: %q}\n", name, key, value))
	}
	secret("connect", "token", connect.Token)
	v.put("apiVersion: v1\nkind: Secret\nmetadata: {name: certificate, namespace: es}\nstringData: {crt: one, key: two}\n")
	v.put(fmt.Sprintf(connectStore, connect.URL))
	v.put(pushSecret)
	has := func(want string, there bool) {
		t.Helper()
		v.wait(fmt.Sprintf("the server has %q: %v", want, there), func() (bool, string) {
			items := fmt.Sprint(connect.Items("lab"))
			return strings.Contains(items, want) == there, items
		})
	}
	has("value:one+two", true)
	v.condition(pushResource, "es", "tls", "True", "Synced", "PushSecret synced successfully")
	v.put("apiVersion: v1\nkind: Secret\nmetadata: {name: certificate, namespace: es}\nstringData: {crt: three}\n")
	has("value:three+two", true)
	t.Run("missing key", func(t *testing.T) {
		v.put(strings.NewReplacer("name: tls", "name: lacking", "secretKey: bundle", "secretKey: nothing").Replace(pushSecret))
		v.condition(pushResource, "es", "lacking", "False", "Errored", "spec.data[0]: secret key nothing does not exist")
	})
	t.Run("selected", func(t *testing.T) {
		v.put(`apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: selected, namespace: es}
spec:
  secretStoreRefs: [{name: onepassword}]
  selector: {secret: {selector: {matchLabels: {push: this}}}}
  data: [{match: {secretKey: k, remoteRef: {remoteKey: chosen, property: k}}}]
`)
		v.condition(pushResource, "es", "selected", "False", "Errored", "selects no Secret of namespace \"es\"")
		v.put("apiVersion: v1\nkind: Secret\nmetadata: {name: late, namespace: es, labels: {push: this}}\nstringData: {k: came-later}\n")
		has("value:came-later", true)
	})
	t.Run("dataTo", func(*testing.T) {
		v.put("apiVersion: external-secrets.io/v1alpha1\nkind: PushSecret\nmetadata: {name: bulk, namespace: es}\nspec: {secretStoreRefs: [{name: a}], selector: {secret: {name: b}}, dataTo: [{storeRef: {name: a}}]}\n")
		v.condition(pushResource, "es", "bulk", "False", "Errored", "spec.dataTo is not supported")
	})
	pushes := v.world.client.Resource(pushResource).Namespace("es")
	if err := pushes.Delete(t.Context(), "tls", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	has("shop-tls", false)
	v.wait("the PushSecret is gone", func() (bool, string) {
		_, err := pushes.Get(t.Context(), "tls", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// TestClusterExternalSecrets has an ExternalSecret in each selected namespace, as namespaces come and go, and leaves those of others alone.
func TestClusterExternalSecrets(t *testing.T) {
	t.Parallel()
	v := newVaulted(t)
	namespace := func(name, team string) {
		t.Helper()
		v.put(fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s, labels: {team: %s}}\n", name, team))
	}
	namespace("spread-one", "shop")
	namespace("spread-two", "other")
	namespace("spread-taken", "shop")
	v.put(`apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: open}
spec: {provider: {fake: {data: [{key: registry, value: pw}]}}}
`)
	v.put("apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: registry-login, namespace: spread-taken}\nspec: {secretStoreRef: {name: open, kind: ClusterSecretStore}, data: [{secretKey: mine, remoteRef: {key: registry}}]}\n")
	v.put(spreadSecret)
	in := func(namespace string, there bool) {
		t.Helper()
		v.wait(fmt.Sprintf("Secret in %s: %v", namespace, there), func() (bool, string) {
			s, err := v.client.CoreV1().Secrets(namespace).Get(t.Context(), "registry-login", metav1.GetOptions{})
			if !there {
				list, lerr := v.world.client.Resource(externalSecretResource).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
				return lerr == nil && len(list.Items) == 0, fmt.Sprint(err, lerr)
			}
			return err == nil && string(s.Data["password"]) == "pw" && s.Labels["from"] == "registry", fmt.Sprint(err)
		})
	}
	in("spread-one", true)
	in("spread-two", false)
	v.wait("what is taken is named", func() (bool, string) {
		u, err := v.world.client.Resource(spreadResource).Get(t.Context(), "registry", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		failed, _, _ := unstructured.NestedSlice(u.Object, "status", "failedNamespaces")
		done, _, _ := unstructured.NestedStringSlice(u.Object, "status", "provisionedNamespaces")
		return len(done) == 1 && done[0] == "spread-one" && strings.Contains(fmt.Sprint(failed), "namespace:spread-taken reason:external secret already exists in namespace"), fmt.Sprint(u.Object["status"])
	})
	taken := v.world.client.Resource(externalSecretResource).Namespace("spread-taken")
	if u, err := taken.Get(t.Context(), "registry-login", metav1.GetOptions{}); err != nil || !strings.Contains(fmt.Sprint(u.Object["spec"]), "mine") {
		t.Errorf("the ExternalSecret of somebody else was changed: %v", err)
	}
	namespace("spread-two", "shop")
	in("spread-two", true)
	namespace("spread-one", "other")
	in("spread-one", false)
	if err := v.world.client.Resource(externalSecretResource).Namespace("spread-two").Delete(t.Context(), "registry-login", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	in("spread-two", true)
	if err := v.world.client.Resource(spreadResource).Delete(t.Context(), "registry", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// condition waits until the Ready condition of an object says something.
func (v *vaulted) condition(resource schema.GroupVersionResource, namespace, name, status, reason, text string) {
	v.t.Helper()
	v.wait(resource.Resource+" "+name, func() (bool, string) {
		u, err := v.world.client.Resource(resource).Namespace(namespace).Get(v.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, item := range conditions {
			c, _ := item.(map[string]any)
			if c["type"] == "Ready" && c["status"] == status && c["reason"] == reason && strings.Contains(fmt.Sprint(c["message"]), text) {
				return true, ""
			}
		}
		return false, fmt.Sprint(conditions)
	})
}
