package scenario

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/kit"
)

// openProject is the default project as the server of Argo CD creates it.
const openProject = `apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec:
  sourceRepos: ["*"]
  destinations: [{server: "*", namespace: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
`

// TestDefaultProject deletes the default project: nothing stands for it from then on, and no restart brings it back. Where none was
// ever there, everything is permitted, and a restart does not change that either.
func TestDefaultProject(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, kit.Options{})
	if err := w.login(t.Context()); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(w.kit.Config)
	if err != nil {
		t.Fatal(err)
	}
	a, repo := appliedOn(t, w, client), t.TempDir()
	if err := w.kit.Git.CreateRepo(t.Context(), "open"); err != nil {
		t.Fatal(err)
	}
	push := func(value string) {
		t.Helper()
		writeFile(t, filepath.Join(repo, "work", "x.yaml"), fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {k: %q}\n", value))
		url := strings.Replace(w.kit.Git.URL("open"), "http://", "http://"+kit.User+":"+kit.Token+"@", 1)
		command(t, repo, "git init -q -b main . 2>/dev/null; git add -A && git -c user.name=dev -c user.email=dev@example.dev commit -q -m "+value+" && git push -q "+url+" HEAD:main")
	}
	restart := func() {
		t.Helper()
		w.kit.StopEngine()
		if err := w.kit.StartEngine(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	remembers := func(want string) {
		t.Helper()
		definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
		eventually(t, "the definition of AppProjects says "+want, func() (bool, string) {
			u, err := w.client.Resource(definitions).Get(t.Context(), "appprojects.argoproj.io", metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			said := u.GetAnnotations()["default-project.headgate.dev/argocd"]
			return said == want, said
		})
	}
	push("1")
	if err := w.put(fmt.Sprintf(faultApp, "work", w.kit.Git.URL("open"))); err != nil {
		t.Fatal(err)
	}
	a.value("x", "1")
	remembers("implied")
	restart()
	push("2")
	a.value("x", "2")

	if err := w.put(openProject); err != nil {
		t.Fatal(err)
	}
	remembers("required")
	projects := schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "appprojects"}
	if err := w.client.Resource(projects).Namespace(argoNamespace).Delete(t.Context(), "default", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	const refused = "InvalidSpecError.*Application referencing project default which does not exist|Application referencing project default which does not exist.*InvalidSpecError"
	a.says("work", "status.conditions", refused)
	push("3")
	restart()
	if err := w.put(fmt.Sprintf(faultApp, "late", w.kit.Git.URL("open"))); err != nil {
		t.Fatal(err)
	}
	a.says("late", "status.conditions", refused)
	a.value("x", "2")

	if err := w.put(openProject); err != nil {
		t.Fatal(err)
	}
	a.value("x", "3")
}
