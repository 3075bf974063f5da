package factory

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/argocd"
	"github.com/headgate-dev/headgate/chart/packages"
	"github.com/headgate-dev/headgate/chart/schema"
)

// defaultNamespace is that of Applications whose configuration names none.
const defaultNamespace = "argocd"

// Options say how packages are built.
type Options struct {
	// Settings of the App of each package: names, checks, resolvers such as waves.ByKind. Without Checks, objects are validated against
	// the schemas of the newest Kubernetes that the SDK has; an empty list of checks, not nil, validates nothing.
	Settings chart.Settings
	// Variables are for Env and for props with the tag env; those of the process if they are nil.
	Variables Variables
	// Environments limits the packages to those of some environments and to those of none. All are built if it is empty.
	Environments []string
	// Waves computes the sync waves of Applications that have none, so that each comes after those that it waits for. The annotation
	// headgate.dev/depends-on says it as well, exactly; waves order Applications that another Application deploys.
	Waves bool
	// Rule gives destinations to packages whose configuration has none.
	Rule DestinationRule
	// ChartID is the name of the chart in the App of each package, and begins the names of objects that have none of their own. It
	// is the name of the application if empty.
	ChartID string
}

// Build makes the packages of a configuration, each after those that it waits for. Its error is all mistakes of all applications,
// but for those that charts report about their objects: packages.Synth has those.
func Build(r *Registry, config Config, options Options) ([]packages.Package, error) {
	if r == nil {
		r = NewRegistry()
	}
	p := &problems{origin: config.origin, errors: slices.Clone(r.errors)}
	b := &builder{problems: p, registry: r, options: options}
	config = b.images(config)
	b.config = config
	all := plans(p, config)
	connect(p, all)
	order := sorted(p, all)
	if options.Waves {
		waves(p, order)
	} else {
		for _, one := range order {
			one.wave = one.argocd.SyncWave
		}
	}
	for _, name := range options.Environments {
		if _, known := config.Environments[name]; !known {
			p.errors = append(p.errors, &chart.Error{Err: errors.New(unknown("environment", name, keys(config.Environments)))})
		}
	}
	var built []packages.Package
	for _, one := range order {
		pkg := b.build(one)
		if len(options.Environments) == 0 || one.environment.Name == "" || slices.Contains(options.Environments, one.environment.Name) {
			built = append(built, pkg)
		}
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return built, nil
}

// Main is the main function of a module whose applications are in a configuration file, with the flags of packages.Main:
//
//	func main() { os.Exit(factory.Main(registry(), "applications.yaml", factory.Options{}, packages.Settings{})) }
func Main(r *Registry, file string, options Options, settings packages.Settings) int {
	return packages.Main(settings, func() ([]packages.Package, error) { return Read(r, file, options) })
}

// Read loads a configuration and builds its packages. Its error is all mistakes of both.
func Read(r *Registry, file string, options Options) ([]packages.Package, error) {
	config, loading := Load(file, options.Variables)
	built, building := Build(r, config, options)
	return built, chart.Join(loading, building)
}

type builder struct {
	*problems
	registry *Registry
	config   Config
	options  Options
}

// build makes one package. What is wrong with it is kept.
func (b *builder) build(one *plan) packages.Package {
	if one.app.Namespace == "" {
		b.add(one.path, "%s has no namespace", one.name)
	}
	made := packages.Package{Name: one.name, Application: b.application(one), Values: b.values(one)}
	maker, known := b.registry.makers[one.app.Chart.Type]
	switch {
	case one.app.Chart.Type == "" && len(one.argocd.Sources) > 0:
		return made // an Application of what is elsewhere
	case one.app.Chart.Type == "":
		b.add(one.at("chart"), "%s has no chart; set chart.type to one of: %s", one.name, strings.Join(b.registry.Names(), ", "))
		return made
	case !known:
		b.add(one.at("chart.type"), "%s", unknown("chart", one.app.Chart.Type, b.registry.Names()))
		return made
	}
	props, ok := propsOf(b.problems, maker.props(), b.options.Variables, one)
	if !ok {
		return made
	}
	app := b.app()
	made.Manifests = app
	scope := chart.New(app, first(b.options.ChartID, one.app.Name), chart.Props{Namespace: one.app.Namespace})
	if err := call(maker, scope, props); err != nil {
		b.add(one.at("chart"), "making the chart %q: %w", one.app.Chart.Type, err)
	}
	return made
}

// app is an App with the settings, and with the resolver of Env after those of the user: what they answer may refer to variables.
func (b *builder) app() *chart.App {
	settings := b.options.Settings
	if settings.Checks == nil {
		settings.Checks = []chart.Check{schema.Check{}}
	}
	settings.Resolvers = append(slices.Clone(settings.Resolvers), b.options.Variables)
	return chart.NewApp(settings)
}

// call makes a chart. A panic in it is an error with its line, so that other charts are made too.
func call(m maker, scope chart.Scope, props reflect.Value) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("it panicked at %s: %v", panicked(), cause)
		}
	}()
	m.build(scope, props)
	return nil
}

// panicked is the line that a deferred function recovers from.
func panicked() chart.Position {
	var counters [64]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(2, counters[:])])
	seen := false
	for {
		frame, more := frames.Next()
		if seen && !strings.HasPrefix(frame.Function, "runtime.") {
			return chart.Position{File: frame.File, Line: frame.Line}
		}
		seen = seen || frame.Function == "runtime.gopanic"
		if !more {
			return chart.Position{}
		}
	}
}

// values are the bytes of values.yaml.
func (b *builder) values(one *plan) []byte {
	values := merge(one.app.Values, one.override.Values)
	switch {
	case len(values) > 0 && one.app.ValuesFile != "":
		b.add(one.at("valuesFile"), "%s has values and a file of values; give one of them", one.name)
	case one.app.ValuesFile != "":
		data, err := os.ReadFile(one.app.ValuesFile)
		if err != nil {
			b.add(one.at("valuesFile"), "reading values: %w", err)
		}
		return data
	case len(values) > 0:
		data, err := document(values)
		if err != nil {
			b.add(one.at("values"), "writing values: %w", err)
		}
		return data
	}
	return nil
}

// document is an object as YAML, whatever types its values have in Go.
func document(object map[string]any) ([]byte, error) {
	data, err := json.Marshal(plain(object))
	if err != nil {
		return nil, err
	}
	var clean map[string]any
	if err := json.Unmarshal(data, &clean); err != nil {
		return nil, err
	}
	return chart.YAML(chart.Manifest{Object: clean}), nil
}

// application is the App with the Application of a package.
func (b *builder) application(one *plan) *chart.App {
	a := one.argocd
	props := argocd.ApplicationProps{
		Name: first(a.Name, one.name), Namespace: first(a.Namespace, defaultNamespace), Labels: a.Labels,
		Annotations: union(waiting(one), a.Annotations), Finalizers: a.Finalizers, Wave: one.wave, Project: a.Project,
		Sources: a.Sources, SyncPolicy: policy(a), IgnoreDifferences: a.IgnoreDifferences,
	}
	to := b.destination(one)
	props.Destination = v1alpha1.ApplicationDestination{Name: to.Name, Server: to.Server, Namespace: one.app.Namespace}
	if len(props.Sources) == 0 {
		props.Sources = []v1alpha1.ApplicationSource{b.source(one)}
	}
	app := b.app()
	argocd.Application(chart.New(app, one.name, chart.Props{}), "application", props)
	return app
}

// waiting is the annotation with the dependencies of a package, if there are any.
func waiting(one *plan) map[string]string {
	if len(one.needs) == 0 {
		return nil
	}
	return map[string]string{argocd.DependsOn: dependencies(one)}
}

// policy is the sync policy with the options and the retries that it does not have itself.
func policy(a ArgoCD) *v1alpha1.SyncPolicy {
	made := a.SyncPolicy.DeepCopy()
	if made == nil && (a.SyncOptions != nil || a.Retry != nil) {
		made = &v1alpha1.SyncPolicy{}
	}
	if made != nil && made.SyncOptions == nil {
		made.SyncOptions = a.SyncOptions
	}
	if made != nil && made.Retry == nil {
		made.Retry = a.Retry
	}
	return made
}

// source is where the manifests of the package are.
func (b *builder) source(one *plan) v1alpha1.ApplicationSource {
	made := packages.Source(one.name)
	for _, from := range []Source{b.config.Source, one.environment.Source} {
		made.RepoURL = first(from.RepoURL, made.RepoURL)
		made.Path = first(from.Path, made.Path)
		made.TargetRevision = first(from.TargetRevision, made.TargetRevision)
	}
	named := strings.NewReplacer("{name}", one.name)
	made.RepoURL, made.Path = named.Replace(made.RepoURL), named.Replace(made.Path)
	return made
}
