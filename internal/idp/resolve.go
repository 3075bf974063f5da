package idp

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// target is what an address leads to: a repository of the package, and for the address of a file its path in there.
type target struct {
	repository int
	file       string
}

// fail adds a problem of a field.
func (p *Package) fail(field string, err error) {
	p.Problems = append(p.Problems, Problem{
		Argument: p.Input.Argument, File: p.File, Object: p.Object.GetKind() + "/" + p.Object.GetName(), Field: field, Err: err,
	})
}

// resolve finds the directories that the addresses in the object lead to.
func (p *Package) resolve(in trees) {
	spec, _ := p.Object.Object["spec"].(map[string]any)
	for _, o := range occurrences(spec) {
		found, err := p.find(o, in)
		if err != nil {
			p.fail(o.field, fmt.Errorf("%q: %w", o.address, err))
			continue
		}
		p.places[o.place] = found
	}
}

// find finds what an address leads to.
func (p *Package) find(o occurrence, in trees) (target, error) {
	if strings.Contains(o.address, "{{") {
		return target{}, errors.New("an address has no templates; name a directory, and put the template into the path")
	}
	if strings.ContainsRune(o.address, 0) {
		return target{}, errors.New("the address is not valid")
	}
	relative := path.Clean(strings.TrimLeft(strings.TrimPrefix(o.address, Scheme), "/"))
	at := filepath.Join(filepath.Dir(p.File), filepath.FromSlash(relative))
	info, err := in.stat(at)
	if err != nil {
		return target{}, cause(err)
	}
	if !o.file {
		if !info.IsDir() {
			return target{}, errors.New("it is not a directory")
		}
		return target{repository: p.repository(at, in)}, nil
	}
	if !info.Mode().IsRegular() {
		return target{}, errors.New("it is not a regular file")
	}
	if strings.HasPrefix(o.field, "spec.sourceHydrator.") {
		return target{}, errors.New("a dry source names files only below its own path")
	}
	return p.file(at, in), nil
}

// repository is the index of the repository of a directory.
func (p *Package) repository(at string, in trees) int {
	one, rel, _ := in.within(at)
	from, err := filepath.Rel(filepath.Dir(p.File), at)
	if err != nil {
		from = at
	}
	r := Repository{Root: one.path, Dir: rel, Remote: p.Input.Remote, from: filepath.ToSlash(from)}
	if i := slices.Index(p.Repositories, r); i >= 0 {
		return i
	}
	p.Repositories = append(p.Repositories, r)
	return len(p.Repositories) - 1
}

// file is where a file is: in a directory that has been named, or in its own.
func (p *Package) file(at string, in trees) target {
	for i, r := range p.Repositories {
		if rel, err := filepath.Rel(r.path(), at); err == nil && filepath.IsLocal(rel) {
			return target{i, filepath.ToSlash(rel)}
		}
	}
	return target{p.repository(filepath.Dir(at), in), filepath.Base(at)}
}

// path is the absolute path of the directory.
func (r Repository) path() string { return filepath.Join(r.Root, filepath.FromSlash(r.Dir)) }
