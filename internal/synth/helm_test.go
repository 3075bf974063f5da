package synth

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	loader "helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"

	"github.com/headgate-dev/headgate/chart"
)

const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: alert
data:
  text: "{{ $labels.pod }} of {{- .Values.x -}} }} {{"
  go: |
    {{ range . }}
    {{/* a comment */}}
    {{ end }}
`

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: shops.example.dev
  annotations:
    note: "{{ kept }}"
`

// TestHelm has Helm render the chart: what it prints is what was described.
func TestHelm(t *testing.T) {
	files, err := HelmChart{Name: "shop", Version: "1.2.3"}.Files([]chart.File{
		{Path: "web.k8s.yaml", Data: []byte(definition + "---\n" + configMap + "---\n" + strings.Replace(configMap, "alert", "other", 1))},
	})
	if err != nil {
		t.Fatal(err)
	}
	var buffered []*archive.BufferedFile
	paths := map[string]string{}
	for _, f := range files {
		paths[f.Path] = string(f.Data)
		buffered = append(buffered, &archive.BufferedFile{Name: f.Path, Data: f.Data})
	}
	if paths["crds/web.k8s.yaml"] != definition {
		t.Errorf("the definition is %q", paths["crds/web.k8s.yaml"])
	}
	loaded, err := loader.LoadFiles(buffered)
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Name() != "shop" || loaded.Metadata.Version != "1.2.3" || loaded.Validate() != nil {
		t.Errorf("the chart is %s %s: %v", loaded.Name(), loaded.Metadata.Version, loaded.Validate())
	}
	rendered, err := engine.Engine{}.Render(loaded, common.Values{"Values": map[string]any{}, "Release": map[string]any{"Name": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"shop/templates/web.k8s.yaml": configMap + "---\n" + strings.Replace(configMap, "alert", "other", 1)}
	if diff := cmp.Diff(want, rendered); diff != "" {
		t.Errorf("Helm renders another text (-want +got):\n%s", diff)
	}
}

func TestHelmRefusesPackages(t *testing.T) {
	_, err := HelmChart{Name: "shop", Version: "1.2.3"}.Files([]chart.File{{Path: "shop/manifests/kustomization.yaml", Data: []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")}})
	if err == nil || !strings.Contains(err.Error(), `"shop/manifests/kustomization.yaml"`) {
		t.Errorf("error %v", err)
	}
}
