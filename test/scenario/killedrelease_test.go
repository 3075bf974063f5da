package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// manyChart makes many ConfigMaps, and may have a hook that does not end on its own.
const manyChart = `{{- range $i := until (int .Values.many) }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ $.Release.Name }}-{{ $i }}"}
data: {k: {{ $.Values.value | quote }}}
{{- end }}
{{- with .Values.hook }}
---
apiVersion: batch/v1
kind: Job
metadata: {name: "{{ $.Release.Name }}", annotations: {helm.sh/hook: {{ . }}}}
spec:
  suspend: true
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: busybox}]}
{{- end }}
`

const manyRelease = `---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %[1]s, namespace: crowd}
spec:
  interval: 1h
  chart: {spec: {chart: ./charts/many, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}
  values: {many: %[2]d, value: %[3]q, hook: %[4]q}
`

// manyMaps are the ConfigMaps of a release of manyChart.
func manyMaps(name string, many int, value string) map[string]string {
	want := map[string]string{}
	for i := range many {
		want[fmt.Sprintf("%s-%d", name, i)] = value
	}
	return want
}

// records are the revisions in the storage of Helm in namespace crowd, with their statuses.
func records(t *testing.T, client kubernetes.Interface) map[string]string {
	t.Helper()
	found := map[string]string{}
	list, err := client.CoreV1().Secrets("crowd").List(t.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil {
		return found
	}
	for i := range list.Items {
		labels := list.Items[i].Labels
		found[labels["name"]+" "+labels["version"]] = labels["status"]
	}
	return found
}

// TestKilledReleases kills the process in the middle of an install, of an upgrade, and of an install
// whose HelmRelease is deleted meanwhile, and looks whether the next process ends with one release that
// holds everything, and with nothing of the deleted one.
func TestKilledReleases(t *testing.T) {
	t.Parallel()
	const many, few = 400, 10
	dir, repo := shortDir(t), t.TempDir()
	manifest := filepath.Join(repo, "cluster", "releases.yaml")
	declare := func(releases string) {
		t.Helper()
		writeFile(t, manifest, "apiVersion: v1\nkind: Namespace\nmetadata: {name: crowd}\n"+releases)
	}
	writeFile(t, filepath.Join(repo, "charts", "many", "Chart.yaml"), "apiVersion: v2\nname: many\nversion: 1.0.0\n")
	writeFile(t, filepath.Join(repo, "charts", "many", "templates", "many.yaml"), manyChart)
	up := func() (*process, kubernetes.Interface) {
		p := run(t, "up", repo, "--path", "cluster", "--state-dir", dir)
		return p, clientOf(t, filepath.Join(dir, "cluster", "kubeconfig"))
	}
	settled := func(client kubernetes.Interface, maps, revisions map[string]string) {
		t.Helper()
		eventually(t, "the release is whole", func() (bool, string) {
			diff := cmp.Diff(maps, configMaps(t, client, "crowd")) + cmp.Diff(revisions, records(t, client))
			return diff == "", diff
		})
	}
	stuck := func(client kubernetes.Interface, revision, status string) {
		t.Helper()
		eventually(t, revision+" is "+status+" and waits for its hook", func() (bool, string) {
			name := revision[:len(revision)-len(" 1")]
			_, err := client.BatchV1().Jobs("crowd").Get(t.Context(), name, metav1.GetOptions{})
			got := records(t, client)
			return err == nil && got[revision] == status, fmt.Sprint(got, err)
		})
	}

	declare(fmt.Sprintf(manyRelease, "web", many, "1", ""))
	p, client := up()
	eventually(t, "the install has begun", func() (bool, string) {
		n := len(configMaps(t, client, "crowd"))
		return n > many/20, fmt.Sprint(n)
	})
	p.kill()
	p, client = up()
	settled(client, manyMaps("web", many, "1"), map[string]string{"web 1": "superseded", "web 2": "deployed"})

	declare(fmt.Sprintf(manyRelease, "web", few, "2", "post-upgrade"))
	stuck(client, "web 3", "pending-upgrade")
	p.kill()
	p, client = up()
	want := map[string]string{"web 1": "superseded", "web 2": "superseded", "web 3": "failed", "web 4": "deployed"}
	eventually(t, "the hook of the next upgrade ends", func() (bool, string) {
		// The one of the killed run may still be there.
		_, err := client.BatchV1().Jobs("crowd").Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{})
		got := records(t, client)
		return got["web 4"] == "deployed", fmt.Sprint(got, err)
	})
	settled(client, manyMaps("web", few, "2"), want)

	web, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, manifest, string(web)+fmt.Sprintf(manyRelease, "doomed", few, "3", "post-install"))
	stuck(client, "doomed 1", "pending-install")
	eventually(t, "the Kustomization, which waits for the release, says that it holds it", func() (bool, string) {
		out, err := client.CoreV1().RESTClient().Get().AbsPath("/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations/flux-system").DoRaw(t.Context())
		return err == nil && strings.Contains(string(out), `"crowd_doomed_helm.toolkit.fluxcd.io_HelmRelease"`), string(out)
	})
	p.kill()
	writeFile(t, manifest, string(web))
	p, client = up()
	settled(client, manyMaps("web", few, "2"), want)
	p.says("ready")
	if code := p.interrupt(); code != 0 {
		t.Errorf("the process ended with %d", code)
	}
}
