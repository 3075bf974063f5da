package idp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	for name, tc := range map[string]struct {
		reason                         string
		files                          map[string]string
		arguments, roots               []string
		packages, overridden, problems []string
	}{
		"Directory": {
			reason: "files at the top of a directory, one with two sources of one directory; neither other objects nor those below count",
			files: map[string]string{
				"p/shop.yaml": app("shop", one("cnoe://web")), "p/bank.v2.yml": app("bank", `{sources: [{repoURL: "cnoe://till", path: a}, {repoURL: "cnoe://till", path: b}]}`),
				"p/notes.txt": "x", "p/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", "p/other.yaml": app("other", one("https://git.invalid/x.git")),
				"p/web/deep.yaml": app("deep", one("cnoe://x")), "p/till/": "",
			},
			arguments: []string{"p"},
			packages:  []string{"bank-bank: idpbuilder-localdev-bank-till=p/till", "other-other:", "shop-shop: idpbuilder-localdev-shop-web=p/web"},
		},
		"Documents": {
			reason: "all documents of a file count, and a bad one does not hide the others",
			files: map[string]string{
				"p/all.yaml": app("a", one("cnoe://x")) + "---\nkind: [\n---\n" + app("b", one("cnoe://x")) + "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {}\n---\n# nothing\n",
				"p/x/":       "",
			},
			arguments: []string{"p"},
			packages:  []string{"all-a: idpbuilder-localdev-a-x=p/x", "all-b: idpbuilder-localdev-b-x=p/x"},
			problems: []string{
				"p/all.yaml: document 2 in line 6: yaml: line 1: did not find expected node content",
				"p/all.yaml: document 4 in line 13: Application: metadata.name is missing",
			},
		},
		"Names": {
			reason: "names have to be names, and annotations strings: an unquoted wave would be dropped in silence",
			files: map[string]string{
				"p/a.yaml": strings.Replace(app("Not_Valid", "{}"), "", "", 1),
				"p/b.yaml": strings.Replace(app("b", "{}"), "{name: b}", "{name: b, annotations: {argocd.argoproj.io/sync-wave: 5}}", 1),
			},
			arguments: []string{"p"},
			problems: []string{
				`p/a.yaml: document 1 in line 1: Application: metadata.name: "Not_Valid": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
				"p/b.yaml: document 1 in line 1: Application/b: metadata.annotations: a value is not a string; quote it",
			},
		},
		"Waves": {
			reason: "packages are ordered by wave and name",
			files: map[string]string{
				"p/a.yaml": strings.Replace(app("a", "{}"), "{name: a}", `{name: a, annotations: {argocd.argoproj.io/sync-wave: "10"}}`, 1), "p/b.yaml": app("b", "{}"),
				"p/c.yaml": strings.Replace(app("c", "{}"), "{name: c}", `{name: c, annotations: {argocd.argoproj.io/sync-wave: "-5"}}`, 1),
				"p/d.yaml": strings.Replace(app("d", "{}"), "{name: d}", `{name: d, annotations: {argocd.argoproj.io/sync-wave: soon}}`, 1),
			},
			arguments: []string{"p"},
			packages:  []string{"c-c:", "b-b:", "d-d:", "a-a:"},
		},
		"Addresses": {
			reason: "upwards within what was given, without a directory, with a slash too many; missing ones, files and templates are named",
			files: map[string]string{
				"p/q/up.yaml": app("up", one("cnoe://../base/x")), "p/q/bare.yaml": app("bare", one("cnoe://")), "p/q/slash.yaml": app("slash", one("cnoe:///own/")),
				"p/q/missing.yaml": app("missing", one("cnoe://nowhere")), "p/q/file.yaml": app("file", one("cnoe://own/f")), "p/q/own/f": "x",
				"p/q/template.yaml": appSet("template", `{template: {spec: {source: {repoURL: "cnoe://{{.env}}", path: .}}}}`),
				"p/base/x/":         "",
			},
			arguments: []string{"p/q"}, roots: []string{"p"},
			packages: []string{
				"bare-bare: idpbuilder-localdev-bare-q=p/q", "file-file:", "missing-missing:", "slash-slash: idpbuilder-localdev-slash-own=p/q/own",
				"template-template:", "up-up: idpbuilder-localdev-up-x=p/base/x",
			},
			problems: []string{
				`p/q/file.yaml: Application/file: spec.source.repoURL: "cnoe://own/f": it is not a directory`,
				`p/q/missing.yaml: Application/missing: spec.source.repoURL: "cnoe://nowhere": no such file or directory`,
				`p/q/template.yaml: ApplicationSet/template: spec.template.spec.source.repoURL: "cnoe://{{.env}}": an address has no templates; name a directory, and put the template into the path`,
			},
		},
		"Escapes": {
			reason: "neither .. nor a link leaves what was given, and neighbours are not affected",
			files: map[string]string{
				"p/up.yaml": app("up", one("cnoe://../secret")), "p/link.yaml": app("link", one("cnoe://linked")), "p/linked": "->../secret", "p/in.yaml": app("in", one("cnoe://x")),
				"p/x/": "", "secret/key": "k", "p/inside.yaml": app("inside", one("cnoe://within")), "p/within": "->x", "p/app.yaml": "->../secret/app.yaml", "secret/app.yaml": app("leaked", "{}"),
			},
			arguments: []string{"p"},
			packages: []string{
				"in-in: idpbuilder-localdev-in-x=p/x", "inside-inside: idpbuilder-localdev-inside-within=p/within", "link-link:", "up-up:",
			},
			problems: []string{
				`p/link.yaml: Application/link: spec.source.repoURL: "cnoe://linked": path escapes from parent`,
				`p/up.yaml: Application/up: spec.source.repoURL: "cnoe://../secret": it leaves the directories that --package names; name the one that it leads to as well`,
			},
		},
		"Two inputs": {
			reason: "an address may lead into another input, which needs no Application then",
			files:  map[string]string{"p/up.yaml": app("up", one("cnoe://../base/x")), "base/x/": "", "void/": ""}, arguments: []string{"p", "base", "void"},
			packages: []string{"up-up: idpbuilder-localdev-up-x=base/x"},
			problems: []string{"void: there is no file *.yaml or *.yml with an Application or an ApplicationSet"},
		},
		"Priority": {
			reason: "the later of two directories wins for each object, files have priorities of their own, and the last wins among equals",
			files: map[string]string{
				"a/shop.yaml": app("shop", one("cnoe://x")), "a/x/": "", "a/only.yaml": app("only", "{}"), "b/store.yaml": app("shop", one("cnoe://y")), "b/y/": "",
				"f.yaml": app("only", "{}"), "a/set.yaml": appSet("shop", "{}"),
			},
			arguments:  []string{"a", "b", "f.yaml"},
			packages:   []string{"f-only:", "set-shop:", "store-shop: idpbuilder-localdev-shop-y=b/y"},
			overridden: []string{"a/shop.yaml by b/store.yaml", "a/only.yaml by f.yaml"},
		},
		"Priority of kinds": {
			reason:    "the second directory is before the first file, wherever it is on the command line",
			files:     map[string]string{"a/x.yaml": app("a", "{}"), "b/x.yaml": app("x", "{}"), "f.yaml": app("x", "{}")},
			arguments: []string{"a", "b", "f.yaml"}, packages: []string{"x-a:", "x-x:"}, overridden: []string{"f.yaml by b/x.yaml"},
		},
		"Twice": {
			reason:    "two packages of one name in one directory: the first is in effect",
			files:     map[string]string{"p/a.yaml": app("shop", one("cnoe://x")), "p/b.yaml": app("shop", one("cnoe://y")), "p/x/": "", "p/y/": ""},
			arguments: []string{"p"}, packages: []string{"a-shop: idpbuilder-localdev-shop-x=p/x"},
			problems: []string{"p/b.yaml: Application/shop: metadata.name: the name is that of another Application, in p/a.yaml, which is in effect; rename one of them"},
		},
		"Collisions": {
			reason: "directories of one name get a hash, within one Application and among several; so does a name that no server would take",
			files: map[string]string{
				"p/a.yaml": app("a", `{sources: [{repoURL: "cnoe://x/m"}, {repoURL: "cnoe://y/m"}]}`), "p/x/m/": "", "p/y/m/": "",
				"p/ab.yaml": app("a-b", one("cnoe://c")), "p/b.yaml": app("a", "{}"), "p/c/": "", "p/aa.yaml": app("aa", one("cnoe://b-c")), "p/b-c/": "",
				"p/z.yaml": app("aa-b", one("cnoe://c")), "p/odd.yaml": app("odd", one("cnoe://My Files_1.git")), "p/My Files_1.git/": "",
			},
			arguments: []string{"p"},
			packages: []string{
				"a-a: idpbuilder-localdev-a-m=p/x/m idpbuilder-localdev-a-m-b060e769=p/y/m", "aa-aa: idpbuilder-localdev-aa-b-c=p/b-c", "ab-a-b: idpbuilder-localdev-a-b-c=p/c",
				"odd-odd: idpbuilder-localdev-odd-my-files-1-git-289f3a7d=p/My Files_1.git", "z-aa-b: idpbuilder-localdev-aa-b-c-d176029c=p/c",
			},
			problems: []string{"p/b.yaml: Application/a: metadata.name: the name is that of another Application, in p/a.yaml, which is in effect; rename one of them"},
		},
		"Package": {
			reason:    "a directory with manifests alone means the package of the file beside it, and nothing else there",
			files:     map[string]string{"d/shop.yaml": app("shop", one("cnoe://shop/manifests")), "d/shop/manifests/": "", "d/bank.yaml": app("bank", "{}")},
			arguments: []string{"d/shop"}, packages: []string{"shop-shop: idpbuilder-localdev-shop-manifests=d/shop/manifests"},
		},
		"File": {
			reason:    "a file alone; its directory is what addresses stay in",
			files:     map[string]string{"d/shop.yaml": app("shop", one("cnoe://x")), "d/x/": "", "d/bank.yaml": app("bank", "{}")},
			arguments: []string{"d/shop.yaml"}, packages: []string{"shop-shop: idpbuilder-localdev-shop-x=d/x"},
		},
		"Large": {
			reason: "a file that is too large is named", files: map[string]string{"p/a.yaml": strings.Repeat("#", maxFile+1), "p/b.yaml": app("b", "{}")},
			arguments: []string{"p"}, packages: []string{"b-b:"}, problems: []string{"p/a.yaml: reading the file: it is larger than 4 MiB"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := lay(t, tc.files)
			var roots []string
			for _, root := range tc.roots {
				roots = append(roots, filepath.Join(dir, root))
			}
			result := Read(Options{Inputs: inputs(t, dir, tc.arguments...), Roots: roots})
			packages, overridden, problems := shown(result, dir)
			for _, diff := range []string{cmp.Diff(tc.packages, packages), cmp.Diff(tc.overridden, overridden), cmp.Diff(tc.problems, problems)} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// TestStrays names the files beside those of packages that declare none. They are no problem, unless something says that one was meant.
func TestStrays(t *testing.T) {
	const broken = "document 1 in line 1: yaml: line 1: did not find expected node content"
	for name, tc := range map[string]struct {
		reason           string
		files            map[string]string
		argument         string
		strays, problems []string
	}{
		"Values": {
			reason: "values, a kustomization, a list and a template are no packages", argument: "p",
			files:  map[string]string{"p/values.yaml": "replicas: 1\n", "p/kustomization.yaml": "resources: []\n", "p/list.yml": "- a\n", "p/template.yaml": "a: [\n", "p/notes.txt": "x"},
			strays: []string{"p/kustomization.yaml", "p/list.yml", "p/template.yaml: " + broken, "p/values.yaml"},
		},
		"Meant": {
			reason: "what cannot be read and names the group was meant to be one", argument: "p",
			files:    map[string]string{"p/shop.yaml": "# apiVersion: argoproj.io/v1alpha1\n---\na: [\n"},
			problems: []string{"p/shop.yaml: document 2 in line 3: yaml: line 1: did not find expected node content"},
		},
		"Empty": {reason: "a file without content may be about to be written", argument: "p", files: map[string]string{"p/new.yaml": ""}},
		"Given": {
			reason: "a file that was given is meant", argument: "p/values.yaml", files: map[string]string{"p/values.yaml": "a: [\n"},
			problems: []string{"p/values.yaml: " + broken},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.files["p/web.yaml"] = app("web", "{}")
			dir := lay(t, tc.files)
			result := Read(Options{Inputs: inputs(t, dir, tc.argument)})
			_, _, problems := shown(result, dir)
			var strays []string
			for _, s := range result.Strays {
				text := strings.TrimPrefix(s.File, dir+string(filepath.Separator))
				if s.Err != nil {
					text += ": " + s.Err.Error()
				}
				strays = append(strays, text)
			}
			for _, diff := range []string{cmp.Diff(tc.strays, strays), cmp.Diff(tc.problems, problems)} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// TestReadRemote reads a checkout: addresses stay in the repository, and never lead into a local input.
func TestReadRemote(t *testing.T) {
	dir := lay(t, map[string]string{
		"checkout/stacks/basic/shop.yaml": app("shop", one("cnoe://../../shared/web")), "checkout/shared/web/": "",
		"checkout/stacks/basic/out.yaml": app("out", one("cnoe://../../../local/x")), "local/a.yaml": app("a", "{}"), "local/x/": "",
	})
	remote, err := Find("https://me:hunter2@git.example.org/team/platform//stacks/basic?ref=v1")
	if err != nil {
		t.Fatal(err)
	}
	if result := Read(Options{Inputs: []Input{remote}}); len(result.Problems) != 1 || len(result.Packages) > 0 {
		t.Errorf("what was not fetched is read as %+v", result)
	}
	remote.Path = filepath.Join(dir, "checkout")
	result := Read(Options{Inputs: append(inputs(t, dir, "local"), remote), Build: "demo"})
	packages, _, problems := shown(result, dir)
	if diff := cmp.Diff([]string{"a-a:", "out-out:", "shop-shop: idpbuilder-demo-shop-web=checkout/shared/web"}, packages); diff != "" {
		t.Errorf("the packages (-want +got):\n%s", diff)
	}
	if len(problems) != 1 || !strings.Contains(problems[0], "Application/out") || strings.Contains(problems[0], "hunter2") {
		t.Errorf("the problems are %q", problems)
	}
	for _, p := range result.Packages {
		for _, r := range p.Repositories {
			if r.Remote.URL != "https://git.example.org/team/platform" || r.Root != remote.Path || r.Dir != "shared/web" {
				t.Errorf("the repository is %+v", r)
			}
		}
	}
}

// TestHolds has a mistake in a file or the loss of a directory withdraw nothing, and the removal of a file withdraw what it had.
func TestHolds(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(dir string) error
		want   bool
	}{
		"Unchanged": {func(string) error { return nil }, true},
		"Broken": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "p", "shop.yaml"), []byte("kind: ["), 0o600)
		}, true},
		"Emptied": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "p", "shop.yaml"), nil, 0o600) }, true},
		"Other content": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "p", "shop.yaml"), []byte("# nothing\n"), 0o600)
		}, false},
		"Removed": {func(dir string) error { return os.Remove(filepath.Join(dir, "p", "shop.yaml")) }, false},
		"Moved": {func(dir string) error {
			return os.Rename(filepath.Join(dir, "p", "shop.yaml"), filepath.Join(dir, "p", "store.yaml"))
		}, true},
		"No address": {func(dir string) error { return os.Remove(filepath.Join(dir, "p", "x")) }, true},
		"No input":   {func(dir string) error { return os.RemoveAll(filepath.Join(dir, "p")) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := lay(t, map[string]string{"p/shop.yaml": app("shop", one("cnoe://x")), "p/bank.yaml": app("bank", "{}"), "p/x/": ""})
			o := Options{Inputs: inputs(t, dir, "p")}
			before := Read(o)
			if err := tc.change(dir); err != nil {
				t.Fatal(err)
			}
			after := Read(o)
			for _, p := range before.Packages {
				want := tc.want || p.Object.GetName() == "bank"
				if got := after.Holds(p); got != want {
					t.Errorf("%s holds: %t; the problems are %v", p.Name, got, after.Problems)
				}
			}
		})
	}
}

func TestFind(t *testing.T) {
	dir := lay(t, map[string]string{"p/": "", "f.yaml": ""})
	for argument, want := range map[string]Kind{
		filepath.Join(dir, "p"): Directory, filepath.Join(dir, "f.yaml"): File, "https://git.example.org/p//a": URL,
	} {
		if input, err := Find(argument); err != nil || input.Kind != want {
			t.Errorf("%q is %+v, %v", argument, input, err)
		}
	}
	for argument, want := range map[string]string{
		filepath.Join(dir, "none"): "there is no such directory or file", "https://u:hunter2@git.example.org/p": `"https://***@git.example.org/p"`,
	} {
		if _, err := Find(argument); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", argument, err)
		}
	}
}
