package objects

import (
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/api/crossplane/kubernetes"
	"github.com/headgate-dev/headgate/internal/egress"
)

// TestReadiness derives whether an Object is ready by each of the policies.
func TestReadiness(t *testing.T) {
	const (
		none  = "{apiVersion: v1, kind: ConfigMap, data: {k: v}}"
		ready = "{apiVersion: x/v1, kind: X, status: {conditions: [{type: Ready, status: 'True'}]}}"
		half  = "{apiVersion: x/v1, kind: X, status: {conditions: [{type: Ready, status: 'True'}, {type: Synced, status: 'False', reason: Broken}]}}"
	)
	for name, tc := range map[string]struct {
		policy, query, live string
		upToDate            bool
		known, ready        bool
		message             string
	}{
		"Default":         {"", "", none, true, true, true, ""},
		"DefaultDiffers":  {"SuccessfulCreate", "", none, false, false, false, ""},
		"Derive":          {"DeriveFromObject", "", ready, false, true, true, ""},
		"DeriveHalf":      {"DeriveFromObject", "", half, true, true, true, ""},
		"DeriveNone":      {"DeriveFromObject", "", none, true, true, false, "no condition Ready"},
		"AllTrue":         {"AllTrue", "", ready, true, true, true, ""},
		"AllTrueHalf":     {"AllTrue", "", half, true, true, false, "condition Synced is False (Broken)"},
		"AllTrueNone":     {"AllTrue", "", none, true, true, false, "no conditions"},
		"Query":           {"DeriveFromCelQuery", "object.data.k == 'v'", none, false, true, true, ""},
		"QueryFalse":      {"DeriveFromCelQuery", "object.data.k == 'x'", none, true, true, false, "the celQuery is false"},
		"QueryInvalid":    {"DeriveFromCelQuery", "object.", none, true, true, false, "failed to compile query"},
		"QueryText":       {"DeriveFromCelQuery", "'text'", none, true, true, false, "does not return a bool"},
		"QueryDynamic":    {"DeriveFromCelQuery", "object.data.k", none, true, true, false, "does not return a bool"},
		"QueryMissing":    {"DeriveFromCelQuery", "object.status.x == 1", none, true, true, false, "failed to eval the program: no such key: status"},
		"QueryOfASecret":  {"DeriveFromCelQuery", "int(object.data.k) == 1", "{apiVersion: v1, kind: Secret, data: {k: c2VjcmV0}}", true, true, false, "failed to eval the program"},
		"QueryWithoutEnd": {"DeriveFromCelQuery", "object.l.all(a, object.l.all(b, object.l.all(c, object.l.all(d, true))))", "{apiVersion: v1, kind: X, l: [" + strings.Repeat("1,", 200) + "1]}", true, true, false, "failed to eval the program"},
		"Unknown":         {"Sometimes", "", none, true, true, false, "unknown readiness policy"},
	} {
		t.Run(name, func(t *testing.T) {
			got := readiness(kubernetes.Readiness{Policy: tc.policy, CelQuery: tc.query}, read(t, tc.live), tc.upToDate)
			if got.Known != tc.known || got.Ready != tc.ready || !strings.Contains(got.Message, tc.message) || strings.Contains(got.Message, "c2VjcmV0") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestDetails reads values for a connection Secret.
func TestDetails(t *testing.T) {
	const secret = "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, data: {k: dg==, bad: '%%%'}}"
	for name, tc := range map[string]struct {
		detail      kubernetes.ConnectionDetail
		live        string
		own         bool
		want, fails string
	}{
		"Own":      {kubernetes.ConnectionDetail{FieldPath: "data.k"}, secret, true, "v", ""},
		"Seed":     {kubernetes.ConnectionDetail{FromFieldPath: "data.k"}, secret, true, "v", ""},
		"Other":    {kubernetes.ConnectionDetail{APIVersion: "v1", Kind: "ConfigMap", Name: "c", FieldPath: "data.k"}, "{apiVersion: v1, kind: ConfigMap, data: {k: dg==}}", false, "dg==", ""},
		"Number":   {kubernetes.ConnectionDetail{FieldPath: "spec.port"}, "{apiVersion: v1, kind: Service, spec: {port: 80}}", true, "80", ""},
		"Metadata": {kubernetes.ConnectionDetail{FieldPath: "metadata.name"}, secret, true, "s", ""},
		"Missing":  {kubernetes.ConnectionDetail{FieldPath: "data.none"}, secret, true, "", "no such field"},
		"Invalid":  {kubernetes.ConnectionDetail{FieldPath: "data.bad"}, secret, true, "", "cannot decode secret data"},
		"Nothing":  {kubernetes.ConnectionDetail{}, secret, true, "", "empty field path"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := parseManifest(wrap(t, "", "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}}"))
			if err != nil {
				t.Fatal(err)
			}
			d := detailOf(tc.detail, m)
			got, err := d.value(read(t, tc.live))
			if string(got) != tc.want || d.own != tc.own || (err != nil) != (tc.fails != "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%q, %+v, %v", got, d, err)
			}
		})
	}
}

// TestKubeconfig accepts what refers to nothing outside itself.
func TestKubeconfig(t *testing.T) {
	const file = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: 'https://a.example'CLUSTER}}]\nusers: [{name: u, user: {USER}}]\n"
	for name, tc := range map[string]struct{ cluster, user, fails string }{
		"Token":    {"", "token: t", ""},
		"Exec":     {"", "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh}", "run programs"},
		"File":     {"", "tokenFile: /etc/passwd", "name files"},
		"Key":      {"", "client-key: /etc/passwd", "name files"},
		"Provider": {"", "auth-provider: {name: gcp}", "run programs"},
		"CA":       {", certificate-authority: /etc/passwd", "token: t", "names a file"},
		"Insecure": {", insecure-skip-tls-verify: true", "token: t", "insecure-skip-tls-verify is not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := kubeconfig([]byte(strings.NewReplacer("CLUSTER", tc.cluster, "USER", tc.user).Replace(file)), egress.Anywhere())
			if (err != nil) != (tc.fails != "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Fatalf("the error is %v", err)
			}
			if err == nil && (config.Host != "https://a.example" || config.BearerToken != "t") {
				t.Errorf("it is %+v", config)
			}
		})
	}
	if _, err := kubeconfig([]byte("a token\x00"), egress.Anywhere()); err == nil || strings.Contains(err.Error(), "token") {
		t.Errorf("what is no kubeconfig: %v", err)
	}
	if _, err := kubeconfig([]byte(clientcmd.RecommendedFileName), egress.Anywhere()); err == nil {
		t.Error("a name is no kubeconfig")
	}
}
