package scenario

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSimulateLacks boots repositories each of which lacks one thing: it is created, by name in the report, and what failed for want of it is
// tried again at once.
func TestSimulateLacks(t *testing.T) {
	t.Parallel()
	unit := func(more string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app, namespace: flux-system}\n" +
			"spec: {interval: 1h, path: ./app, prune: true, wait: true, sourceRef: {kind: GitRepository, name: flux-system}" + more + "}\n"
	}
	const values = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: default}
spec:
  interval: 1h
  chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}
  valuesFrom: [{kind: ConfigMap, name: app-values}]
`
	const rollout = "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: r}\nspec: {replicas: 1}\n"
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: dns, namespace: default}\nspec: {clusterIP: 10.43.0.10, ports: [{port: 53}]}\n"
	application := strings.Replace(appOf("app", "app", ""), "{prune: true}}", "{prune: true}, retry: {limit: 5, backoff: {duration: 1h, factor: 2, maxDuration: 2h}}}", 1)
	const release = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: default}
spec: {interval: 1h, timeout: 40s, MORE, chart: {spec: {chart: CHART, version: 1.0.0, sourceRef: SOURCE}}}
`
	inRepository := strings.NewReplacer("CHART", "./chart", "SOURCE", "{kind: GitRepository, name: flux-system, namespace: flux-system}")
	elsewhere := strings.NewReplacer("CHART", "app", "SOURCE", "{kind: HelmRepository, name: r}", "default", "strict", "MORE", "suspend: false")
	const chart, config = "apiVersion: v2\nname: app\nversion: 1.0.0\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
	const strict = `apiVersion: v1
kind: Namespace
metadata: {name: strict, labels: {pod-security.kubernetes.io/enforce: restricted}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: r, namespace: strict}
spec: {interval: 1h, url: "https://charts.nowhere.invalid"}
---
`
	const test = `apiVersion: v1
kind: Pod
metadata: {name: t, annotations: {"helm.sh/hook": test}}
spec: {restartPolicy: Never, containers: [{name: c, image: "t:1"}]}
`
	const claim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {storageClassName: some-csi, volumeName: made-elsewhere, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: default}
spec:
  selector: {matchLabels: {app: d}}
  template: {metadata: {labels: {app: d}}, spec: {containers: [{name: c, image: "i:1"}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}
`
	const gateway = `apiVersion: v1
kind: Service
metadata: {name: s, namespace: default}
spec:
  type: LoadBalancer
  loadBalancerIP: ${LB_IP}
  loadBalancerSourceRanges: ["${HOME_CIDR}"]
  ports:
    - port: 80
      nodePort: ${NODE_PORT}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: "${DATA_SIZE}"}}}
`
	for name, c := range map[string]struct {
		reason string
		files  map[string]string
		want   string
	}{
		"variables": {"a ConfigMap that variables are read from", map[string]string{
			"root/ks.yaml": unit(", postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}"),
			"app/c.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: default}\ndata: {a: \"${A}\"}\n",
		}, "ConfigMap ConfigMap/flux-system/settings"},
		"values": {"a ConfigMap that values are read from", map[string]string{
			"root/hr.yaml": values, "chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "chart/templates/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
		}, "ConfigMap ConfigMap/default/app-values"},
		"range": {"a Service names an address of another range", map[string]string{"root/ks.yaml": unit(""), "app/s.yaml": service}, "Object ServiceCIDR/simulated-10-43-0-0"},
		"range of Applications": {"the same, and the next attempt of the sync is far away", map[string]string{
			"root.yaml": application, "app/s.yaml": service,
		}, "Object ServiceCIDR/simulated-10-43-0-0"},
		"shapes": {"variables that stand for an address, a range, a port and a quantity", map[string]string{
			"root/ks.yaml": unit(", postBuild: {substituteFrom: [{kind: Secret, name: settings}]}"), "app/s.yaml": gateway,
		}, "Secret Secret/flux-system/settings"},
		"namespace": {"a namespace that is made elsewhere", map[string]string{
			"root/ks.yaml": unit(""), "app/c.yaml": strings.Replace(config, "name: x", "name: x, namespace: elsewhere", 1),
		}, "Object Namespace/elsewhere"},
		"namespace of a release": {"one in which a release is installed", map[string]string{
			"root/hr.yaml": inRepository.Replace(strings.Replace(release, "MORE", "targetNamespace: elsewhere", 1)), "chart/Chart.yaml": chart, "chart/templates/c.yaml": config,
		}, "Object Namespace/elsewhere"},
		"namespace of Applications": {"one into which an Application is synced", map[string]string{
			"root.yaml": strings.Replace(application, "namespace: default", "namespace: elsewhere", 1), "app/c.yaml": config,
		}, "Object Namespace/elsewhere"},
		"policy": {"the pods of a chart that stands in are permitted by every policy", map[string]string{
			"root/all.yaml": strict + elsewhere.Replace(release),
		}, "Chart app 1.0.0 of HelmChart/strict/strict-app"},
		"volume": {"a volume by its name", map[string]string{"root/ks.yaml": unit(""), "app/c.yaml": claim}, "Object PersistentVolume/made-elsewhere"},
		"test": {"nothing: a pod that is not restarted ends", map[string]string{
			"root/hr.yaml": inRepository.Replace(strings.Replace(release, "MORE", "test: {enable: true}", 1)), "chart/Chart.yaml": chart, "chart/templates/t.yaml": test,
		}, ""},
		"hook of Applications": {"nothing: so it is with hooks", map[string]string{
			"root.yaml": application, "app/c.yaml": config, "app/t.yaml": strings.Replace(test, `"helm.sh/hook": test`, "argocd.argoproj.io/hook: PostSync", 1),
		}, ""},
		"kind": {"a kind in a group of which others are served, and the next attempt of the sync is far away", map[string]string{
			"root.yaml": application, "app/r.yaml": rollout,
		}, "CustomResourceDefinition rollouts.argoproj.io"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, report, root := t.TempDir(), filepath.Join(t.TempDir(), "report.json"), "root"
			for name, text := range c.files {
				writeFile(t, filepath.Join(repo, name), text)
				if name == "root.yaml" {
					root = name
				}
			}
			p := run(t, "up", repo, "--path", root, "--state-dir", shortDir(t), "--ephemeral", "--exit-when-ready", "--simulate", "--report", report)
			<-p.ended
			_, stands := readReport(t, report)
			if code := p.cmd.ProcessState.ExitCode(); code != 0 || c.want != "" && !slices.Contains(stands, c.want) {
				t.Errorf("%s: exit code %d, with %q:\n%s", c.reason, code, stands, p.output)
			}
		})
	}
}
