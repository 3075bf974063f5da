package factory

import (
	"fmt"
	"slices"
	"strings"
)

// connect finds the packages that each package waits for. The name of an application stands for its package in the same environment,
// or for all of its packages if the one that waits belongs to none; the name of a package stands for that one.
func connect(p *problems, all []*plan) {
	d := directory{problems: p, packages: map[string]*plan{}, apps: map[string][]*plan{}}
	for _, one := range all {
		d.packages[one.name] = one
		d.apps[one.app.Name] = append(d.apps[one.app.Name], one)
	}
	for _, one := range all {
		for i, name := range one.app.Dependencies {
			one.needs = append(one.needs, d.find(one, name, element(one.at("dependencies"), i))...)
		}
		for i, name := range one.override.Dependencies {
			at := element(one.at("environments."+one.environment.Name+".dependencies"), i)
			one.needs = append(one.needs, d.find(one, name, at)...)
		}
	}
}

// directory has packages by their names, and by those of their applications.
type directory struct {
	*problems
	packages map[string]*plan
	apps     map[string][]*plan
}

// find are the packages that one name stands for.
func (d directory) find(one *plan, name, path string) []*plan {
	apps, isApp := d.apps[name]
	pkg, isPackage := d.packages[name]
	switch {
	case !isApp && !isPackage:
		d.add(path, "%s", unknown("application", name, slices.Compact(slices.Sorted(slices.Values(append(keys(d.packages), keys(d.apps)...))))))
		return nil
	case !isApp:
		return []*plan{pkg}
	case len(apps[0].app.Environments) == 0, one.environment.Name == "":
		return apps
	}
	var there []string
	for _, candidate := range apps {
		if candidate.environment.Name == one.environment.Name {
			return []*plan{candidate}
		}
		there = append(there, candidate.environment.Name)
	}
	d.add(path, "%s is in the environment %s, and %s is only in: %s; name one of its packages, as %s", one.name, one.environment.Name, name,
		strings.Join(there, ", "), apps[0].name)
	return nil
}

// sorted are the packages in an order in which each comes after those that it waits for, else as they are. Packages that wait for
// each other are an error that spells the circle out, once.
func sorted(p *problems, all []*plan) []*plan {
	walk := &walk{problems: p, done: map[*plan]bool{}, around: map[*plan]bool{}}
	for _, one := range all {
		walk.visit(one)
	}
	return walk.order
}

type walk struct {
	*problems
	done map[*plan]bool
	// path is the packages that are being visited, and around the same as a set.
	path   []*plan
	around map[*plan]bool
	order  []*plan
}

func (w *walk) visit(one *plan) {
	if w.around[one] {
		var names []string
		for _, member := range append(slices.Clone(w.path[slices.Index(w.path, one):]), one) {
			names = append(names, member.name)
		}
		w.add(one.at("dependencies"), "applications wait for each other: %s", strings.Join(names, " -> "))
		return
	}
	if w.done[one] {
		return
	}
	w.path, w.around[one] = append(w.path, one), true
	for _, need := range one.needs {
		w.visit(need)
	}
	w.path, w.around[one] = w.path[:len(w.path)-1], false
	w.done[one] = true
	w.order = append(w.order, one)
}

// waves gives a wave to every package of a sorted list that has none and waits for others, or is waited for: one more than the
// latest that it waits for. A wave that is given and not after those is an error.
func waves(p *problems, order []*plan) {
	for _, one := range order {
		one.wave = one.argocd.SyncWave
		for _, need := range one.needs {
			if need.wave == nil {
				continue // a circle, which is an error already
			}
			switch after := *need.wave + 1; {
			case one.argocd.SyncWave != nil && *one.wave < after:
				p.add(one.at("argocd.syncWave"), "%s is in wave %d, and waits for %s in wave %d; make it %d or more, or leave it out",
					one.name, *one.wave, need.name, *need.wave, after)
			case one.argocd.SyncWave == nil && (one.wave == nil || *one.wave < after):
				one.wave = &after
			}
		}
		if one.wave == nil {
			one.wave = new(int)
		}
	}
}

// dependencies is the text of the annotation argocd.DependsOn for a package.
func dependencies(one *plan) string {
	var names []string
	for _, need := range one.needs {
		name := first(need.argocd.Name, need.name)
		if namespace := first(need.argocd.Namespace, defaultNamespace); namespace != first(one.argocd.Namespace, defaultNamespace) {
			name = namespace + "/" + name
		}
		names = append(names, fmt.Sprintf("Application/%s", name))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
