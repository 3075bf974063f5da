package deploy

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

// TestRemotePackages fetches packages by their URL from a Git server that requires a login: a branch, a commit and the default branch. A
// revision that there is not, a directory that there is not, and a wrong password are named, without the password.
func TestRemotePackages(t *testing.T) {
	ctx := t.Context()
	git, err := gitserver.Start(ctx, gitserver.Config{Dir: filepath.Join(t.TempDir(), "repositories")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := git.Stop(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	})
	const password = "pass-of-the-reader"
	git.AddUser("reader", password, false)
	files := map[string]string{
		"stacks/basic/shop.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\n" +
			"spec: {source: {repoURL: 'cnoe://../shared', path: .}, destination: {namespace: shop, server: 'https://kubernetes.default.svc'}, project: default}\n",
		"stacks/shared/prices.yaml": "kind: ConfigMap\n",
	}
	var all []gitserver.File
	for path, text := range files {
		all = append(all, gitserver.File{Path: path, Content: func() ([]byte, error) { return []byte(text), nil }})
	}
	revision, _, err := git.Exact(ctx, "stacks", all)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Replace(git.URL("stacks"), "http://", "http://reader:"+password+"@", 1)
	for name, tc := range map[string]struct{ argument, problem string }{
		"Default branch": {argument: at + "//stacks/basic"},
		"Branch":         {argument: at + "//stacks/basic?ref=main"},
		"Commit":         {argument: at + "//stacks/basic?ref=" + revision + "&submodules=false"},
		"No revision":    {at + "//stacks/basic?ref=no-such-branch", "no-such-branch"},
		"No directory":   {at + "//stacks/none?ref=main", "stacks/none"},
		"Wrong password": {strings.Replace(at, password, password+"-of-yesterday", 1) + "//stacks/basic", "running git fetch"},
	} {
		t.Run(name, func(t *testing.T) {
			var problems []string
			d, err := New(Config{
				Arguments: []string{tc.argument}, Dir: filepath.Join(t.TempDir(), "packages"), Git: git, Password: "unused",
				Problem: func(_, text string) { problems = append(problems, text) },
			})
			if err != nil {
				t.Fatal(err)
			}
			result := d.read(t.Context())
			d.report(result)
			said := strings.Join(problems, "\n")
			if strings.Contains(said, password) {
				t.Error("a problem has the password")
			}
			if tc.problem != "" {
				if !strings.Contains(said, tc.problem) || !strings.Contains(said, git.URL("stacks")) || len(result.Packages) > 0 {
					t.Errorf("%d packages, problems %s, want one with %q", len(result.Packages), strings.ReplaceAll(said, password, "***"), tc.problem)
				}
				return
			}
			if said != "" || len(result.Packages) != 1 {
				t.Fatalf("%d packages, problems %s", len(result.Packages), said)
			}
			p := result.Packages[0]
			r := p.Repositories[0]
			if p.Object.GetName() != "shop" || len(p.Repositories) != 1 || r.Name != "idpbuilder-localdev-shop-shared" {
				t.Errorf("the package is %+v", p)
			}
			text, err := os.ReadFile(filepath.Join(r.Root, filepath.FromSlash(r.Dir), "prices.yaml"))
			if err != nil || string(text) != files["stacks/shared/prices.yaml"] {
				t.Errorf("the directory has %q, error %v", text, err)
			}
		})
	}
}
