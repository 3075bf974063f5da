package scenario

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// firstStart is a repository whose units begin at once with kinds that have no units: as objects of a Kustomization, in a chart that
// asks which kinds there are, and in an Application, also by such a chart. Some of them have no namespace.
var firstStart = map[string]string{
	"clusters/units.yaml": `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: objects, namespace: flux-system}
spec: {interval: 1h, path: ./objects, prune: true, wait: true, targetNamespace: default, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: released, namespace: default}
spec:
  interval: 1h
  install: {remediation: {retries: 0}}
  chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: applications, namespace: flux-system}
spec: {interval: 1h, path: ./applications, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`,
	"applications/all.yaml": appOf("files", "files", "") + "---\n" + appOf("chart", "chart", ""),
	"objects/workflow.yaml": `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: applied}
spec: {workflowTemplateRef: {name: applied, clusterScope: true}}
---
apiVersion: argoproj.io/v1alpha1
kind: ClusterWorkflowTemplate
metadata: {name: applied}
spec:
  entrypoint: main
  templates:
  - name: main
    resource: {action: create, manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: made}}"}
`,
	"objects/managed.yaml": `apiVersion: kubernetes.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {name: default}
spec: {credentials: {source: InjectedIdentity}}
---
apiVersion: kubernetes.crossplane.io/v1alpha1
kind: Object
metadata: {name: managed}
spec: {forProvider: {manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: managed, namespace: default}}}}
`,
	"objects/access.yaml": `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: workflows}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects: [{kind: ServiceAccount, name: default, namespace: default}]
`,
	"chart/Chart.yaml": "apiVersion: v2\nname: steps\nversion: 1.0.0\n",
	"chart/templates/steps.yaml": `{{ if .Capabilities.APIVersions.Has "argoproj.io/v1alpha1/WorkflowTemplate" }}
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: "{{ .Release.Name }}"}
spec: {templates: [{name: main, suspend: {}}]}
{{ end }}
`,
	"files/schedule.yaml": `apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata: {name: nightly}
spec: {suspend: true, schedules: ["0 0 * * *"], workflowSpec: {entrypoint: main, templates: [{name: main, suspend: {}}]}}
---
apiVersion: build.headgate.dev/v1alpha1
kind: Build
metadata: {name: paused}
spec:
  suspend: true
  workflow: {entrypoint: main, templates: [{name: main, suspend: {}}]}
`,
}

// TestFirstStart has everything come about that needs a kind whose definition is installed while units move already: nothing fails
// over it, nothing says so, and when all is ready every kind is served.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	repo, state := t.TempDir(), shortDir(t)
	for name, text := range firstStart {
		writeFile(t, filepath.Join(repo, name), text)
	}
	script := `git init -q -b main . && git remote add origin https://git.invalid/fleet.git && git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q -m all`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = repo
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := run(t, "up", repo, "--path", "clusters", "--ephemeral", "--state-dir", state)
	p.says("✓ ready")
	for _, word := range []string{"✗", "not served", "could not find", "no matches for kind", "not arrived", "OutOfSync"} {
		if text := p.output.String(); strings.Contains(text, word) {
			t.Errorf("a person reads %q:\n%s", word, text)
		}
	}
	client, err := dynamic.NewForConfig(configOf(t, filepath.Join(state, "ephemeral", "kubeconfig")))
	if err != nil {
		t.Fatal(err)
	}
	argo := schema.GroupVersion{Group: "argoproj.io", Version: "v1alpha1"}
	for resource, names := range map[schema.GroupVersionResource][]string{
		argo.WithResource("workflowtemplates"):                                 {"released", "chart"},
		argo.WithResource("cronworkflows"):                                     {"nightly"},
		{Group: "build.headgate.dev", Version: "v1alpha1", Resource: "builds"}: {"paused"},
	} {
		for _, name := range names {
			if _, err := client.Resource(resource).Namespace("default").Get(t.Context(), name, metav1.GetOptions{}); err != nil {
				t.Errorf("%s %s: %v", resource.Resource, name, err)
			}
		}
	}
	// Their parts serve them: the workflow runs, and the managed resource is there.
	for _, name := range []string{"made", "managed"} {
		eventually(t, "ConfigMap "+name+" is there", func() (bool, string) {
			_, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default").Get(t.Context(), name, metav1.GetOptions{})
			return err == nil, fmt.Sprint(err)
		})
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
