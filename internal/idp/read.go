package idp

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	defaultNamespace = "argocd"
	defaultBuild     = "localdev"
	manifests        = "manifests"
	maxPackages      = 5000
)

// errEmpty is that of an input without a package, which is hardly meant.
var errEmpty = errors.New("there is no file *.yaml or *.yml with an Application or an ApplicationSet")

// reading is one Read.
type reading struct {
	Options
	local  trees
	empty  []Problem
	result Result
}

// Read reads all packages of the inputs. Bad files, objects and fields are problems of the result, and do not keep others from being read.
//
// For each kind of inputs, the priority of a package is the index of its input. Of packages with one object, that with the highest
// priority is in effect; if there are several of different kinds, the last of the command line is. An object that occurs twice in one input is a
// problem, and the first is in effect.
func Read(o Options) Result {
	o.Namespace, o.Build = cmp.Or(o.Namespace, defaultNamespace), cmp.Or(o.Build, defaultBuild)
	r := reading{Options: o}
	dirs := slices.Clone(o.Roots)
	starts := make([]start, len(o.Inputs))
	for i, input := range o.Inputs {
		starts[i] = startOf(input)
		if input.Kind != URL {
			dirs = append(dirs, starts[i].dir)
		}
	}
	r.local = openTrees(dirs)
	defer r.local.close()
	var found []Package
	indices := map[Kind]int{}
	for i, input := range o.Inputs {
		found = append(found, r.input(input, starts[i], indices[input.Kind])...)
		indices[input.Kind]++
	}
	r.choose(found)
	r.name()
	r.report()
	slices.SortFunc(r.result.Packages, func(a, b Package) int {
		return cmp.Or(cmp.Compare(a.Wave, b.Wave), cmp.Compare(a.Name, b.Name))
	})
	slices.Sort(r.result.Directories)
	r.result.Directories = slices.Compact(r.result.Directories)
	return r.result
}

// input reads the packages of one input.
func (r *reading) input(input Input, at start, priority int) []Package {
	in := r.local
	if input.Kind == URL {
		if input.Path == "" {
			r.result.Problems = append(r.result.Problems, Problem{Argument: input.Argument, Err: errors.New("the repository has not been fetched")})
			return nil
		}
		in = openTrees([]string{input.Path})
		defer in.close()
	}
	fail := func(file string, err error) {
		r.result.Problems = append(r.result.Problems, Problem{Argument: input.Argument, File: file, Err: err})
	}
	before, files := len(r.result.Problems), at.files
	if files == nil {
		names, err := in.files(at.dir)
		if err != nil {
			fail("", fmt.Errorf("reading the directory: %w", err))
			return nil
		}
		for _, name := range names {
			files = append(files, filepath.Join(at.dir, name))
		}
	}
	r.result.Directories = append(r.result.Directories, at.dir)
	var found []Package
	for _, file := range files {
		data, err := in.readFile(file)
		if err != nil {
			fail(file, fmt.Errorf("reading the file: %w", err))
			continue
		}
		if len(data) == 0 {
			r.result.empty = append(r.result.empty, file)
		}
		objects, failed := Documents(data)
		if stray(input, data, objects, failed) {
			r.result.Strays = append(r.result.Strays, Stray{Argument: input.Argument, File: file, Err: errors.Join(failed...)})
			continue
		}
		for _, err := range failed {
			fail(file, err)
		}
		for _, o := range objects {
			found = append(found, r.packageOf(o, Package{Input: input, Priority: priority, File: file}, in))
		}
		if len(found) > maxPackages {
			fail("", fmt.Errorf("there are more than %d packages", maxPackages))
			return found[:maxPackages]
		}
	}
	if len(found) == 0 && len(r.result.Problems) == before {
		r.empty = append(r.empty, Problem{Argument: input.Argument, File: at.dir, Err: errEmpty})
	}
	return found
}

// stray reports whether a file of a directory declares no package, and shows no sign that one was meant: values of charts, templates, notes. A
// file that was given by its name is meant, and one without content may be about to be written.
func stray(input Input, data []byte, objects []*unstructured.Unstructured, failed []error) bool {
	if input.Kind == File || len(data) == 0 || len(objects) > 0 {
		return false
	}
	return len(failed) == 0 || !bytes.Contains(data, []byte(group))
}

// report adds the problems of packages and of empty inputs. An input may be there for others to lead into.
func (r *reading) report() {
	used := map[string]bool{}
	for _, p := range r.result.Packages {
		r.result.Problems = append(r.result.Problems, p.Problems...)
		for _, one := range p.Repositories {
			for at := one.path(); at != filepath.Dir(at); at = filepath.Dir(at) {
				used[at] = true
			}
		}
	}
	for _, p := range r.empty {
		if !used[p.File] {
			r.result.Problems = append(r.result.Problems, p)
		}
	}
	slices.SortStableFunc(r.result.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Object, b.Object))
	})
}

// packageOf is the package of an object, with the directories that it names.
func (r *reading) packageOf(o *unstructured.Unstructured, p Package, in trees) Package {
	if o.GetNamespace() == "" {
		o.SetNamespace(r.Namespace)
	}
	p.Object, p.Wave, p.places = o, waveOf(o), map[place]target{}
	p.resolve(in)
	return p
}

// choose leaves those packages that are in effect: one for each object.
func (r *reading) choose(found []Package) {
	by := map[string]int{}
	for _, p := range found {
		i, again := by[p.Key()]
		if !again {
			by[p.Key()] = len(r.result.Packages)
			r.result.Packages = append(r.result.Packages, p)
			continue
		}
		first := &r.result.Packages[i]
		switch {
		case first.Input.Argument == p.Input.Argument && first.Input.Kind == p.Input.Kind && first.Priority == p.Priority:
			p.fail("metadata.name", fmt.Errorf("the name is that of another %s, in %s, which is in effect; rename one of them", p.Object.GetKind(), first.File))
			r.result.Problems = append(r.result.Problems, p.Problems...)
		case p.Priority >= first.Priority:
			r.result.Overridden = append(r.result.Overridden, Override{*first, p.File})
			*first = p
		default:
			r.result.Overridden = append(r.result.Overridden, Override{p, first.File})
		}
	}
	for i, o := range r.result.Overridden {
		r.result.Overridden[i].By = r.result.Packages[by[o.Package.Key()]].File
	}
}

// name gives the packages and their repositories names, in the order of their objects.
func (r *reading) name() {
	prefix := "idpbuilder-" + r.Build + "-"
	packages, repositories := newNames(maxObject), newNames(maxRepository-len(prefix))
	slices.SortFunc(r.result.Packages, func(a, b Package) int { return cmp.Compare(a.Key(), b.Key()) })
	for i := range r.result.Packages {
		p := &r.result.Packages[i]
		file, _, _ := strings.Cut(filepath.Base(p.File), ".")
		p.Name = packages.take(strings.ToLower(file)+"-"+p.Object.GetName(), p.Key())
		for j := range p.Repositories {
			one := &p.Repositories[j]
			one.Object = repositories.take(p.Object.GetName()+"-"+filepath.Base(one.path()), p.Key()+"\n"+one.from)
			one.Name = prefix + one.Object
		}
	}
}
