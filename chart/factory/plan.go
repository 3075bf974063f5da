package factory

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// plan is one package that is going to be built: an application in one environment, or in none.
type plan struct {
	app         Application
	path        string
	name        string
	environment Environment
	override    Override
	props       any
	argocd      ArgoCD
	needs       []*plan
	wave        *int
}

// at is the path of a part of the application in the configuration.
func (p *plan) at(part string) string { return member(p.path, part) }

// plans are the packages of a configuration, in the order of its applications, and of environments by their names.
func plans(p *problems, config Config) []*plan {
	var all []*plan
	taken := map[string]string{}
	environments := inherit(p, config.Environments)
	for i, app := range config.Applications {
		path := element("applications", i)
		if app.Name == "" {
			p.add(path, "the application has no name")
			continue
		}
		for _, one := range spread(p, app, path, environments) {
			if first, known := taken[one.name]; known {
				p.add(one.at("name"), "the package %q is there already, from %s", one.name, first)
				continue
			}
			taken[one.name] = path
			one.argocd = overlay(overlay(overlay(config.ArgoCD, one.environment.ArgoCD), app.ArgoCD), one.override.ArgoCD)
			all = append(all, one)
		}
	}
	return all
}

// spread makes a plan for each environment of an application.
func spread(p *problems, app Application, path string, environments map[string]Environment) []*plan {
	if len(app.Environments) == 0 {
		one := &plan{app: app, path: path, name: app.Name, props: app.Chart.Props}
		if app.Environment != "" {
			one.environment = environment(p, app.Environment, member(path, "environment"), environments)
		}
		return []*plan{one}
	}
	if app.Environment != "" {
		p.add(member(path, "environment"), "an application has an environment or environments, not both")
	}
	var all []*plan
	for _, name := range keys(app.Environments) {
		override := app.Environments[name]
		one := &plan{app: app, path: path, name: app.Name + "-" + name, props: app.Chart.Props, override: override}
		one.environment = environment(p, name, member(path, "environments."+name), environments)
		if override.Name != "" {
			one.name = override.Name
		}
		if override.Namespace != "" {
			one.app.Namespace = override.Namespace
		}
		all = append(all, one)
	}
	return all
}

// environment is the one of a name.
func environment(p *problems, name, path string, environments map[string]Environment) Environment {
	found, known := environments[name]
	if !known {
		p.add(path, "%s", unknown("environment", name, keys(environments)))
		return Environment{Name: name}
	}
	return found
}

// inherit are the environments with what they have from others.
func inherit(p *problems, declared map[string]Environment) map[string]Environment {
	whole := map[string]Environment{}
	for _, name := range keys(declared) {
		whole[name] = inherited(p, declared, name, nil)
	}
	return whole
}

func inherited(p *problems, declared map[string]Environment, name string, around []string) Environment {
	e, path := declared[name], "environments."+name
	e.Name = name
	around = append(around, name)
	switch _, known := declared[e.Inherits]; {
	case e.Inherits == "":
		return e
	case slices.Contains(around, e.Inherits):
		p.add(member(path, "inherits"), "environments inherit from each other: %s", strings.Join(append(around, e.Inherits), " -> "))
		return e
	case !known:
		p.add(member(path, "inherits"), "%s", unknown("environment", e.Inherits, keys(declared)))
		return e
	}
	from := inherited(p, declared, e.Inherits, around)
	e.Images = union(from.Images, e.Images)
	e.Values = union(from.Values, e.Values)
	e.ArgoCD = overlay(from.ArgoCD, e.ArgoCD)
	if e.Replicas == nil {
		e.Replicas = from.Replicas
	}
	if e.Destination == (Destination{}) {
		e.Destination = from.Destination
	}
	if e.Source == (Source{}) {
		e.Source = from.Source
	}
	return e
}

// union are the entries of both; those of the second win.
func union(base, over map[string]string) map[string]string {
	if len(base) == 0 {
		return over
	}
	all := maps.Clone(base)
	maps.Copy(all, over)
	return all
}

// overlay lays one description over another: labels and annotations entry by entry, all else replaces what is under it.
func overlay(base, over ArgoCD) ArgoCD {
	over.Labels = union(base.Labels, over.Labels)
	over.Annotations = union(base.Annotations, over.Annotations)
	over.Name = first(over.Name, base.Name)
	over.Namespace = first(over.Namespace, base.Namespace)
	over.Project = first(over.Project, base.Project)
	if over.SyncWave == nil {
		over.SyncWave = base.SyncWave
	}
	if over.Finalizers == nil {
		over.Finalizers = base.Finalizers
	}
	if over.SyncPolicy == nil {
		over.SyncPolicy = base.SyncPolicy
	}
	if over.SyncOptions == nil {
		over.SyncOptions = base.SyncOptions
	}
	if over.Retry == nil {
		over.Retry = base.Retry
	}
	if over.IgnoreDifferences == nil {
		over.IgnoreDifferences = base.IgnoreDifferences
	}
	if over.Sources == nil {
		over.Sources = base.Sources
	}
	return over
}

// first is the first text that is not empty.
func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// String is the package as errors name it.
func (p *plan) String() string { return fmt.Sprintf("%s (%s)", p.name, p.path) }
