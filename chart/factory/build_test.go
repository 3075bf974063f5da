package factory_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/packages"
	"github.com/headgate-dev/headgate/internal/engine"
)

// WebProps are those of the chart of these tests.
type WebProps struct {
	Environment factory.Environment `json:"-"`
	Host        string              `json:"host" factory:"required"`
	Replicas    int32               `json:"replicas"`
	Token       string              `json:"token" env:"WEB_TOKEN"`
	Image       string              `json:"image"`
	Limits      Limits              `json:"limits"`
}

// Limits are props in props.
type Limits struct {
	CPU string `json:"cpu" factory:"required"`
}

// Validate refuses a host.
func (p WebProps) Validate() error {
	if p.Host == "forbidden" {
		return errors.New("host: it is forbidden")
	}
	return nil
}

// registry has a chart that writes its props into a ConfigMap.
func registry() *factory.Registry {
	r := factory.NewRegistry()
	factory.Register(r, "web", func(scope chart.Scope, p WebProps) {
		image := p.Image
		if image == "" {
			image = p.Environment.Image(scope, "web")
		}
		chart.Add(scope, "config", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Data: map[string]string{
			"host": p.Host, "token": p.Token, "cpu": p.Limits.CPU, "image": image, "environment": p.Environment.Name, "variable": factory.Env("WEB_TOKEN"),
		}})
	})
	factory.Register(r, "panics", func(chart.Scope, struct{}) {
		var p *WebProps
		p.Host = "nowhere"
	})
	return r
}

// parse is a configuration that has no mistakes of its own.
func parse(t *testing.T, text string) factory.Config {
	t.Helper()
	config, err := factory.Parse("app.yaml", []byte(text), factory.Variables{})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestBuildMistakes(t *testing.T) {
	const good = "host: example.org, limits: {cpu: 1}"
	for name, tc := range map[string]struct {
		reason, text string
		options      factory.Options
		want         []string
	}{
		"Chart": {
			"a chart that nobody registered", `
applications:
  - {name: a, namespace: x, chart: {type: wep}}`,
			factory.Options{},
			[]string{`app.yaml:3: applications[0].chart.type: unknown chart "wep"; did you mean "web"?`},
		},
		"NoChart": {
			"an application of nothing", `
applications:
  - {name: a, namespace: x}`,
			factory.Options{},
			[]string{`app.yaml:3: applications[0].chart: a has no chart; set chart.type to one of: panics, web`},
		},
		"Prop": {
			"props are decoded strictly, and each application by itself", `
applications:
  - name: a
    namespace: x
    chart:
      type: web
      props: {hots: example.org, replicas: two}
  - name: b
    namespace: x
    chart:
      type: web
      props: {}
  - name: c
    chart: {type: web, props: {host: forbidden, limits: {cpu: "1"}}}`,
			factory.Options{},
			[]string{
				`app.yaml:7: applications[0].chart.props.hots: unknown field "hots"; did you mean "host"?`,
				`app.yaml:7: applications[0].chart.props.replicas: "two" is not a whole number of the type int32`,
				`app.yaml:12: applications[1].chart.props.host: the chart requires a value, and there is none`,
				`app.yaml:12: applications[1].chart.props.limits.cpu: the chart requires a value, and there is none`,
				`app.yaml:13: applications[2]: c has no namespace`,
				`app.yaml:14: applications[2].chart.props: host: it is forbidden`,
			},
		},
		"Variable": {
			"a variable that is unset is named with the field, and is never an empty text", `
applications:
  - name: a
    namespace: x
    chart: {type: web, props: {host: example.org, limits: {cpu: "1"}}}`,
			factory.Options{Variables: factory.Variables{}},
			[]string{`app.yaml:5: applications[0].chart.props.token: the environment variable WEB_TOKEN is unset; export it, or add it to a file of variables`},
		},
		"Cycle": {
			"applications that wait for each other are spelled out", `
applications:
  - {name: a, namespace: x, chart: {type: web, props: {` + good + `}}, dependencies: [b]}
  - {name: b, namespace: x, chart: {type: web, props: {` + good + `}}, dependencies: [c, d]}
  - {name: c, namespace: x, chart: {type: web, props: {` + good + `}}, dependencies: [a]}
  - {name: d, namespace: x, chart: {type: web, props: {` + good + `}}}`,
			factory.Options{Waves: true},
			[]string{`app.yaml:3: applications[0].dependencies: applications wait for each other: a -> b -> c -> a`},
		},
		"Dependency": {
			"a dependency that is not there", `
applications:
  - {name: web, namespace: x, chart: {type: web, props: {` + good + `}}, dependencies: [postgers]}
  - {name: postgres, namespace: x, chart: {type: web, props: {` + good + `}}}`,
			factory.Options{},
			[]string{`app.yaml:3: applications[0].dependencies[0]: unknown application "postgers"; did you mean "postgres"?`},
		},
		"Wave": {
			"a wave that contradicts a dependency", `
applications:
  - {name: a, namespace: x, chart: {type: web, props: {` + good + `}}, dependencies: [b], argocd: {syncWave: 5}}
  - {name: b, namespace: x, chart: {type: web, props: {` + good + `}}, argocd: {syncWave: 5}}`,
			factory.Options{Waves: true},
			[]string{`app.yaml:3: applications[0].argocd.syncWave: a is in wave 5, and waits for b in wave 5; make it 6 or more, or leave it out`},
		},
		"Names": {
			"two packages of one name", `
environments: {dev: {}}
applications:
  - {name: a, namespace: x, chart: {type: web, props: {` + good + `}}, environments: {dev: {}}}
  - {name: a-dev, namespace: x, chart: {type: web, props: {` + good + `}}}
  - {namespace: x, chart: {type: web}}`,
			factory.Options{},
			[]string{
				`app.yaml:5: applications[1].name: the package "a-dev" is there already, from applications[0]`,
				`app.yaml:6: applications[2]: the application has no name`,
			},
		},
		"Environment": {
			"environments that are unknown, or inherit from each other", `
environments: {dev: {inherits: staging}, staging: {inherits: dev}, qa: {inherits: prodution}, production: {}}
applications:
  - {name: a, namespace: x, chart: {type: web, props: {` + good + `}}, environment: devl}`,
			factory.Options{Environments: []string{"prod"}},
			[]string{
				`app.yaml:2: environments.staging.inherits: environments inherit from each other: dev -> staging -> dev`,
				`app.yaml:2: environments.qa.inherits: unknown environment "prodution"; did you mean "production"?`,
				`app.yaml:2: environments.dev.inherits: environments inherit from each other: staging -> dev -> staging`,
				`app.yaml:4: applications[0].environment: unknown environment "devl"; did you mean "dev"?`,
				`unknown environment "prod"; there are: dev, production, qa, staging`,
			},
		},
		"Elsewhere": {
			"a dependency of another environment", `
environments: {dev: {}, staging: {}}
applications:
  - {name: a, namespace: x, chart: {type: web, props: {` + good + `}}, environments: {dev: {}, staging: {}}, dependencies: [b]}
  - {name: b, namespace: x, chart: {type: web, props: {` + good + `}}, environments: {dev: {}}}`,
			factory.Options{},
			[]string{`app.yaml:4: applications[0].dependencies[0]: a-staging is in the environment staging, and b is only in: dev; name one of its packages, as b-dev`},
		},
		"Destination": {
			"a cluster has a name or a server", `
applications:
  - {name: a, namespace: x, chart: {type: web, props: {` + good + `}}, destination: {name: one, server: "https://one"}}`,
			factory.Options{},
			[]string{`app.yaml:3: applications[0].destination: a destination has a name or a server, not both: one, https://one`},
		},
		"Panic": {
			"a chart that panics does not hide the mistakes of others", `
applications:
  - {name: a, namespace: x, chart: {type: panics}}
  - {name: b, chart: {type: panics}}`,
			factory.Options{},
			[]string{
				`app.yaml:3: applications[0].chart: making the chart "panics": it panicked at FILE: runtime error: invalid memory address or nil pointer dereference`,
				`app.yaml:4: applications[1]: b has no namespace`,
				`app.yaml:4: applications[1].chart: making the chart "panics": it panicked at FILE: runtime error: invalid memory address or nil pointer dereference`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(tc.text, "cpu: 1}", `cpu: "1"}`)
			if tc.options.Variables == nil {
				tc.options.Variables = factory.Variables{"WEB_TOKEN": "secret"}
			}
			_, err := factory.Build(registry(), parse(t, text), tc.options)
			got := lines(err)
			for i := range got {
				if before, after, found := strings.Cut(got[i], "panicked at "); found {
					file, rest, _ := strings.Cut(after, ".go:")
					_, rest, _ = strings.Cut(rest, ":")
					if !strings.HasSuffix(file, "build_test") {
						t.Errorf("it panicked in %s, want the line of the chart", file)
					}
					got[i] = before + "panicked at FILE:" + rest
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRegisterMistakes(t *testing.T) {
	r := registry()
	factory.Register(r, "web", func(chart.Scope, struct{}) {})
	factory.Register(r, "", func(chart.Scope, struct{}) {})
	factory.Register(r, "text", func(chart.Scope, string) {})
	_, err := factory.Build(r, factory.Config{}, factory.Options{})
	want := []string{
		`registering chart "web": the name is taken`,
		`registering a chart of struct {}: its name is empty`,
		`registering chart "text": its props are string, want a struct`,
	}
	if diff := cmp.Diff(want, lines(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// objects are the objects of built packages by package and kind.
func objects(t *testing.T, built []packages.Package) map[string]map[string]any {
	t.Helper()
	result, err := packages.Synth(built, packages.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for _, pkg := range result.Packages {
		for _, r := range []*chart.Result{pkg.Application, pkg.Manifests} {
			if r == nil {
				continue
			}
			for _, m := range r.Manifests() {
				all[pkg.Name+" "+m.Kind()] = m.Object
			}
		}
	}
	return all
}

func build(t *testing.T, config factory.Config, options factory.Options) []packages.Package {
	t.Helper()
	if options.Variables == nil {
		options.Variables = factory.Variables{"WEB_TOKEN": "secret"}
	}
	built, err := factory.Build(registry(), config, options)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

const shop = `
source: {repoURL: "https://example.org/deploy.git", path: "packages/{name}/manifests"}
argocd:
  labels: {team: shop, tier: none}
  syncOptions: [CreateNamespace=true]
environments:
  dev: {images: {web: "web:dev"}, destination: {name: dev}}
  staging: {inherits: dev, destination: {name: staging}, argocd: {labels: {tier: two}}}
applications:
  - name: web
    namespace: shop
    chart: {type: web, props: {host: example.org, limits: {cpu: "1"}, replicas: 2}}
    dependencies: [db, queue]
    argocd: {labels: {tier: one}, syncPolicy: {automated: {prune: true}}}
    environments:
      dev: {}
      staging:
        name: web-final
        namespace: shop-staging
        props: {host: staging.example.org, limits: {cpu: "2"}}
        argocd: {labels: {tier: three}, namespace: argo}
  - name: queue
    namespace: shop
    chart: {type: web, props: {host: q, image: q, limits: {cpu: "1"}}}
    environments: {dev: {}, staging: {}}
  - name: db
    namespace: shop
    chart: {type: web, props: {host: db, image: db, limits: {cpu: "1"}}}
    destination: {server: "https://db"}
`

func TestEnvironments(t *testing.T) {
	all := objects(t, build(t, parse(t, shop), factory.Options{Waves: true}))
	want := map[string]any{
		"host": "staging.example.org", "token": "secret", "cpu": "2", "image": "web:dev", "environment": "staging", "variable": "secret",
	}
	if diff := cmp.Diff(want, all["web-final ConfigMap"]["data"]); diff != "" {
		t.Errorf("props of the override (-want +got):\n%s", diff)
	}
	application := map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{
			"name": "web-final", "namespace": "argo", "labels": map[string]any{"team": "shop", "tier": "three"},
			"annotations": map[string]any{
				"argocd.argoproj.io/sync-wave": "1",
				"headgate.dev/depends-on":      "Application/argocd/db, Application/argocd/queue-staging",
			},
		},
		"spec": map[string]any{
			"destination": map[string]any{"name": "staging", "namespace": "shop-staging"}, "project": "default",
			"source":     map[string]any{"path": "packages/web-final/manifests", "repoURL": "https://example.org/deploy.git", "targetRevision": "HEAD"},
			"syncPolicy": map[string]any{"automated": map[string]any{"prune": true}, "syncOptions": []any{"CreateNamespace=true"}},
		},
	}
	if diff := cmp.Diff(application, all["web-final Application"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := all["web-dev Application"]["metadata"].(map[string]any)["annotations"].(map[string]any)["headgate.dev/depends-on"]; got != "Application/db, Application/queue-dev" {
		t.Errorf("web-dev waits for %v", got)
	}
	if got := all["db Application"]["spec"].(map[string]any)["destination"]; !cmp.Equal(got, map[string]any{"namespace": "shop", "server": "https://db"}) {
		t.Errorf("db goes to %v", got)
	}
}

func TestOrderIsThatOfDependencies(t *testing.T) {
	var names []string
	for _, pkg := range build(t, parse(t, shop), factory.Options{}) {
		names = append(names, pkg.Name)
	}
	if diff := cmp.Diff([]string{"db", "queue-dev", "web-dev", "queue-staging", "web-final"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	names = nil
	for _, pkg := range build(t, parse(t, shop), factory.Options{Environments: []string{"dev"}}) {
		names = append(names, pkg.Name)
	}
	if diff := cmp.Diff([]string{"db", "queue-dev", "web-dev"}, names); diff != "" {
		t.Errorf("one environment (-want +got):\n%s", diff)
	}
}

func TestPropsInGo(t *testing.T) {
	token := WebProps{Host: "typed", Image: "i", Token: "own", Limits: Limits{CPU: "1"}}
	for name, tc := range map[string]struct {
		reason      string
		props, over any
		want        string
	}{
		"Value":    {"a value of the type", token, nil, "typed own"},
		"Pointer":  {"a pointer to one", &token, nil, "typed own"},
		"Map":      {"a map", map[string]any{"host": "map", "image": "i", "limits": map[string]any{"cpu": "1"}}, nil, "map secret"},
		"Merged":   {"an override of some fields of a value", token, map[string]any{"host": "merged"}, "merged own"},
		"Replaced": {"an override by a value", map[string]any{"host": 5}, token, "typed own"},
		"Removed":  {"a null removes, so that the variable counts", token, map[string]any{"token": nil}, "typed secret"},
	} {
		t.Run(name, func(t *testing.T) {
			config := factory.Config{
				Environments: map[string]factory.Environment{"dev": {}},
				Applications: []factory.Application{{
					Name: "web", Namespace: "x", Chart: factory.Chart{Type: "web", Props: tc.props},
					Environments: map[string]factory.Override{"dev": {Props: tc.over}},
				}},
			}
			data := objects(t, build(t, config, factory.Options{}))["web-dev ConfigMap"]["data"].(map[string]any)
			if got := data["host"].(string) + " " + data["token"].(string); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
	config := factory.Config{Applications: []factory.Application{{Name: "web", Namespace: "x", Chart: factory.Chart{Type: "web", Props: 5}}}}
	if _, err := factory.Build(nil, factory.Config{}, factory.Options{}); err != nil {
		t.Errorf("without charts and applications: %v", err)
	}
	_, err := factory.Build(registry(), config, factory.Options{Variables: factory.Variables{"WEB_TOKEN": "t"}})
	if want := []string{`applications[0].chart.props: the props are a int; the chart takes factory_test.WebProps`}; !cmp.Equal(lines(err), want) {
		t.Errorf("%q, want %q", lines(err), want)
	}
}

func TestErrorsOfCharts(t *testing.T) {
	config := parse(t, `
environments: {dev: {images: {wep: x}}}
applications:
  - {name: a, namespace: x, environment: dev, chart: {type: web, props: {host: h, token: t, limits: {cpu: "1"}}}}
  - {name: b, namespace: x, chart: {type: web, props: {host: h, token: t, limits: {cpu: "1"}}}}
`)
	built, err := factory.Build(registry(), config, factory.Options{Variables: factory.Variables{}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = packages.Synth(built, packages.Settings{})
	for _, want := range []string{
		"package a: a: ", `unknown image "web"; did you mean "wep"?; add it to environments.dev.images`,
		"package b: b: ", `unknown image "web"; there are none; the application belongs to no environment`,
		"data.variable: the environment variable WEB_TOKEN is unset",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
}

func TestDestinationRule(t *testing.T) {
	rule := factory.EnvironmentLabel{Environments: []string{"dev", "staging"}, Suffix: "-vcluster"}
	for name, tc := range map[string]struct {
		reason, label string
		destination   factory.Destination
		want          map[string]any
	}{
		"Rule":  {"the label names the cluster", "dev", factory.Destination{}, map[string]any{"namespace": "x", "name": "dev-vcluster"}},
		"Other": {"an environment without a cluster of its own", "host", factory.Destination{}, map[string]any{"namespace": "x", "server": "https://kubernetes.default.svc"}},
		"Given": {"what the configuration says wins", "dev", factory.Destination{Name: "mine"}, map[string]any{"namespace": "x", "name": "mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			config := factory.Config{Applications: []factory.Application{{
				Name: "web", Namespace: "x", Destination: tc.destination, Chart: factory.Chart{Type: "web", Props: WebProps{Host: "h", Image: "i", Limits: Limits{CPU: "1"}}},
				ArgoCD: factory.ArgoCD{Labels: map[string]string{"app.kubernetes.io/environment": tc.label}},
			}}}
			app := objects(t, build(t, config, factory.Options{Rule: rule}))["web Application"]
			if got := app["spec"].(map[string]any)["destination"]; !cmp.Equal(got, tc.want) {
				t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestValues(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte("# kept as it is\na:   1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sources := factory.ArgoCD{Sources: []v1alpha1.ApplicationSource{{RepoURL: "https://charts.example.org", Chart: "vault", TargetRevision: "1.0.0"}}}
	config := factory.Config{
		Environments: map[string]factory.Environment{"dev": {}},
		Applications: []factory.Application{
			{Name: "file", Namespace: "x", ArgoCD: sources, ValuesFile: file},
			{
				Name: "merged", Namespace: "x", ArgoCD: sources, Values: map[string]any{"a": map[string]any{"b": 1, "c": 2}, "yes": "yes"},
				Environments: map[string]factory.Override{"dev": {Values: map[string]any{"a": map[string]any{"b": 3}}}},
			},
		},
	}
	got := map[string]string{}
	for _, pkg := range build(t, config, factory.Options{}) {
		got[pkg.Name] = string(pkg.Values)
	}
	want := map[string]string{"file": "# kept as it is\na:   1\n", "merged-dev": "a:\n  b: 3\n  c: 2\n\"yes\": \"yes\"\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	config.Applications[0].Values = map[string]any{"a": 1}
	_, err := factory.Build(registry(), config, factory.Options{})
	if want := []string{"applications[0].valuesFile: file has values and a file of values; give one of them"}; !cmp.Equal(lines(err), want) {
		t.Errorf("%q, want %q", lines(err), want)
	}
}

// PortsProps have required fields in lists, maps and behind pointers.
type PortsProps struct {
	Ports  []Port          `json:"ports"`
	ByName map[string]Port `json:"byName"`
	Best   *Port           `json:"best"`
	Ratio  float64         `json:"ratio"`
	Names  []string        `json:"names"`
}

// Port is a port.
type Port struct {
	Number int32 `json:"number" factory:"required"`
}

func TestPropsWithin(t *testing.T) {
	r := factory.NewRegistry()
	var got PortsProps
	factory.Register(r, "ports", func(_ chart.Scope, p PortsProps) { got = p })
	config := func(props any) factory.Config {
		return factory.Config{Applications: []factory.Application{{Name: "a", Namespace: "x", Chart: factory.Chart{Type: "ports", Props: props}}}}
	}
	_, err := factory.Build(r, config(PortsProps{Ports: []Port{{1}, {}}, ByName: map[string]Port{"b": {}, "a": {}}, Best: &Port{}}), factory.Options{})
	want := []string{
		"applications[0].chart.props.best.number: the chart requires a value, and there is none",
		"applications[0].chart.props.byName.a.number: the chart requires a value, and there is none",
		"applications[0].chart.props.byName.b.number: the chart requires a value, and there is none",
		"applications[0].chart.props.ports[1].number: the chart requires a value, and there is none",
	}
	if diff := cmp.Diff(want, lines(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	props := map[string]any{
		"ports": []map[string]int{{"number": 80}}, "byName": map[string]Port{"a": {Number: 81}}, "best": map[string]any{"number": uint16(82)},
		"ratio": float32(0.5), "names": []string{"x"},
	}
	if _, err := factory.Build(r, config(props), factory.Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(PortsProps{Ports: []Port{{80}}, ByName: map[string]Port{"a": {81}}, Best: &Port{82}, Ratio: 0.5, Names: []string{"x"}}, got); diff != "" {
		t.Errorf("a map as Go has it (-want +got):\n%s", diff)
	}
}

// TestHeadgateReadsTheOrder holds the annotation against what the engine makes of it.
func TestHeadgateReadsTheOrder(t *testing.T) {
	all := objects(t, build(t, parse(t, shop), factory.Options{}))
	annotations := all["web-final Application"]["metadata"].(map[string]any)["annotations"].(map[string]any)
	got, err := engine.ParseDependsOn(annotations["headgate.dev/depends-on"].(string), "argo")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range got {
		names = append(names, one.Unit.String())
	}
	if diff := cmp.Diff([]string{"Application/argocd/db", "Application/argocd/queue-staging"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSchemas validates objects against the schemas of Kubernetes, unless the checks of the options say otherwise.
func TestSchemas(t *testing.T) {
	r := factory.NewRegistry()
	factory.Register(r, "typo", func(scope chart.Scope, _ struct{}) {
		chart.Add(scope, "one", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "daat": map[string]any{}})
	})
	config := factory.Config{Applications: []factory.Application{{Name: "a", Namespace: "a", Chart: factory.Chart{Type: "typo"}}}}
	built, err := factory.Build(r, config, factory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = packages.Synth(built, packages.Settings{})
	if got := lines(err); len(got) != 1 || !strings.Contains(got[0], `a/one: daat: `) || !strings.Contains(got[0], "build_test.go:") {
		t.Errorf("an unknown field, with the path and the line: %q", got)
	}
	built, err = factory.Build(r, config, factory.Options{Settings: chart.Settings{Checks: []chart.Check{}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := packages.Synth(built, packages.Settings{}); err != nil {
		t.Errorf("without checks: %v", err)
	}
}
