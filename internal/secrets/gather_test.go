package secrets

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/api/externalsecrets/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/fake"
)

const vaults = `kind: SecretStore
metadata: {name: %, namespace: ns, uid: %}
spec: {provider: {fake: {data: [{key: a, value: '{"x":"1","y":"2"}'}, {key: app/b, value: plain-%}]}}}`

// TestGather takes values out of two fake stores, without a cluster.
func TestGather(t *testing.T) {
	p := &part{
		Host: &dialect.Host{}, pushed: &fake.Pushed{}, uses: map[engine.UnitID]map[engine.UnitID]bool{},
		stores: declared.NewRegistry[esv1.SecretStore](storeKind().GroupKind),
	}
	for _, name := range []string{"one", "two"} {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(strings.ReplaceAll(vaults, "%", name)), &u.Object); err != nil {
			t.Fatal(err)
		}
		if _, err := p.stores.Put(u); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason, spec string
		want         map[string]string
		err          string
	}{
		"Extract":  {"all properties of a value", `{secretStoreRef: {name: one}, dataFrom: [{extract: {key: a}}]}`, map[string]string{"x": "1", "y": "2"}, ""},
		"Data":     {"data are over dataFrom", `{secretStoreRef: {name: one}, dataFrom: [{extract: {key: a}}], data: [{secretKey: x, remoteRef: {key: app/b}}]}`, map[string]string{"x": "plain-one", "y": "2"}, ""},
		"Find":     {"values by their names, converted", `{secretStoreRef: {name: one}, dataFrom: [{find: {name: {regexp: "^app/"}}}]}`, map[string]string{"app_b": "plain-one"}, ""},
		"Source":   {"another store for one key", `{secretStoreRef: {name: one}, data: [{secretKey: x, remoteRef: {key: app/b}, sourceRef: {storeRef: {name: two}}}]}`, map[string]string{"x": "plain-two"}, ""},
		"Rewrite":  {"keys are rewritten by templates", `{secretStoreRef: {name: one}, dataFrom: [{extract: {key: a}, rewrite: [{transform: {template: "{{ .value | upper }}"}}]}]}`, map[string]string{"X": "1", "Y": "2"}, ""},
		"Template": {"templates are executed", `{secretStoreRef: {name: one}, target: {template: {data: {k: "{{ .x }}{{ .y }}"}}}, dataFrom: [{extract: {key: a}}]}`, map[string]string{"k": "12"}, ""},
		"Missing":  {"with Retain, what is missing is an error", `{secretStoreRef: {name: one}, data: [{secretKey: x, remoteRef: {key: none}}]}`, nil, `spec.data[0], key "x"`},
		"Skipped":  {"and is skipped otherwise", `{secretStoreRef: {name: one}, target: {deletionPolicy: Merge}, data: [{secretKey: x, remoteRef: {key: none}}]}`, map[string]string{}, ""},
		"NoStore":  {"a store that is not there", `{secretStoreRef: {name: three}, data: [{secretKey: x, remoteRef: {key: a}}]}`, nil, `there is no SecretStore "three"`},
		"Peeping":  {"Secrets of other namespaces are not read", `{secretStoreRef: {name: one}, target: {template: {data: {k: '{{ getSecretKey "s" "other" "k" }}'}}}, dataFrom: [{extract: {key: a}}]}`, nil, "getSecretKey failed"},
		"Kind":     {"generators that are not supported", `{dataFrom: [{sourceRef: {generatorRef: {kind: SSHKey, name: k}}}]}`, nil, "kind SSHKey are not supported"},
		"Nothing":  {"an entry says what it takes", `{secretStoreRef: {name: one}, dataFrom: [{}]}`, nil, "it has none of extract"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			es := &esv1.ExternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "es"}}
			if err := yaml.Unmarshal([]byte(tc.spec), &es.Spec); err != nil {
				t.Fatal(err)
			}
			made, err := p.gather(t.Context(), engine.UnitID{Kind: esv1.ExternalSecretKind, Namespace: "ns", Name: "es"}, es)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			values := made.Values
			if made.Templated {
				values = made.Data
			}
			got := map[string]string{}
			for key, value := range values {
				got[key] = string(value)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRefusedProviders names what is refused and what to use.
func TestRefusedProviders(t *testing.T) {
	p := &part{}
	for want, spec := range map[string]esv1.Provider{
		"onepasswordSDK: the provider does not support it; use the provider onepassword with a 1Password Connect server": {OnePasswordSDK: &esv1.OnePasswordSDKProvider{Vault: "v"}},
		"gcpsm.auth: workload identities":     {GCPSM: &esv1.GCPSMProvider{ProjectID: "p", Auth: esv1.GCPAuth{WorkloadIdentity: &esv1.GCPWorkloadIdentity{}}}},
		"gcpsm.auth.secretRef is missing":     {GCPSM: &esv1.GCPSMProvider{ProjectID: "p"}},
		"its provider is not one of":          {},
		"azurekv.authType ManagedIdentity: t": {AzureKV: &esv1.AzureKVProvider{AuthType: esv1.AzureManagedIdentity}},
	} {
		_, err := p.open(t.Context(), engine.UnitID{}, "ns", standing{spec: esv1.SecretStoreSpec{Provider: &spec}})
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestMessages keeps the beginnings of messages that tools of the upstream know.
func TestMessages(t *testing.T) {
	failure := errors.New("why")
	for got, want := range map[string]string{
		said(reasonValid, nil):       "store validated",
		said(reasonInvalid, failure): "unable to create client: why",
		said(reasonFailed, failure):  "unable to validate store: why",
		pushedText(&v1alpha1.PushSecret{Spec: v1alpha1.PushSecretSpec{UpdatePolicy: v1alpha1.UpdateIfNotExists}}): "PushSecret synced successfully. Existing secrets in providers unchanged.",
		pushedText(&v1alpha1.PushSecret{}):                           "PushSecret synced successfully",
		capabilities(&esv1.Provider{GitLab: &esv1.GitLabProvider{}}): "ReadOnly",
		capabilities(&esv1.Provider{GCPSM: &esv1.GCPSMProvider{}}):   "ReadWrite",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	p := &part{uses: map[engine.UnitID]map[engine.UnitID]bool{}, stores: declared.NewRegistry[esv1.SecretStore](storeKind().GroupKind)}
	ps := &v1alpha1.PushSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "ps"}}
	ps.Spec.SecretStoreRefs = []v1alpha1.StoreRef{{Name: "none", Kind: esv1.SecretStoreKind}}
	if _, err := p.targets(engine.UnitID{}, ps); err == nil || !strings.HasPrefix(err.Error(), `could not get SecretStore "none", `) {
		t.Errorf("a store that is not there: %v", err)
	}
	if _, _, err := p.sources(t.Context(), engine.UnitID{}, ps); err == nil || !strings.HasPrefix(err.Error(), "could not get source secret: ") {
		t.Errorf("a PushSecret without a source: %v", err)
	}
}

// TestUntold has a dialect that no person requested serve nothing.
func TestUntold(t *testing.T) {
	if groups := New(Options{}).Groups(); len(groups) > 0 {
		t.Errorf("it serves %v", groups)
	}
	if groups := New(Options{Told: true}).Groups(); len(groups) != 2 {
		t.Errorf("it serves %v", groups)
	}
}
