package scenario

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/render/decrypt/decrypttest"
)

// tenants is the root of a cluster that is closed down: the units of namespace team are a tenant's.
const tenants = `apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: tenant, namespace: team}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects: [{kind: ServiceAccount, name: tenant, namespace: team}]
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: repo, namespace: team}
spec: {url: "https://git.example/tenants.git", interval: 1h, ref: {branch: main}}
`

const tenantUnit = `---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: team, labels: {shard: %[3]q}}
spec: {interval: 1h, path: ./%[1]s, prune: true, sourceRef: {kind: GitRepository, %[2]s}}
`

const tenantAlert = `apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {name: told, namespace: team}
spec: {type: generic, address: %q}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: told, namespace: team}
spec:
  providerRef: {name: told}
  eventSources: [{kind: Kustomization, name: "*"}, {kind: Kustomization, name: "*", namespace: flux-system}]
`

// tenantIsTold looks whether a tenant hears of its own units and of no others.
func tenantIsTold(t *testing.T, told *sink, client kubernetes.Interface) {
	t.Helper()
	for _, unit := range []string{"intruder", "own"} {
		pattern := regexp.MustCompile(`"kind":"Kustomization","namespace":"team","name":"` + unit + `"`)
		eventually(t, "the tenant is told of "+unit, func() (bool, string) {
			return told.matching(pattern) > 0, strings.Join(told.received(), "\n")
		})
	}
	if told.matching(regexp.MustCompile(`"namespace":"flux-system"`)) > 0 {
		t.Errorf("the tenant is told of what is in another namespace:\n%s", strings.Join(told.received(), "\n"))
	}
	eventually(t, "the tenant's Alert is warned", func() (bool, string) {
		list, err := client.CoreV1().Events("team").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=Alert"})
		if err != nil || len(list.Items) == 0 {
			return false, fmt.Sprint(err)
		}
		var texts []string
		for i := range list.Items {
			texts = append(texts, list.Items[i].Reason+": "+list.Items[i].Message)
		}
		return slices.ContainsFunc(texts, func(text string) bool {
			return strings.HasPrefix(text, "AccessDenied: spec.eventSources[1].namespace: ")
		}), strings.Join(texts, "\n")
	})
}

// TestClosedDown boots a repository with the flags that lock a cluster down for tenants, and checks
// its metrics.
func TestClosedDown(t *testing.T) {
	t.Parallel()
	repo, dir := t.TempDir(), shortDir(t)
	config := func(name, namespace string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {k: v}\n", name, namespace)
	}
	told := startSink()
	t.Cleanup(told.Close)
	writeFile(t, filepath.Join(repo, "cluster", "alert.yaml"), fmt.Sprintf(tenantAlert, told.URL))
	writeFile(t, filepath.Join(repo, "cluster", "team.yaml"), tenants+
		strings.Replace(fmt.Sprintf(tenantUnit, "own", "name: repo", ""), "spec: {", "spec: {decryption: {provider: sops}, ", 1)+
		fmt.Sprintf(tenantUnit, "intruder", "name: repo", "")+
		fmt.Sprintf(tenantUnit, "foreign", "name: flux-system, namespace: flux-system", "")+
		fmt.Sprintf(tenantUnit, "remote", "name: repo", "")+
		fmt.Sprintf(tenantUnit, "sharded", "name: repo", "other")+
		strings.Replace(fmt.Sprintf(tenantUnit, "after", "name: repo", ""), "spec: {", "spec: {dependsOn: [{name: sharded}], ", 1))
	writeFile(t, filepath.Join(repo, "cluster", "receivers.yaml"), tenantReceivers)
	writeFile(t, filepath.Join(repo, "after", "x.yaml"), config("after", "team"))
	keyFile := sealed(t, filepath.Join(repo, "own", "sealed.yaml"), config("sealed", "team"))
	writeFile(t, filepath.Join(repo, "own", "x.yaml"), config("own", "team"))
	writeFile(t, filepath.Join(repo, "sharded", "x.yaml"), config("sharded", "team"))
	writeFile(t, filepath.Join(repo, "foreign", "x.yaml"), config("foreign", "team"))
	writeFile(t, filepath.Join(repo, "intruder", "x.yaml"), config("intruder", "default"))
	writeFile(t, filepath.Join(repo, "remote", "kustomization.yaml"),
		"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [\"https://127.0.0.1:1/base?ref=main\"]\n")
	if out, err := exec.Command("git", "-C", repo, "init", "-q", "-b", "main").CombinedOutput(); err != nil {
		t.Fatalf("git: %v: %s", err, out)
	}
	if out, err := exec.Command("git", "-C", repo, "remote", "add", "origin", "https://git.example/tenants.git").CombinedOutput(); err != nil {
		t.Fatalf("git: %v: %s", err, out)
	}

	mirror, err := kit.StartRegistry()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mirror.Stop(context.WithoutCancel(t.Context())) })
	if err := mirror.Push(t.Context(), "app:latest", map[string][]byte{"x.yaml": []byte(config("mirrored", "team"))}, nil); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(repo, "cluster", "mirrored.yaml"),
		strings.TrimPrefix(strings.NewReplacer("GitRepository", "OCIRepository", "./mirrored", "./").Replace(fmt.Sprintf(tenantUnit, "mirrored", "name: app", "")), "---\n")+
			"---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: app, namespace: team}\n"+
			"spec: {url: \"oci://registry.example/team/app\", interval: 1h, insecure: true}\n")

	p := run(t, "up", repo, "--path", "cluster", "--ephemeral", "--state-dir", dir,
		"--default-service-account", "tenant", "--no-cross-namespace-refs", "--no-remote-bases",
		"--rewrite", "oci://registry.example/team/=oci://"+mirror.Host+"/", "--age-key-file", keyFile, "--sops-age-secret", "sops-age", "--watch-label-selector", "shard!=other", "--metrics-addr", "127.0.0.1:0",
		"--receiver-addr", "127.0.0.1:0")
	kubeconfig := filepath.Join(dir, "ephemeral", "kubeconfig")
	client := clientOf(t, kubeconfig)
	rest, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	dyn, err := dynamic.NewForConfig(rest)
	if err != nil {
		t.Fatal(err)
	}
	units := dyn.Resource(schemaGVR{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}).Namespace("team")
	for name, want := range map[string]string{
		"mirrored": `^True ReconciliationSucceeded: Applied revision: latest@sha256:`,
		"own":      `^True ReconciliationSucceeded: `,
		"intruder": `^False ReconciliationFailed: .*ConfigMap/default/intruder: .*User "system:serviceaccount:team:tenant" cannot patch`,
		"foreign":  `^False AccessDenied: spec.sourceRef: GitRepository/flux-system/flux-system is in another namespace`,
		"remote":   `^False BuildFailed: .*remote bases are not allowed: "https://127.0.0.1:1/base\?ref=main`,
	} {
		eventually(t, name+" is "+want, func() (bool, string) {
			u, err := units.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			status, text := conditionOf(u, "Ready")
			return regexp.MustCompile(want).MatchString(status + " " + text), status + " " + text
		})
	}
	if u, err := units.Get(t.Context(), "foreign", metav1.GetOptions{}); err != nil {
		t.Error(err)
	} else if status, text := conditionOf(u, "Stalled"); status != "True" {
		t.Errorf("a unit that is denied is not stalled: %s %s", status, text)
	}
	if got := configMaps(t, client, "team"); got["own"] != "v" || got["sealed"] != "v" || got["foreign"] != "" || got["sharded"] != "" {
		t.Errorf("the namespace of the tenant has %v", got)
	}
	if u, err := units.Get(t.Context(), "sharded", metav1.GetOptions{}); err != nil || u.Object["status"] != nil && len(u.GetFinalizers()) > 0 {
		t.Errorf("a unit of another shard is served: %v, error %v", u.Object["status"], err)
	}
	tenantIsTold(t, told, client)
	metricsOf(t, p)
	receiversOf(t, p, dyn)
	// The engine of the other shard says that its unit is ready.
	_, err = units.Patch(t.Context(), "sharded", types.MergePatchType,
		[]byte(`{"status":{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True","reason":"Ok","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`),
		metav1.PatchOptions{}, "status")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a unit goes on after one of another shard", func() (bool, string) {
		got := configMaps(t, client, "team")
		return got["after"] == "v", fmt.Sprint(got)
	})
	if code := p.interrupt(); code != 0 {
		t.Errorf("the process ended with %d", code)
	}
}

// sealed writes a manifest encrypted, and its key to a file.
func sealed(t *testing.T, name, manifest string) (keyFile string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	data, err := decrypttest.Encrypt([]byte(manifest), decrypt.YAML, "^data$", identity.Recipient().String())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, string(data))
	keyFile = filepath.Join(t.TempDir(), "key")
	writeFile(t, keyFile, identity.String())
	return keyFile
}

// metricsOf reads the metrics of the process that serves the tenants.
func metricsOf(t *testing.T, p *process) {
	t.Helper()
	address := regexp.MustCompile(`http://\S+/metrics`).FindString(p.output.String())
	get := func(url string) string {
		t.Helper()
		answer, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d, error %v", url, answer.StatusCode, err)
		}
		return string(body)
	}
	for _, want := range []string{
		`gotk_resource_info\{customresource_group="kustomize.toolkit.fluxcd.io",customresource_kind="Kustomization",customresource_version="v1",exported_namespace="team",name="own",ready="True",revision="main@sha1:[0-9a-f]+",source_name="repo",suspended="false",url=""\} 1`,
		`gotk_resource_info\{.*name="foreign",ready="False"`,
		`gotk_resource_info\{.*customresource_kind="GitRepository".*name="repo",ready="True".*url="https://git.example/tenants.git"\} 1`,
		`gotk_reconcile_duration_seconds_count\{kind="Kustomization",name="own",namespace="team"\} [1-9]`,
		`controller_runtime_reconcile_total\{controller="kustomization",result="error"\} [1-9]`,
		`headgate_units\{phase="Ready"\} [1-9]`,
		`headgate_notifications_total\{outcome="delivered",provider="generic"\} [1-9]`,
		`headgate_unit_waiting_seconds\{kind="Kustomization",name="intruder",namespace="team",phase="Failed"\}`,
	} {
		pattern := regexp.MustCompile(`(?m)^` + want)
		// A unit that failed is attempted again, and waits in another phase meanwhile.
		eventually(t, "the metrics have "+want, func() (bool, string) {
			text := get(address)
			return pattern.MatchString(text), text
		})
	}
	base := strings.TrimSuffix(address, "/metrics")
	if got := get(base+"/readyz") + get(base+"/healthz"); got != "ok\nok\n" {
		t.Errorf("the process says %q", got)
	}
}
