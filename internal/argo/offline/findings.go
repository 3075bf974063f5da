package offline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/argo/lint"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// Broken are the ApplicationSets with problems.
func (w *Walk) Broken() []dialect.Broken { return w.sets }

// Findings are what is wrong with Applications. Without kinds, nothing is said of namespaces.
func (w *Walk) Findings(all []dialect.OfflineUnit, kinds dialect.Scopes) []dialect.Finding {
	foreign := map[engine.UnitID]bool{}
	for i := range all {
		foreign[all[i].Unit.ID] = !w.known[all[i].Unit.ID]
	}
	var apps []lint.App
	for i := range all {
		if u := &all[i]; w.known[u.Unit.ID] {
			apps = append(apps, lintApp(u, kinds, foreign))
		}
	}
	var found []dialect.Finding
	for _, f := range lint.Check(apps) {
		one := dialect.Finding{Never: f.Never, Perhaps: f.Perhaps, Declared: f.Declared, Steps: []string{f.Text}, Unit: f.App, About: f.About}
		if f.About == (engine.ObjectID{}) && strings.HasPrefix(f.Text, f.App.String()+" depends on ") {
			one.Field = fmt.Sprintf("metadata.annotations[%q]", engine.DependsOn)
		}
		found = append(found, one)
	}
	return found
}

// lintApp is an Application as the checks see it. What foreign units are waited for is checked by their dialect.
func lintApp(u *dialect.OfflineUnit, kinds dialect.Scopes, foreign map[engine.UnitID]bool) lint.App {
	out := lint.App{ID: u.Unit.ID, Parent: u.Parent, Wave: u.Wave}
	if foreign[u.Parent] {
		out.Parent = engine.UnitID{}
	}
	cluster := u.Unit.Target.Cluster
	for _, name := range u.Namespaces {
		out.Namespace = engine.ObjectID{Kind: "Namespace", Name: name, Cluster: cluster}
	}
	out.Depends = slices.DeleteFunc(slices.Clone(u.Unit.Dependencies), func(d engine.Dependency) bool { return foreign[d.Unit] })
	for _, o := range u.Objects {
		hook := operation.HookOf(o)
		if hook.Skip {
			continue
		}
		object := lint.Object{ID: u.IDOf(o, kinds), Hook: hook.Is, Phase: hook.Order(), Wave: operation.WaveOf(o.GetAnnotations())}
		object.Defines, _ = engine.DefinedKind(o)
		if kinds != nil && object.ID.Namespace != "" {
			if namespaced, known := kinds.Scope(o.GroupVersionKind()); known && namespaced {
				object.Needs = engine.ObjectID{Kind: "Namespace", Name: object.ID.Namespace, Cluster: cluster}
			}
		}
		out.Objects = append(out.Objects, object)
	}
	return out
}

// Unread are the declarations in files that nothing leads to: they were not found on the way, and no Application read their
// file. Where there are no Applications, the repository is one of another dialect.
func (w *Walk) Unread() ([]string, error) {
	if len(w.known) == 0 || w.repository.Dir == "" {
		return nil, nil
	}
	found, err := Scan(w.repository.Dir)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, d := range found {
		if kind, name := d.Object.GetKind(), d.Object.GetName(); !w.read[d.File] && !w.names[kind+"/"+name] {
			problems = append(problems, fmt.Sprintf("%s: nothing leads to %s %s; add an Application that reads it, or delete it", d.File, kind, name))
		}
	}
	return problems, nil
}
