package manifests_test

import (
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/render/decrypt/decrypttest"
)

func TestEncrypted(t *testing.T) {
	owner, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := decrypt.NewKeys(map[string][]byte{"age.agekey": []byte(owner.String())})
	if err != nil {
		t.Fatal(err)
	}
	encrypt := func(plain, regex string, format decrypt.Format) string {
		data, err := decrypttest.Encrypt([]byte(plain), format, regex, owner.Recipient().String())
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	secret := encrypt("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: hunter22}\n", "^(data|stringData)$", decrypt.YAML)
	values := encrypt("greeting: hunter22\n", "", decrypt.YAML)
	cases := map[string]struct {
		reason, source string
		files          repo
		at             string
	}{
		"directory": {"an object in a directory", "path: a", repo{"a/s.yaml": secret}, "spec.source: a/s.yaml: document 1 (Secret/s): "},
		"kustomize": {"one in a kustomization", "path: a", repo{"a/s.yaml": secret, "a/kustomization.yaml": "resources: [s.yaml]\n"}, "spec.source: Secret/s: "},
		"generator": {
			"a file that a Secret is made of", "path: a",
			repo{"a/x.env": encrypt("k=hunter22\n", "", decrypt.Dotenv), "a/kustomization.yaml": "secretGenerator: [{name: s, envs: [x.env]}]\n"},
			"spec.source: a/x.env: ",
		},
		"template":    {"one in a chart", "path: a", repo{"a/Chart.yaml": chartFiles["Chart.yaml"], "a/templates/s.yaml": secret}, "spec.source: web/templates/s.yaml (Secret/s): "},
		"values":      {"a file of values", "path: a\nhelm: {valueFiles: [secrets.yaml]}", chartFiles.with(repo{"secrets.yaml": values}).under("a"), `spec.source.helm.valueFiles[0]: "secrets.yaml": `},
		"fileValue":   {"a file that is one value", "path: a\nhelm: {fileParameters: [{name: greeting, path: secrets.yaml}]}", chartFiles.with(repo{"secrets.yaml": values}).under("a"), `spec.source.helm.fileParameters[0].path: "secrets.yaml": `},
		"chartValues": {"a file of values of a chart in a kustomization", "path: a", repo{"a/secrets.yaml": values, "a/kustomization.yaml": "helmCharts: [{name: web, valuesFile: secrets.yaml}]\n"}.with(chartFiles.under("a/charts/web")), "secrets.yaml: "},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			request := one(t, tt.source, tt.files)
			request.Options = options(withHelm)
			_, err := manifests.New().Render(t.Context(), request)
			failed(t, err, tt.at)
			failed(t, err, "encrypted with SOPS; set the annotation headgate.dev/decryption: sops on the Application to decrypt it")
			request.Decrypt = keys
			got, err := manifests.New().Render(t.Context(), request)
			if err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			if out := text(t, got.Objects); !strings.Contains(out, "hunter22") && !strings.Contains(out, "aHVudGVyMjI=") || strings.Contains(out, "sops:") {
				t.Errorf("%s is not decrypted:\n%s", tt.reason, out)
			}
		})
	}
}

func TestSecretsInErrors(t *testing.T) {
	owner, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := decrypt.NewKeys(map[string][]byte{"age.agekey": []byte(owner.String())})
	if err != nil {
		t.Fatal(err)
	}
	values, err := decrypttest.Encrypt([]byte("greeting: hunter22\n"), decrypt.YAML, "", owner.Recipient().String())
	if err != nil {
		t.Fatal(err)
	}
	failing := chartFiles.with(repo{"secrets.yaml": string(values), "templates/x.yaml": "{{ fail .Values.greeting }}"})
	for name, tt := range map[string]struct {
		source string
		files  repo
	}{
		"chart":        {"path: a\nhelm: {valueFiles: [secrets.yaml]}", failing.under("a")},
		"file":         {"path: a\nhelm: {fileParameters: [{name: greeting, path: secrets.yaml}]}", failing.under("a")},
		"kustomize":    {"path: a", failing.under("a/charts/web").with(repo{"a/s.yaml": string(values), "a/kustomization.yaml": "helmCharts: [{name: web, valuesFile: s.yaml}]\n"})},
		"broken chart": {"path: a\nhelm: {valueFiles: [secrets.yaml]}", failing.with(repo{"templates/x.yaml": "apiVersion: {{ .Values.greeting }}: {{ .Values.greeting }}"}).under("a")},
	} {
		t.Run(name, func(t *testing.T) {
			request := one(t, tt.source, tt.files)
			request.Options, request.Decrypt = options(withHelm), keys
			_, err := manifests.New().Render(t.Context(), request)
			if err == nil || strings.Contains(err.Error(), "hunter22") {
				t.Errorf("the error shows a secret, or there is none: %v", err)
			}
		})
	}
}
