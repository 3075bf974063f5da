package scenario

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/api/idpbuilder/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cli"
)

// settings is a ConfigMap as a file.
func settings(name, value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {k: " + value + "}\n"
}

// withdrawable is the Application of a package whose objects are deleted with it.
func withdrawable(name, wave string) string {
	return strings.Replace(packageOf(name, wave), "metadata: {", "metadata: {finalizers: [resources-finalizer.argocd.argoproj.io], ", 1)
}

// asked runs a command on the cluster of a state directory.
func asked(t *testing.T, dir string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	args = append(args, "--kubeconfig", filepath.Join(dir, "ephemeral", "kubeconfig"))
	code := cli.Main(t.Context(), args, cli.IO{In: strings.NewReader(""), Out: &out, Err: &out, Child: true})
	return code, out.String()
}

// TestPackages deploys packages of two arguments and follows their files: contents, deletions, edits of Applications, new ones and
// removed ones. A file that is broken is named and keeps nothing else from being deployed.
func TestPackages(t *testing.T) {
	t.Parallel()
	stack, over, dir := t.TempDir(), t.TempDir(), shortDir(t)
	for name, text := range map[string]string{
		"database.yaml": withdrawable("database", "1"), "shop.yaml": withdrawable("shop", "2"),
		"broken.yaml":                      "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: [}\n",
		"other.yaml":                       settings("other", "ignored"),
		"database/manifests/size.yaml":     settings("size", "small"),
		"shop/manifests/prices.yaml":       settings("prices", "one"),
		"shop/manifests/discounts.yaml":    settings("discounts", "none"),
		"shop/manifests/.gitignore":        "*.yaml\n",
		"shop/second/prices.yaml":          settings("prices", "second"),
		"late/manifests/announcement.yaml": settings("announcement", "late"),
	} {
		writeFile(t, filepath.Join(stack, name), text)
	}
	writeFile(t, filepath.Join(over, "database.yaml"), withdrawable("database", "1"))
	writeFile(t, filepath.Join(over, "database/manifests/size.yaml"), settings("size", "large"))
	p := run(t, "up", "--package", stack, "--package", over, "--ephemeral", "--state-dir", dir)
	p.says("broken.yaml: ")
	client := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig"))
	has := func(namespace string, want map[string]string) {
		t.Helper()
		eventually(t, "namespace "+namespace+" is as the files say", func() (bool, string) {
			got := configMaps(t, client, namespace)
			same := len(got) == len(want)
			for name, value := range want {
				same = same && got[name] == value
			}
			return same, joined(got)
		})
	}
	has("database", map[string]string{"size": "large"})
	has("shop", map[string]string{"prices": "one", "discounts": "none"})

	writeFile(t, filepath.Join(stack, "shop/manifests/prices.yaml"), settings("prices", "two"))
	has("shop", map[string]string{"prices": "two", "discounts": "none"})
	if err := os.Remove(filepath.Join(stack, "shop/manifests/discounts.yaml")); err != nil {
		t.Fatal(err)
	}
	has("shop", map[string]string{"prices": "two"})
	writeFile(t, filepath.Join(stack, "shop.yaml"), strings.Replace(withdrawable("shop", "2"), "cnoe://shop/manifests", "cnoe://shop/second", 1))
	has("shop", map[string]string{"prices": "second"})

	eventually(t, "the packages are ready", func() (bool, string) {
		code, out := asked(t, dir, "get", "packages", "--not-ready")
		return code == 0, out
	})
	if code, out := asked(t, dir, "get", "packages"); code != 0 || !strings.Contains(out, "Synced") || !strings.Contains(out, "Healthy") ||
		!strings.Contains(out, filepath.Join(over, "database.yaml")) || !strings.Contains(out, filepath.Join(stack, "shop.yaml")) {
		t.Errorf("get packages: exit code %d\n%s", code, out)
	}
	if code, out := asked(t, dir, "why", "package/shop"); code != 0 || !strings.Contains(out, "shop is ready") {
		t.Errorf("why package/shop: exit code %d\n%s", code, out)
	}
	password := secretForPeople(t, dir)
	url := "http://giteaAdmin:" + password + "@" + gitAddress(t, dir) + "/giteaAdmin/idpbuilder-localdev-shop-second.git"
	if out, err := exec.CommandContext(t.Context(), "git", "ls-remote", url).CombinedOutput(); err != nil || !strings.Contains(string(out), "refs/heads/main") {
		t.Errorf("reading the repository of a package: %v", err)
	}

	pictured(t, dir, stack, map[string]string{"broken-": "", "database-database": over, "shop-shop": stack}, "shop-second")

	// What is broken is fixed, and becomes a package; what breaks keeps what it deployed; what goes is withdrawn.
	writeFile(t, filepath.Join(stack, "broken.yaml"), withdrawable("late", "9"))
	has("late", map[string]string{"announcement": "late"})
	writeFile(t, filepath.Join(stack, "shop.yaml"), "kind: [\n")
	p.says("shop.yaml: ")
	if err := os.Remove(filepath.Join(stack, "broken.yaml")); err != nil {
		t.Fatal(err)
	}
	has("late", nil)
	has("shop", map[string]string{"prices": "second"})
	pictured(t, dir, stack, map[string]string{"database-database": over, "shop-shop": stack, "broken-late": ""}, "shop-second")
	// Without the file that has priority, the package of the other argument is in effect.
	if err := os.Remove(filepath.Join(over, "database.yaml")); err != nil {
		t.Fatal(err)
	}
	has("database", map[string]string{"size": "small"})
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// pictured waits until the objects of idpbuilder's kinds show the packages, by name and argument, those that it does not have without one; then
// it edits what they say, and waits for that to be as it was.
func pictured(t *testing.T, dir, stack string, packages map[string]string, repository string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "ephemeral", "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	group := v1alpha1.GroupVersion
	read := func(resource string, into runtime.Object, name string) error {
		in := dynamic.ResourceInterface(client.Resource(group.WithResource(resource)))
		if resource != "localbuilds" {
			in = client.Resource(group.WithResource(resource)).Namespace("idpbuilder-localdev")
		}
		o, err := in.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into)
	}
	asRead := func() (bool, string) {
		var build v1alpha1.Localbuild
		if err := read("localbuilds", &build, "localdev"); err != nil || len(build.Spec.PackageConfigs.CustomPackageDirs) != 2 ||
			build.Spec.PackageConfigs.CustomPackageDirs[0] != stack || !build.Status.Gitea.Available || build.Status.Gitea.AdminUserSecretName != "gitea-credential" {
			return false, fmt.Sprint("Localbuild localdev: ", build.Spec, build.Status, err)
		}
		for name, argument := range packages {
			var p v1alpha1.CustomPackage
			err := read("custompackages", &p, name)
			if argument == "" {
				if !apierrors.IsNotFound(err) {
					return false, fmt.Sprint("CustomPackage ", name, " is there: ", err)
				}
				continue
			}
			if file := filepath.Join(argument, p.Spec.ArgoCD.Name+".yaml"); err != nil || p.Spec.ArgoCD.ApplicationFile != file || p.Spec.ArgoCD.Type != "Application" ||
				!p.Status.Synced || len(p.Status.GitRepositoryRefs) != 1 || p.Annotations["cnoe.io/package-source-path"] != argument ||
				p.Annotations["cnoe.io/last-observed-cli-start-time"] == "" {
				return false, fmt.Sprint("CustomPackage ", name, ": ", p.Annotations, p.Spec, p.Status, err)
			}
		}
		var r v1alpha1.GitRepository
		url := "https://gitea.cnoe.localtest.me:8443/giteaAdmin/idpbuilder-localdev-" + repository + ".git"
		if err := read("gitrepositories", &r, repository); err != nil || !r.Status.Synced || len(r.Status.LatestCommit.Hash) != 40 ||
			r.Status.ExternalGitRepositoryURL != url || r.Spec.Source.Type != "local" || r.Spec.Provider.OrganizationName != "giteaAdmin" {
			return false, fmt.Sprint("GitRepository ", repository, ": ", r.Spec, r.Status, err)
		}
		if err := read("gitrepositories", &r, "shop-manifests"); !apierrors.IsNotFound(err) {
			return false, fmt.Sprint("GitRepository shop-manifests is there: ", err)
		}
		return true, ""
	}
	eventually(t, "the objects of idpbuilder show the packages", asRead)
	in := client.Resource(group.WithResource("custompackages")).Namespace("idpbuilder-localdev")
	edit := []byte(`{"spec":{"argoCD":{"applicationFile":"/elsewhere.yaml"},"remoteRepository":{"url":"https://git.example.org/x"}}}`)
	if _, err := in.Patch(t.Context(), "shop-shop", types.MergePatchType, edit, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.Resource(group.WithResource("gitrepositories")).Namespace("idpbuilder-localdev").Delete(t.Context(), repository, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "edits of the objects of idpbuilder are corrected", func() (bool, string) {
		var p v1alpha1.CustomPackage
		if err := read("custompackages", &p, "shop-shop"); err != nil || p.Spec.RemoteRepository.URL != "" {
			return false, fmt.Sprint(p.Spec, err)
		}
		return asRead()
	})
}

// secretForPeople is the password of the Git server, as get secrets prints it.
func secretForPeople(t *testing.T, dir string) string {
	t.Helper()
	code, out := asked(t, dir, "get", "secrets", "-p", "gitea")
	if code != 0 || strings.Count(out, "\n") != 2 || !strings.Contains(out, "giteaAdmin") {
		t.Fatalf("get secrets: exit code %d, %d lines", code, strings.Count(out, "\n"))
	}
	_, password, _ := strings.Cut(out, "giteaAdmin")
	return strings.Fields(password)[0]
}

// gitAddress is the address of the Git server of packages.
func gitAddress(t *testing.T, dir string) string {
	t.Helper()
	secret, err := clientOf(t, filepath.Join(dir, "ephemeral", "kubeconfig")).CoreV1().Secrets("gitea").Get(t.Context(), "gitea-credential", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(string(secret.Data["url"]), "http://")
}

// TestPackagesReady ends when all packages are ready, and otherwise says which is not: two of one name, one that leaves its directory, and
// one whose namespace nothing makes.
func TestPackagesReady(t *testing.T) {
	t.Parallel()
	stack := t.TempDir()
	for name, text := range map[string]string{
		"database.yaml": packageOf("database", "1"), "shop.yaml": packageOf("shop", "2"),
		"database/manifests/size.yaml": settings("size", "small"), "shop/manifests/prices.yaml": settings("prices", "one"),
	} {
		writeFile(t, filepath.Join(stack, name), text)
	}
	p := run(t, "up", "--package", stack, "--ephemeral", "--exit-when-ready", "--state-dir", shortDir(t))
	p.says("2 units, 2 objects")
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	text := p.output.String()
	if first, second := strings.Index(text, "Application/database applied"), strings.Index(text, "Application/shop applied"); first < 0 || second < first {
		t.Errorf("the waves are not in order: %d, %d", first, second)
	}

	writeFile(t, filepath.Join(stack, "twice.yaml"), packageOf("shop", "2"))
	writeFile(t, filepath.Join(stack, "leaving.yaml"), strings.Replace(packageOf("leaving", "0"), "cnoe://leaving/manifests", "cnoe://../elsewhere", 1))
	writeFile(t, filepath.Join(stack, "lost.yaml"), strings.Replace(packageOf("lost", "0"), ", syncOptions: [CreateNamespace=true]", "", 1))
	writeFile(t, filepath.Join(stack, "lost/manifests/lost.yaml"), settings("lost", "there is no namespace for it"))
	p = run(t, "up", "--package", stack, "--ephemeral", "--exit-when-ready", "--state-dir", shortDir(t))
	p.says("twice.yaml: Application/shop: metadata.name")
	p.says("leaving.yaml: Application/leaving: spec.source.repoURL")
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if text := p.output.String(); !strings.Contains(text, "Application/shop applied") {
		t.Error("bad files keep others from being deployed")
	} else if !strings.Contains(text, `Application/argocd/lost is being applied: ConfigMap/lost/lost: namespace "lost" does not exist`) || strings.Contains(text, "timeout") {
		t.Errorf("what the package without a namespace lacks is not named at once:\n%s", text)
	}
}

// TestPackagesEnd ends with 1 for an ApplicationSet that cannot generate anything, as soon as that is known, beside a package that is ready. A file
// that declares no package is named and changes nothing, and an Application that is not synced automatically counts as ready, here and for the commands.
func TestPackagesEnd(t *testing.T) {
	t.Parallel()
	const set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: bad, namespace: argocd}\nspec:\n" +
		"  goTemplate: true\n  goTemplateOptions: [missingkey=error]\n  generators: [{list: {elements: [{a: b}]}}]\n  template:\n" +
		"    metadata: {name: 'x-{{.nope}}'}\n    spec: {project: default, source: {repoURL: 'cnoe://shop/manifests', path: .}, destination: {server: 'https://kubernetes.default.svc', namespace: default}}\n"
	for name, tc := range map[string]struct {
		reason   string
		files    map[string]string
		code     int
		says     []string
		saysNone []string
	}{
		"A broken set":              {"alone", map[string]string{"set.yaml": set}, 1, []string{"ApplicationSet/argocd/bad failed: "}, []string{"✓ ready"}},
		"A broken set in a wave":    {"behind a package that is ready", map[string]string{"set.yaml": strings.Replace(set, "{name: bad", `{annotations: {argocd.argoproj.io/sync-wave: "5"}, name: bad`, 1), "shop.yaml": packageOf("shop", "1")}, 1, []string{"ApplicationSet/argocd/bad failed: ", "Application argocd/shop"}, []string{"✓ ready"}},
		"Files that are no package": {"values and a template", map[string]string{"shop.yaml": packageOf("shop", "1"), "values.yaml": "replicas: 1\n", "template.yaml": "a: [\n"}, 0, []string{"template.yaml (document 1 in line 1", "values.yaml", "✓ ready"}, []string{"✗"}},
		"Unknown fields": {
			"idpbuilder drops them",
			map[string]string{"shop.yaml": strings.Replace(strings.Replace(packageOf("shop", "1"), "spec:\n", "spec:\n  colour: red\n", 1), "path: .}", "path: ., speed: 2}", 1)},
			0,
			[]string{"shop.yaml: Application/shop: unknown fields are left out, as idpbuilder does: spec.colour, spec.source.speed", "✓ ready"},
			[]string{"✗"},
		},
		"Manual": {
			"nothing syncs it",
			map[string]string{"shop.yaml": strings.Replace(packageOf("shop", "1"), "automated: {", "automated: {enabled: false, ", 1)},
			0,
			[]string{"✓ ready", "argocd/shop is OutOfSync: not synced automatically; try: headgate sync Application/shop -n argocd"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stack := t.TempDir()
			writeFile(t, filepath.Join(stack, "shop/manifests/prices.yaml"), settings("prices", "one"))
			for name, text := range tc.files {
				writeFile(t, filepath.Join(stack, name), text)
			}
			p := run(t, "up", "--package", stack, "--ephemeral", "--exit-when-ready", "--state-dir", shortDir(t))
			<-p.ended
			text := p.output.String()
			if code := p.cmd.ProcessState.ExitCode(); code != tc.code || strings.Contains(text, "timeout") {
				t.Errorf("%s: exit code %d, want %d\n%s", tc.reason, code, tc.code, text)
			}
			for _, want := range tc.says {
				if !strings.Contains(text, want) {
					t.Errorf("%s: it does not say %q\n%s", tc.reason, want, text)
				}
			}
			for _, not := range tc.saysNone {
				if strings.Contains(text, not) {
					t.Errorf("%s: it says %q\n%s", tc.reason, not, text)
				}
			}
		})
	}
}

// TestPackageManual shows a package that is not synced automatically as neither ready nor a failure, until a user syncs it.
func TestPackageManual(t *testing.T) {
	t.Parallel()
	stack, dir := t.TempDir(), shortDir(t)
	writeFile(t, filepath.Join(stack, "shop/manifests/prices.yaml"), settings("prices", "one"))
	writeFile(t, filepath.Join(stack, "shop.yaml"), strings.Replace(packageOf("shop", "1"), "automated: {", "automated: {enabled: false, ", 1))
	p := run(t, "up", "--package", stack, "--ephemeral", "--state-dir", dir)
	p.says("✓ ready")
	eventually(t, "the package is shown as manual", func() (bool, string) {
		code, out := asked(t, dir, "get", "packages")
		return code == 0 && strings.Contains(out, "OutOfSync") && strings.Contains(out, " Manual "), out
	})
	if code, out := asked(t, dir, "get", "packages", "--not-ready"); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, out := asked(t, dir, "why", "package/shop"); !strings.Contains(out, "is not synced automatically (OutOfSync") || !strings.Contains(out, "try: headgate sync app/shop -n argocd") {
		t.Errorf("why: %s", out)
	}
	if code, out := asked(t, dir, "sync", "app", "shop", "-n", "argocd"); code != 0 {
		t.Errorf("sync: exit code %d\n%s", code, out)
	}
	if code, out := asked(t, dir, "get", "packages"); code != 0 || strings.Contains(out, " Manual ") || !strings.Contains(out, "Synced") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
