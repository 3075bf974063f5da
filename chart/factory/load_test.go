package factory_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/chart/factory"
)

// lines are the mistakes of an error, one each.
func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, text string
		want         []string
	}{
		"Empty": {"an empty file describes nothing", "", nil},
		"Whole": {"every level of a configuration that has no mistake", `
environments:
  dev: {images: {web: "nginx:1"}, replicas: 1}
applications:
  - name: web
    namespace: shop
    chart: {type: web, props: {anything: [1, "two", {three: 3}]}}
    dependencies: [db]
    argocd:
      syncWave: 3
      syncPolicy: {automated: {prune: true}, retry: {limit: 3, backoff: {duration: 5s, factor: 2}}}
`, nil},
		"Field": {"an unknown field is named with the one that was meant", `
applications:
  - name: web
    namespce: shop
`, []string{`app.yaml:4: applications[0].namespce: unknown field "namespce"; did you mean "namespace"?`}},
		"Deep": {"the line is that of the field, however deep, also in types of Argo CD", `
applications:
  - name: web
    argocd:
      syncPolicy:
        automated:
          selfheal: true
`, []string{`app.yaml:7: applications[0].argocd.syncPolicy.automated.selfheal: unknown field "selfheal"; did you mean "selfHeal"?`}},
		"All": {"one mistake does not hide the others", `
applications:
  - name: 5
    namespace: [shop]
    argocd: {syncWave: "3", labels: {a: true}}
  - nme: db
`, []string{
			`app.yaml:5: applications[0].argocd.labels.a: true is not a string; write it in quotes`,
			`app.yaml:5: applications[0].argocd.syncWave: "3" is not a whole number of the type int`,
			`app.yaml:3: applications[0].name: 5 is not a string; write it in quotes`,
			`app.yaml:4: applications[0].namespace: a list is not a string`,
			`app.yaml:6: applications[1].nme: unknown field "nme"; did you mean "name"?`,
		}},
		"Twice": {"a field that is given twice", `
applications:
  - name: web
    name: db
`, []string{`app.yaml:4: applications[0].name: the field is in line 3 already`}},
		"Shape": {"a list where an object belongs", "environments: [dev]\n", []string{`app.yaml:1: environments: a list is not an object`}},
		"Documents": {
			"a second document would be ignored", "applications: []\n---\napplications: []\n",
			[]string{`app.yaml:1: a configuration is one document; this file has more`},
		},
		"Number": {
			"a number that does not fit", "environments: {dev: {replicas: 3000000000}}\n",
			[]string{`app.yaml:1: environments.dev.replicas: 3000000000 is not a whole number of the type int32`},
		},
		"JSON": {
			"JSON is YAML", `{"applications": [{"name": "web", "namespace": "shop", "chart": {"typ": "web"}}]}`,
			[]string{`app.yaml:1: applications[0].chart.typ: unknown field "typ"; did you mean "type"?`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := factory.Parse("app.yaml", []byte(tc.text), factory.Variables{})
			if diff := cmp.Diff(tc.want, lines(err)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestParseRejectsWhatIsNoYAML(t *testing.T) {
	_, err := factory.Parse("app.yaml", []byte("a: [\n"), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "app.yaml: ") {
		t.Errorf("error %v, want one with the file", err)
	}
}

func TestParseBoundsAliases(t *testing.T) {
	text := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for i, name := range strings.Split("bcdefgh", "") {
		text += name + ": &" + name + " [" + strings.TrimSuffix(strings.Repeat("*"+string("abcdefgh"[i])+", ", 10), ", ") + "]\n"
	}
	_, err := factory.Parse("app.yaml", []byte(text), nil)
	if err == nil || !strings.Contains(err.Error(), "its aliases repeat too much") {
		t.Errorf("error %.200v, want one about aliases", err)
	}
}

func TestVariablesInYAML(t *testing.T) {
	text := `
environments:
  dev:
    replicas: ${env:REPLICAS}
    values: {url: "https://${env:HOST}/v1", literal: "$${env:HOST}", both: "${env:HOST}:${env:REPLICAS}"}
`
	config, err := factory.Parse("app.yaml", []byte(text), factory.Variables{"HOST": "example.org", "REPLICAS": "3"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"url": "https://example.org/v1", "literal": "${env:HOST}", "both": "example.org:3"}
	if diff := cmp.Diff(want, config.Environments["dev"].Values); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := config.Environments["dev"].Replicas; got == nil || *got != 3 {
		t.Errorf("replicas %v, want 3: a variable alone may be a number", got)
	}
	_, err = factory.Parse("app.yaml", []byte(text), factory.Variables{"REPLICAS": "many", "HOST": ""})
	wanted := []string{
		"app.yaml:5: environments.dev.values.both: the environment variable HOST is unset; export it, or add it to a file of variables",
		"app.yaml:5: environments.dev.values.url: the environment variable HOST is unset; export it, or add it to a file of variables",
		`app.yaml:4: environments.dev.replicas: "many" is not a whole number of the type int32`,
	}
	if diff := cmp.Diff(wanted, lines(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadReadsValuesBesideIt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "app.yaml")
	if err := os.WriteFile(path, []byte("applications: [{name: web, namespace: shop, valuesFile: web/values.yaml}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := factory.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := config.Applications[0].ValuesFile, filepath.Join(dir, "web/values.yaml"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := factory.Load(filepath.Join(dir, "other.yaml"), nil); err == nil {
		t.Error("a file that is not there was loaded")
	}
}

func TestEnviron(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("FACTORY_SET", "process")
	first := write("first.env", "# comment\nexport FACTORY_SET=file\nFACTORY_ONE = one \n\nFACTORY_QUOTED=\"a b\"\r\nFACTORY_BOTH=first\nFACTORY_EMPTY=\n")
	second := write("second.env", "FACTORY_BOTH=second\nFACTORY_TWO='2'\n")
	got, err := factory.Environ(first, second)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"FACTORY_SET": "process", "FACTORY_ONE": "one", "FACTORY_QUOTED": "a b", "FACTORY_BOTH": "first", "FACTORY_TWO": "2", "FACTORY_EMPTY": "",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if _, err := factory.Environ(write("bad.env", "A=1\nnot a variable\n")); err == nil || !strings.HasSuffix(err.Error(), "bad.env:2: want NAME=VALUE") {
		t.Errorf("error %v, want the line", err)
	}
	if _, err := factory.Environ(filepath.Join(dir, "missing.env")); err == nil {
		t.Error("a file that is not there was read")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("applications: [{name: web, chart: {props: &a {b: *a}}}]")
	f.Add("a: &a [*a, *a]")
	f.Add("? {a: b}\n: c\n<<: *x")
	f.Add("environments: {dev: {values: {a: '${env:A}${env:'}}}")
	f.Fuzz(func(t *testing.T, text string) {
		config, err := factory.Parse("f.yaml", []byte(text), factory.Variables{"A": "1"})
		if err != nil {
			return
		}
		if _, err := factory.Build(factory.NewRegistry(), config, factory.Options{}); len(config.Applications) > 0 && err == nil {
			for _, app := range config.Applications {
				if len(app.ArgoCD.Sources)+len(config.ArgoCD.Sources) == 0 && app.Chart.Type != "" {
					t.Errorf("an application of a chart that is not registered was built: %q", text)
				}
			}
		}
	})
}
