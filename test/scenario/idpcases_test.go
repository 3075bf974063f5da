package scenario

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/api/idpbuilder/v1alpha1"
)

// TestPackageCases deploys one package of each form: one source, several of one directory, none with an address, addresses in the values of a
// chart, an override, and ApplicationSets with a list, a Git generator, and one within matrix and merge.
func TestPackageCases(t *testing.T) {
	t.Parallel()
	dir, from := shortDir(t), t.TempDir()
	if err := os.CopyFS(from, os.DirFS("testdata/packages")); err != nil {
		t.Fatal(err)
	}
	run(t, "up", "--package", filepath.Join(from, "apps"), "--package", filepath.Join(from, "sets"), "--package", filepath.Join(from, "over"), "--ephemeral", "--state-dir", dir)
	kubeconfig := filepath.Join(dir, "ephemeral", "kubeconfig")
	eventually(t, "there is a cluster", func() (bool, string) {
		_, err := os.Stat(kubeconfig)
		return err == nil, fmt.Sprint(err)
	})
	const base = "https://gitea.cnoe.localtest.me:8443/giteaAdmin/idpbuilder-localdev-"
	client := clientOf(t, kubeconfig)
	for namespace, want := range map[string]map[string]string{
		"one": {"one": "overriding"}, "two": {"first": "first", "second": "second"},
		"charted":  {"settings": base + "charted-extra.git"},
		"team-red": {"red": "red"}, "team-blue": {"blue": "blue"}, "pair-red": {"red": "red", "shared": "shared"},
		"plain-dev": {"plain": "plain"}, "dev-east": {"east": "east"}, "dev-west": {"west": "west"}, "merged-test": {"base": "base"},
	} {
		eventually(t, "namespace "+namespace+" is as the packages say", func() (bool, string) {
			got := configMaps(t, client, namespace)
			return maps.Equal(got, want), joined(got)
		})
	}

	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"charted-chart", "charted-extra", "matrix-matrix", "merged-merged", "one-one", "pairs-shared", "pairs-teams", "plain-plain", "teams-teams", "two-two",
	}
	eventually(t, "each directory has one repository", func() (bool, string) {
		list, err := objects.Resource(v1alpha1.GroupVersion.WithResource("gitrepositories")).Namespace("idpbuilder-localdev").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		var got []string
		for _, o := range list.Items {
			got = append(got, o.GetName())
		}
		slices.Sort(got)
		return slices.Equal(got, want), strings.Join(got, " ")
	})
	applications := v1alpha1.GroupVersion.WithResource("applications")
	applications.Group = "argoproj.io"
	untouched, err := objects.Resource(applications).Namespace("argocd").Get(t.Context(), "untouched", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if url, _, _ := unstructured.NestedString(untouched.Object, "spec", "source", "repoURL"); url != "https://git.example.org/untouched.git" {
		t.Errorf("an Application without addresses has the URL %q", url)
	}
}
