// Package packages writes charts as packages that idpbuilder and Headgate take: PACKAGE.yaml, the Application of Argo CD, beside
// PACKAGE/manifests with its objects and a kustomization.yaml, and PACKAGE/values.yaml for sources that read it.
//
// The same packages are the same bytes. Mistakes of one package do not hide those of others, and nothing is written while there are any.
package packages

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/chart"
)

// Package is one application.
type Package struct {
	// Name of the package, and of its files.
	Name string
	// Manifests is the App with its objects; nil for a package that is an Application alone.
	Manifests *chart.App
	// Application is the App with the Application, and with nothing else.
	Application *chart.App
	// Values are the bytes of values.yaml; none if they are nil.
	Values []byte
}

// Settings say how packages are written. The zero value is how idpbuilder's users have them.
type Settings struct {
	// Ordered lists the resources of a kustomization in the order of their dependencies, which is that in which kustomize writes
	// them; by the names of the files otherwise.
	Ordered bool
	// Layout of the manifests. The zero value is one file for each object, without numbers.
	Layout chart.Layout
}

// Result is what packages are written as.
type Result struct {
	// Files by their paths: those of a package together, the packages in the order in which they were given.
	Files []chart.File
	// Packages are the packages with their objects.
	Packages []Synthesized
}

// Synthesized is a package with its objects.
type Synthesized struct {
	Name string
	// Manifests is nil for a package without any.
	Manifests, Application *chart.Result
	// Warnings are what is suspicious, but valid.
	Warnings []string
}

// The names of files within a package.
const (
	Directory     = "manifests"
	Kustomization = "kustomization.yaml"
	Values        = "values.yaml"
)

// Synth makes the files of packages. Its error is all mistakes of all packages.
func Synth(all []Package, settings Settings) (*Result, error) {
	result, taken := &Result{}, map[string]string{}
	var mistakes []error
	for _, pkg := range all {
		folded := strings.ToLower(pkg.Name)
		if first, is := taken[folded]; is {
			mistakes = append(mistakes, within(pkg.Name, fmt.Errorf("the files of the package %q have the same names", first)))
			continue
		}
		taken[folded] = pkg.Name
		if err := result.add(pkg, settings); err != nil {
			mistakes = append(mistakes, err)
		}
	}
	if err := chart.Join(mistakes...); err != nil {
		return nil, err
	}
	return result, nil
}

// add makes the files of one package.
func (r *Result) add(pkg Package, settings Settings) error {
	if err := valid(pkg.Name); err != nil {
		return within(pkg.Name, err)
	}
	done := Synthesized{Name: pkg.Name}
	var mistakes []error
	if pkg.Application != nil {
		application, err := pkg.Application.Synth()
		mistakes = append(mistakes, within(pkg.Name, err))
		done.Application = application
	}
	if pkg.Manifests != nil {
		manifests, err := pkg.Manifests.Synth()
		mistakes = append(mistakes, within(pkg.Name, err))
		done.Manifests = manifests
	}
	if err := chart.Join(mistakes...); err != nil {
		return err
	}
	files, err := pkg.files(done, settings)
	if err != nil {
		return within(pkg.Name, err)
	}
	done.Warnings = pkg.warnings(done)
	r.Files = append(r.Files, pkg.mark(files)...)
	r.Packages = append(r.Packages, done)
	return nil
}

// within is the mistakes of a package, each with the name of the package in its path.
func within(name string, err error) error {
	var all chart.Errors
	if !errors.As(chart.Join(err), &all) {
		return nil
	}
	placed := make(chart.Errors, len(all))
	for i, one := range all {
		placed[i] = &chart.Error{Path: strings.TrimSuffix("package "+name+": "+one.Path, ": "), At: one.At, Err: one.Err}
	}
	return placed
}

// valid says what a name of a package cannot be.
func valid(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\:") || path.Clean(name) != name {
		return errors.New("the name is not valid for a file; use lower-case letters, digits and '-'")
	}
	return nil
}

// layout is that of the manifests.
func (s Settings) layout() chart.Layout {
	if s.Layout == (chart.Layout{}) {
		return chart.Layout{Split: chart.PerResource, NoNumbers: true}
	}
	return s.Layout
}

func (p Package) files(done Synthesized, settings Settings) ([]chart.File, error) {
	var all []chart.File
	if done.Application != nil {
		all = append(all, chart.File{Path: p.Name + ".yaml", Data: done.Application.YAML()})
	}
	if p.Values != nil {
		all = append(all, chart.File{Path: path.Join(p.Name, Values), Data: p.Values})
	}
	if done.Manifests == nil {
		return all, nil
	}
	manifests, err := done.Manifests.Files(settings.layout())
	if err != nil {
		return nil, err
	}
	var resources []string
	for _, file := range manifests {
		if strings.HasSuffix(file.Path, ".yaml") || strings.HasSuffix(file.Path, ".yml") {
			resources = append(resources, file.Path)
		}
		file.Path = path.Join(p.Name, Directory, file.Path)
		all = append(all, file)
	}
	if !settings.Ordered {
		slices.Sort(resources)
	}
	return append(all, chart.File{Path: path.Join(p.Name, Directory, Kustomization), Data: kustomization(resources)}), nil
}

// mark says of each file which package it belongs to.
func (p Package) mark(files []chart.File) []chart.File {
	for i := range files {
		files[i].Chart = p.Name
	}
	return files
}

// kustomization is a kustomization of files. Their names need no quotes: the layout leaves out what would.
func kustomization(resources []string) []byte {
	var text strings.Builder
	text.WriteString("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
	if len(resources) == 0 {
		text.WriteString("resources: []\n")
		return []byte(text.String())
	}
	text.WriteString("resources:\n")
	for _, name := range resources {
		text.WriteString("  - " + name + "\n")
	}
	return []byte(text.String())
}
