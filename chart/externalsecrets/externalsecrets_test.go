package externalsecrets_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/externalsecrets"
)

func ExampleEnv() {
	app := chart.NewApp(chart.Settings{})
	shop := chart.New(app, "shop", chart.Props{Namespace: "shop"})
	externalsecrets.Env(shop, "env", externalsecrets.Props{
		Name: "web-env", Store: externalsecrets.ClusterStore("vault"), Refresh: "1h",
		Keys: []externalsecrets.Key{{Name: "TOKEN", Remote: "shop/web", Property: "token"}},
	}, map[string]string{"URL": "https://api.example.org?token={{ .TOKEN }}"})
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result.YAML()))
	// Output:
	// apiVersion: external-secrets.io/v1
	// kind: ExternalSecret
	// metadata:
	//   name: web-env
	//   namespace: shop
	// spec:
	//   data:
	//     - remoteRef:
	//         key: shop/web
	//         property: token
	//       secretKey: TOKEN
	//   refreshInterval: 1h
	//   secretStoreRef:
	//     kind: ClusterSecretStore
	//     name: vault
	//   target:
	//     template:
	//       data:
	//         TOKEN: "{{ .TOKEN }}"
	//         URL: https://api.example.org?token={{ .TOKEN }}
}

// execute is a template as the operator executes it, with the functions that these templates use.
func execute(t *testing.T, text string, values map[string]string) string {
	t.Helper()
	functions := template.FuncMap{"b64enc": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }}
	parsed, err := template.New("").Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, values); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestDockerConfigJSON(t *testing.T) {
	password := externalsecrets.Key{Remote: "pat"}
	for name, tc := range map[string]struct {
		reason   string
		registry externalsecrets.Registry
		user     string
	}{
		"Plain":  {"a name that is known", externalsecrets.Registry{Host: "ghcr.io", Username: `o"dd`, Password: password}, `o"dd`},
		"Stored": {"a name that is in the store", externalsecrets.Registry{Host: "ghcr.io", UsernameKey: &externalsecrets.Key{Remote: "user"}, Password: password}, "ada"},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{})
			made := externalsecrets.DockerConfigJSON(chart.New(app, "c", chart.Props{}), "pull", externalsecrets.Props{Store: externalsecrets.Store("s")}, tc.registry)
			if _, err := app.Synth(); err != nil {
				t.Fatal(err)
			}
			if got := made.Value.Spec.Target.Template.Type; got != "kubernetes.io/dockerconfigjson" {
				t.Errorf("the type is %s", got)
			}
			text := execute(t, made.Value.Spec.Target.Template.Data[".dockerconfigjson"], map[string]string{"password": "secret", "username": "ada"})
			var got map[string]any
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%v:\n%s", err, text)
			}
			want := map[string]any{"auths": map[string]any{"ghcr.io": map[string]any{
				"username": tc.user, "password": "secret", "auth": base64.StdEncoding.EncodeToString([]byte(tc.user + ":secret")),
			}}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	app := chart.NewApp(chart.Settings{})
	made := externalsecrets.TLS(chart.New(app, "c", chart.Props{}), "tls", externalsecrets.Props{
		Store: externalsecrets.ClusterStore("s"), Template: &v1.Template{MergePolicy: v1.TemplateMerge, Data: map[string]string{"ca.crt": "{{ .certificate }}"}},
	}, externalsecrets.Key{Remote: "crt"}, externalsecrets.Key{Name: "private", Remote: "key"})
	if _, err := app.Synth(); err != nil {
		t.Fatal(err)
	}
	want := &v1.Template{Type: "kubernetes.io/tls", MergePolicy: v1.TemplateMerge, Data: map[string]string{
		"tls.crt": "{{ .certificate }}", "tls.key": "{{ .private }}", "ca.crt": "{{ .certificate }}",
	}}
	if diff := cmp.Diff(want, made.Value.Spec.Target.Template); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMistakes(t *testing.T) {
	token := []externalsecrets.Key{{Name: "token", Remote: "t"}}
	store := externalsecrets.Store("s")
	data := func(text string) *v1.Template { return &v1.Template{Data: map[string]string{"a": text}} }
	for name, tc := range map[string]struct {
		reason string
		props  externalsecrets.Props
		want   string
	}{
		"None":      {"nothing is wrong", externalsecrets.Props{Store: store, Keys: token, Template: data(`{{ printf "%s.missing" .token | b64enc }} .neither`)}, ""},
		"Store":     {"a store is needed", externalsecrets.Props{Keys: token}, "it names no store; set Store"},
		"Remote":    {"a key without a name in the store", externalsecrets.Props{Store: store, Keys: []externalsecrets.Key{{Name: "a"}}}, "key 0 needs the name"},
		"Twice":     {"a key that is fetched twice", externalsecrets.Props{Store: store, Keys: append(token, token...)}, `the key "token" is fetched twice`},
		"Reference": {"a template with a value that is not fetched", externalsecrets.Props{Store: store, Keys: token, Template: data("{{ .tokn | b64enc }}")}, `the template of "a" refers to .tokn, which is not fetched; there are: token`},
		"Nested":    {"also within a call", externalsecrets.Props{Store: store, Keys: token, Template: data(`{{ printf "%s" (.other) }}`)}, "refers to .other"},
		"Control":   {"what changes the dot is left to the operator", externalsecrets.Props{Store: store, Keys: token, Template: data("{{ range .x }}{{ .y }}{{ end }}")}, ""},
		"DataFrom": {"what whole secrets have is known to the store alone", externalsecrets.Props{
			Store: store, DataFrom: []v1.DataFrom{{Extract: &v1.RemoteRef{Key: "all"}}}, Template: data("{{ .anything }}"),
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			app := chart.NewApp(chart.Settings{})
			externalsecrets.ExternalSecret(chart.New(app, "c", chart.Props{}), "secret", tc.props)
			_, err := app.Synth()
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
