package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/render/decrypt/decrypttest"
)

// simulatedUnits are units each of which needs something that is not there.
const simulatedUnits = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: external, namespace: flux-system}
spec: {interval: 1h, path: ./external, prune: true, wait: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: reader, namespace: flux-system}
spec:
  interval: 1h
  path: ./reader
  prune: true
  dependsOn: [{name: external}]
  postBuild: {substituteFrom: [{kind: Secret, name: creds}]}
  sourceRef: {kind: GitRepository, name: flux-system}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: encrypted, namespace: flux-system}
spec:
  interval: 1h
  path: ./encrypted
  prune: true
  decryption: {provider: sops, secretRef: {name: nobody-has-it}}
  sourceRef: {kind: GitRepository, name: flux-system}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: things, namespace: flux-system}
spec:
  interval: 1h
  path: ./things
  prune: true
  wait: true
  healthCheckExprs: [{apiVersion: example.com/v1, kind: Thingy, current: "status.phase == 'Working'"}]
  sourceRef: {kind: GitRepository, name: flux-system}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: definition, namespace: flux-system}
spec:
  interval: 1h
  path: ./definition
  prune: true
  dependsOn: [{name: things}]
  sourceRef: {kind: GitRepository, name: flux-system}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: remote, namespace: flux-system}
spec: {interval: 1h, path: ./remote, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: app, namespace: default}
spec:
  interval: 1h
  url: oci://registry.invalid/charts/app
  ref: {tag: 1.2.3}
  layerSelector: {mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip, operation: copy}
  secretRef: {name: registry-login}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: default}
spec:
  interval: 1h
  chartRef: {kind: OCIRepository, name: app}
  valuesFrom: [{kind: Secret, name: app-values}, {kind: Secret, name: app-values, valuesKey: token, targetPath: auth.token}]
  postRenderers:
  - kustomize:
      patches:
      - target: {kind: Deployment, name: app}
        patch: "- {op: replace, path: /spec/template/spec/volumes/2, value: {name: real}}"
      - target: {kind: Deployment, name: app}
        patch: |
          apiVersion: apps/v1
          kind: Deployment
          metadata: {name: app, annotations: {patched: "yes"}}
          spec: {template: {spec: {containers: [{name: real, volumeMounts: [{name: config, mountPath: /config}]}]}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: monitored, namespace: default}
spec:
  interval: 1h
  chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: variables, namespace: flux-system}
spec:
  interval: 1h
  path: ./variables
  prune: true
  postBuild: {substituteFrom: [{kind: Secret, name: nobody-makes-it}]}
  sourceRef: {kind: GitRepository, name: flux-system}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: places, namespace: flux-system}
spec: {interval: 1h, path: ./places, prune: true, wait: true, timeout: 2m, sourceRef: {kind: GitRepository, name: flux-system}}
`

// talosConfig sets a feature gate of the API server, and gatedObject is one that is refused without it.
const (
	talosConfig = `clusterName: home
patches:
  - |-
    cluster:
      apiServer:
        extraArgs: {feature-gates: "HPAScaleToZero=true,NoSuchGate=true"}
`
	gatedObject = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: to-zero, namespace: default}
spec:
  minReplicas: 0
  maxReplicas: 2
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: apart}
  metrics: [{type: External, external: {metric: {name: queue}, target: {type: Value, value: "1"}}}]
`
)

// simulatedFiles are what the units apply. The plural of the kind is one that cannot be guessed.
var simulatedFiles = map[string]string{
	"external/es.yaml": `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: creds, namespace: flux-system}
spec: {secretStoreRef: {kind: ClusterSecretStore, name: vault}, data: [{secretKey: password, remoteRef: {key: x}}]}
`,
	"reader/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: reader, namespace: default}\ndata: {v: \"${password}\"}\n",
	"things/thing.yaml": `apiVersion: example.com/v1
kind: Thingy
metadata: {name: one, namespace: default}
spec: {size: 3}
`,
	"definition/crd.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: thingamajigs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thingy, plural: thingamajigs, singular: thingy}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {size: {type: integer}}}
            status: {type: object, properties: {phase: {type: string}}}
`,
	"variables/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: variables, namespace: default}\ndata: {v: \"${FIRST} ${SECOND}\"}\n",
	"variables/unwaited.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: unwaited, namespace: default}
spec:
  selector: {matchLabels: {app: unwaited}}
  template:
    metadata: {labels: {app: unwaited}}
    spec: {containers: [{name: c, image: i, env: [{name: X, valueFrom: {secretKeyRef: {name: unwaited-secret, key: x}}}]}]}
`,
	"chart/Chart.yaml": "apiVersion: v2\nname: monitored\nversion: 1.0.0\n",
	"chart/templates/x.yaml": `apiVersion: monitors.example.org/v1
kind: Monitor
metadata: {name: monitored}
spec: {every: 1m}
`,
	"places/workloads.yaml": `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: stored, namespace: default}
spec:
  serviceName: stored
  selector: {matchLabels: {app: stored}}
  template:
    metadata: {labels: {app: stored}}
    spec:
      nodeSelector: {example.com/role: storage}
      containers: [{name: c, image: i, env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: pod-secret, key: password}}}]}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], storageClassName: nobody-makes-it, resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: apart, namespace: default}
spec:
  replicas: 5
  selector: {matchLabels: {app: apart}}
  template:
    metadata: {labels: {app: apart}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: apart}}}]
      containers: [{name: c, image: i}]
`,
	"remote/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [\"https://registry.invalid/all.yaml\", own.yaml]\n",
	"remote/own.yaml":           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own, namespace: default}\ndata: {k: own}\n",
}

func writeSimulated(t *testing.T) string {
	t.Helper()
	repo := t.TempDir()
	writeFile(t, filepath.Join(repo, "cluster", "units.yaml"), simulatedUnits)
	for name, text := range simulatedFiles {
		writeFile(t, filepath.Join(repo, name), text)
	}
	writeEncrypted(t, filepath.Join(repo, "encrypted", "secret.yaml"))
	return repo
}

// writeEncrypted writes a Secret without a known key.
func writeEncrypted(t *testing.T, name string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	plain := "apiVersion: v1\nkind: Secret\nmetadata: {name: encrypted, namespace: default}\nstringData: {token: hunter2}\n"
	data, err := decrypttest.Encrypt([]byte(plain), decrypt.YAML, "^(data|stringData)$", identity.Recipient().String())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, string(data))
}

// TestSimulate boots a repository that needs what does not exist: stand-ins appear when nothing else can move,
// and the real definition of a kind takes the place of its stub, whatever that had guessed.
func TestSimulate(t *testing.T) {
	t.Parallel()
	repo, dir := writeSimulated(t), shortDir(t)
	writeFile(t, filepath.Join(repo, "talos", "talconfig.yaml"), talosConfig)
	writeFile(t, filepath.Join(repo, "variables", "hpa.yaml"), gatedObject)
	report := filepath.Join(t.TempDir(), "report.json")
	p := run(t, "up", repo, "--path", "cluster", "--state-dir", dir, "--ephemeral", "--simulate", "--report", report,
		"--kubernetes-feature-gates", "HPAScaleToZero=true")
	p.saysWithin(3*patience, "✓ ready")
	client := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
	cm, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "reader", metav1.GetOptions{})
	if err != nil || cm.Data["v"] != "simulated-password" {
		t.Errorf("the ConfigMap has %v: %v", cm.Data, err)
	}
	secret, err := client.CoreV1().Secrets("default").Get(t.Context(), "encrypted", metav1.GetOptions{})
	if err != nil || string(secret.Data["token"]) != "simulated-token" || secret.Labels["headgate.dev/simulated"] != "values" {
		t.Errorf("the encrypted Secret is %v: %v", secret.Data, err)
	}
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "own", metav1.GetOptions{}); err != nil {
		t.Errorf("what is beside a remote base: %v", err)
	}
	if _, err := client.AutoscalingV2().HorizontalPodAutoscalers("default").Get(t.Context(), "to-zero", metav1.GetOptions{}); err != nil {
		t.Errorf("what needs a feature gate: %v", err)
	}
	if text := p.output.String(); strings.Contains(text, "feature gates") {
		t.Errorf("a gate is suggested that is set:\n%s", text)
	}
	checkSimulatedSecrets(t, client)
	checkSimulatedPlaces(t, client)
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "ephemeral", "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the object is one of the real kind", func() (bool, string) {
		u, err := objects.Resource(schemaGVR{Group: "example.com", Version: "v1", Resource: "thingamajigs"}).Namespace("default").
			Get(t.Context(), "one", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return fmt.Sprint(u.Object["spec"]) == "map[size:3]", fmt.Sprint(u.Object)
	})
	eventually(t, "the owner is ready again", func() (bool, string) {
		u, err := objects.Resource(schemaGVR{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}).
			Namespace("flux-system").Get(context.WithoutCancel(t.Context()), "things", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		status := fmt.Sprint(u.Object["status"])
		return strings.Contains(status, "reason:ReconciliationSucceeded status:True type:Ready"), status
	})
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	checkReport(t, report)
}

// checkSimulatedSecrets demands the Secrets that nothing creates, and what is made with them.
func checkSimulatedSecrets(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	cm, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "variables", metav1.GetOptions{})
	if err != nil || cm.Data["v"] != "simulated-first simulated-second" {
		t.Errorf("with variables of nobody's the ConfigMap has %v: %v", cm.Data, err)
	}
	for name, want := range map[string]map[string]string{
		"flux-system/nobody-makes-it": {"FIRST": "simulated-first", "SECOND": "simulated-second", "simulated": "simulated"},
		"default/app-values":          {"values.yaml": "{}\n", "token": "simulated-token"},
		"default/registry-login":      {}, "default/pod-secret": {"password": "simulated-password"},
		"default/unwaited-secret": {"x": "simulated-x"},
	} {
		namespace, name, _ := strings.Cut(name, "/")
		secret, err := client.CoreV1().Secrets(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Error(err)
			continue
		}
		got := map[string]string{}
		for key, value := range secret.Data {
			got[key] = string(value)
		}
		if diff := cmp.Diff(want, got); diff != "" || secret.Labels["headgate.dev/simulated"] != "secret" {
			t.Errorf("Secret %s has labels %v (-want +got):\n%s", name, secret.Labels, diff)
		}
	}
	app, err := client.AppsV1().Deployments("default").Get(t.Context(), "app", metav1.GetOptions{})
	if err != nil || app.Annotations["patched"] != "yes" || len(app.Spec.Template.Spec.Volumes) != 1 || app.Spec.Template.Spec.Volumes[0].Name != "config" {
		t.Errorf("the patched stand-in of a chart is %+v: %v", app.Spec.Template.Spec, err)
	}
}

// checkSimulatedPlaces demands that every pod has its place.
func checkSimulatedPlaces(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	stored, err := client.CoreV1().Pods("default").Get(t.Context(), "stored-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node, err := client.CoreV1().Nodes().Get(t.Context(), stored.Spec.NodeName, metav1.GetOptions{})
	if err != nil || node.Labels["example.com/role"] != "storage" || node.Labels["headgate.dev/simulated"] != "true" {
		t.Errorf("the pod with a selector is on node %q: %v", stored.Spec.NodeName, err)
	}
	apart, err := client.AppsV1().Deployments("default").Get(t.Context(), "apart", metav1.GetOptions{})
	if err != nil || apart.Status.ReadyReplicas != 5 {
		t.Errorf("of five pods that are to be apart %d are ready: %v", apart.Status.ReadyReplicas, err)
	}
}

// TestSimulateReport has the report report what is not real also when the boot ends otherwise than ready.
func TestSimulateReport(t *testing.T) {
	t.Parallel()
	repo, report := t.TempDir(), filepath.Join(t.TempDir(), "report.json")
	writeFile(t, filepath.Join(repo, "cluster", "units.yaml"), strings.Replace(simulatedUnits, "path: ./remote", "path: ./missing", 1))
	for name, text := range simulatedFiles {
		writeFile(t, filepath.Join(repo, name), text)
	}
	writeEncrypted(t, filepath.Join(repo, "encrypted", "secret.yaml"))
	p := run(t, "up", repo, "--path", "cluster", "--state-dir", shortDir(t), "--ephemeral", "--exit-when-ready", "--simulate", "--report", report)
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(p.output.String(), "Kustomization/flux-system/remote failed") {
		t.Fatalf("exit code %d:\n%s", code, p.output)
	}
	_, stands := readReport(t, report)
	for _, want := range []string{"Chart app 1.2.3", "Secret Secret/flux-system/creds", "Status Thingy/default/one"} {
		if !slices.ContainsFunc(stands, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%q is not among %q", want, stands)
		}
	}
}

// TestSimulateOrder takes a dependency away: the definition comes first then, the objects wait for it, and
// nothing stands in for it.
func TestSimulateOrder(t *testing.T) {
	t.Parallel()
	repo, report := writeSimulated(t), filepath.Join(t.TempDir(), "report.json")
	freed := strings.Replace(simulatedUnits, "  dependsOn: [{name: things}]\n", "", 1)
	writeFile(t, filepath.Join(repo, "cluster", "units.yaml"), freed)
	p := run(t, "up", repo, "--path", "cluster", "--state-dir", shortDir(t), "--ephemeral", "--exit-when-ready", "--simulate", "--report", report)
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, p.output)
	}
	order, stands := readReport(t, report)
	if slices.Index(order, "definition") > slices.Index(order, "things") {
		t.Errorf("the order is %v", order)
	}
	for _, one := range stands {
		if strings.HasPrefix(one, "CustomResourceDefinition") && strings.Contains(one, "example.com") {
			t.Errorf("%s stands in for what came by itself", one)
		}
	}
}

// readReport reads the order and the stand-ins out of a report.
func readReport(t *testing.T, file string) (order, stands []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Units     []struct{ Unit string }
		Simulated []struct{ What, Name string }
	}
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	for _, u := range report.Units {
		order = append(order, strings.TrimPrefix(u.Unit, "Kustomization/flux-system/"))
	}
	for _, s := range report.Simulated {
		stands = append(stands, s.What+" "+s.Name)
	}
	return order, stands
}

// checkReport demands what TestSimulate has to tell.
func checkReport(t *testing.T, file string) {
	t.Helper()
	order, stands := readReport(t, file)
	for _, pair := range [][2]string{{"external", "reader"}, {"things", "definition"}, {"flux-system", "external"}} {
		if slices.Index(order, pair[0]) > slices.Index(order, pair[1]) {
			t.Errorf("%s opened after %s: %v", pair[0], pair[1], order)
		}
	}
	for _, want := range []string{
		"Chart app 1.2.3 of OCIRepository/default/app", "CustomResourceDefinition externalsecrets.external-secrets.io",
		"Secret Secret/flux-system/nobody-makes-it", "Secret Secret/default/app-values", "Secret Secret/default/registry-login", "Secret Secret/default/pod-secret",
		"Secret Secret/default/unwaited-secret",
		"Patch spec.postRenderers of HelmRelease/default/app: patches[0] for Deployment", "CustomResourceDefinition monitors.monitors.example.org",
		"Object StorageClass/nobody-makes-it", "Object Node/simulated-",
		"Secret Secret/flux-system/creds", "Remote https://registry.invalid/all.yaml", "Status Thingy/default/one",
	} {
		if !slices.ContainsFunc(stands, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%q is not among %q", want, stands)
		}
	}
	if slices.ContainsFunc(stands, func(s string) bool { return strings.Contains(s, "thing") && strings.HasPrefix(s, "Custom") }) {
		t.Errorf("a stub is told that something real has replaced: %q", stands)
	}
	table, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".md")
	if err != nil || !strings.Contains(string(table), "| Kustomization/flux-system/reader |") {
		t.Errorf("the table is %s: %v", table, err)
	}
}

// TestSimulateRefuses creates no stand-in on a real cluster, nor one that was not requested.
func TestSimulateRefuses(t *testing.T) {
	t.Parallel()
	repo := writeSimulated(t)
	writeFile(t, filepath.Join(repo, "talos", "talconfig.yaml"), talosConfig)
	p := run(t, "up", repo, "--path", "cluster", "--simulate", "--kubeconfig", "/nonexistent")
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code == 0 || !strings.Contains(p.output.String(), "not on that of --kubeconfig") {
		t.Errorf("exit code %d: %s", code, p.output)
	}
	p = run(t, "up", repo, "--path", "cluster", "--state-dir", shortDir(t), "--ephemeral", "--exit-when-ready", "--simulate=crds,health")
	<-p.ended
	text := p.output.String()
	for _, want := range []string{
		"talos/talconfig.yaml sets HPAScaleToZero=true for the API server of its cluster; to set it here: --kubernetes-feature-gates HPAScaleToZero=true",
		"Kustomization/flux-system/encrypted failed", "HelmRelease/default/app waits for its source",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if p.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("exit code %d", p.cmd.ProcessState.ExitCode())
	}
}
