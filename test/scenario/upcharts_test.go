package scenario

import (
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestUpCharts saves files of a chart that is served: the releases of it are upgraded, those of a HelmRepository when it has another version.
func TestUpCharts(t *testing.T) {
	t.Parallel()
	repo, charts, dir := t.TempDir(), t.TempDir(), shortDir(t)
	writeFile(t, filepath.Join(repo, "root", "releases.yaml"), `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: web, namespace: default}
spec:
  interval: 1h
  url: oci://charts.example/team/web
  ref: {tag: 1.0.0}
  layerSelector: {mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip, operation: copy}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: team, namespace: default}
spec: {type: oci, url: "oci://charts.example/team"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: artifact, namespace: default}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: web}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: repository, namespace: default}
spec: {interval: 1h, chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: team}}}}
`)
	writeFile(t, filepath.Join(repo, "root", "units.yaml"), "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: none, namespace: flux-system}\n"+
		"spec: {interval: 1h, path: ./none, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n")
	writeFile(t, filepath.Join(repo, "none", "c.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: none, namespace: default}\n")
	writeFile(t, filepath.Join(charts, "web", "Chart.yaml"), "apiVersion: v2\nname: web\nversion: 1.0.0\n")
	template := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}-web\"}\ndata: {v: COLOUR}\n"
	writeFile(t, filepath.Join(charts, "web", "templates", "c.yaml"), strings.Replace(template, "COLOUR", "blue", 1))
	p := run(t, "up", repo, "--path", "root", "--ephemeral", "--state-dir", dir, "--serve-charts", "oci://charts.example/team="+charts)
	p.says("✓ ready")
	writeFile(t, filepath.Join(charts, "web", "templates", "c.yaml"), strings.Replace(template, "COLOUR", "green", 1))
	client := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
	green := func(name string) {
		t.Helper()
		eventually(t, "ConfigMap "+name+" is green", func() (bool, string) {
			cm, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			return cm.Data["v"] == "green", p.output.String()
		})
	}
	green("artifact-web")
	writeFile(t, filepath.Join(charts, "web", "Chart.yaml"), "apiVersion: v2\nname: web\nversion: 1.1.0\n")
	green("repository-web")
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
