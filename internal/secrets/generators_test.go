package secrets

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	generators "github.com/headgate-dev/headgate/api/externalsecrets/generators/v1alpha1"
	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
)

// declare enters objects of a kind.
func declare[T any, P declared.Object[T]](t *testing.T, kind string, texts ...string) *declared.Registry[T, P] {
	t.Helper()
	r := declared.NewRegistry[T, P](schema.GroupKind{Group: generators.GroupVersion.Group, Kind: kind})
	for _, text := range texts {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		u.SetKind(kind)
		if _, err := r.Put(u); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// TestGenerated makes values of generators, without a cluster.
func TestGenerated(t *testing.T) {
	server := storetest.NewPlain(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/tokens" && r.Method == http.MethodPost:
			body, _ := io.ReadAll(r.Body)
			_, _ = io.WriteString(w, `{"data":{"user":"ada","token":"`+string(body)+r.Header.Get("X-Of")+`","n":7}}`)
		case r.URL.Path == "/list":
			_, _ = io.WriteString(w, `["s3cret"]`)
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	})
	rules, err := egress.Parse(egress.External + "," + egress.Private)
	if err != nil {
		t.Fatal(err)
	}
	hook := `{url: '` + server.URL + `/{{ "tokens" | lower }}', method: POST, body: '{{ "x" | upper }}', headers: {X-Of: '{{ 1 }}'}, timeout: 5s, result: {jsonPath: $.data}}`
	p := &part{
		Host: &dialect.Host{}, http: server.Client(), uses: map[engine.UnitID]map[engine.UnitID]bool{},
		passwords: declare[generators.Password](t, generators.PasswordKind, `{metadata: {name: p, namespace: ns, uid: p, generation: 3}, spec: {length: 9, digits: 0, symbols: 0}}`),
		uuids:     declare[generators.UUID](t, generators.UUIDKind, `{metadata: {name: u, namespace: ns}}`),
		webhooks: declare[generators.Webhook](t, generators.WebhookKind,
			`{metadata: {name: hook, namespace: ns}, spec: `+hook+`}`,
			`{metadata: {name: hook, namespace: other}, spec: {url: "http://unreachable.invalid"}}`,
			`{metadata: {name: denied, namespace: ns}, spec: {url: "`+server.URL+`/none"}}`,
			`{metadata: {name: list, namespace: ns}, spec: {url: "`+server.URL+`/list"}}`,
			`{metadata: {name: broken, namespace: ns}, spec: {url: "`+server.URL+`/{{ .nothing.of }}"}}`),
		githubs: declare[generators.GithubAccessToken](t, generators.GithubAccessTokenKind,
			`{metadata: {name: both, namespace: ns}, spec: {appID: "1", appIDRef: {name: app, key: id}, installID: "2"}}`,
			`{metadata: {name: neither, namespace: ns}, spec: {appID: "1"}}`),
		anywhere: declare[generators.ClusterGenerator](t, generators.ClusterGeneratorKind,
			`{metadata: {name: hook}, spec: {kind: Webhook, generator: {webhookSpec: `+hook+`}}}`,
			`{metadata: {name: ssh}, spec: {kind: SSHKey, generator: {sshKeySpec: {}}}}`),
	}
	made := map[string]string{"user": "ada", "token": "X1", "n": "7"}
	for name, tc := range map[string]struct {
		reason     string
		kind, name string
		want       map[string]string
		err        string
	}{
		"Webhook":  {"the fields of the answer", "Webhook", "hook", made, ""},
		"Anywhere": {"also of a ClusterGenerator", "ClusterGenerator", "hook", made, ""},
		"Denied":   {"a server that refuses", "Webhook", "denied", nil, `generator Webhook "denied": `},
		"List":     {"an answer that is no object", "Webhook", "list", nil, "is not a JSON object"},
		"Broken":   {"a template that fails", "Webhook", "broken", nil, "url"},
		"Missing":  {"a generator that is not there", "Webhook", "none", nil, `there is no generator Webhook "none"`},
		"SSHKey":   {"kinds that are not supported", "ClusterGenerator", "ssh", nil, "generators of kind SSHKey are not supported"},
		"Both":     {"an App in two ways", "GithubAccessToken", "both", nil, "exactly one of appID and appIDRef"},
		"Neither":  {"an installation in none", "GithubAccessToken", "neither", nil, "exactly one of installID and installIDRef"},
	} {
		t.Run(name, func(t *testing.T) {
			values, err := opened{part: p, namespace: "ns"}.generated(t.Context(), esv1.GeneratorRef{Kind: tc.kind, Name: tc.name})
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("%s: %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			got := map[string]string{}
			for key, value := range values {
				got[key] = string(value)
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%s: %v %s", tc.reason, err, diff)
			}
		})
	}
	for kind, key := range map[string]string{"Password": "p", "UUID": "u"} {
		if values, err := (opened{part: p, namespace: "ns"}).generated(t.Context(), esv1.GeneratorRef{Kind: kind, Name: key}); err != nil || len(values) != 1 {
			t.Errorf("%s: %d values, %v", kind, len(values), err)
		}
	}
	if got := p.generation(generatorID("ns", esv1.GeneratorRef{Kind: "Password", Name: "p"})); got != "p3" {
		t.Errorf("the state of a generator is %q", got)
	}
	// A client as users of a shared cluster get it does not reach this machine.
	before := server.Requests()
	p.http = rules.Client(time.Minute)
	if _, err := (opened{part: p, namespace: "ns"}).generated(t.Context(), esv1.GeneratorRef{Kind: "Webhook", Name: "hook"}); err == nil || server.Requests() != before {
		t.Errorf("a webhook reaches this machine: %v", err)
	}
}
