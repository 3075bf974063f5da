package manifests

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/patterns"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

// files are those of a tree, or of a packed chart.
type files interface {
	File(p string) (data []byte, found bool, err error)
	Dir(p string) (names []string, found bool, err error)
}

// packed are the files of a packed chart.
type packed struct{ chart *helm.Chart }

// File returns a file of the chart.
func (p packed) File(name string) ([]byte, bool, error) {
	data, found := p.chart.File(name)
	return data, found, nil
}

// Dir lists a directory of the chart.
func (p packed) Dir(dir string) (names []string, found bool, err error) {
	for _, name := range p.chart.FileNames() {
		rest, in := strings.CutPrefix(name, dir+"/")
		if dir == "" || dir == "." {
			rest, in = name, true
		}
		if in {
			first, _, _ := strings.Cut(rest, "/")
			names = append(names, first)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), len(names) > 0, nil
}

// place is a file, or a pattern of files, and in what it is.
type place struct {
	in files
	// source is the index of the source whose files these are.
	source int
	path   string
	// text is how the Application has it.
	text string
}

// valueFile is a file of values that was read.
type valueFile struct {
	name   string
	data   []byte
	secret bool
}

// refPattern is the first part of a path that begins in another source.
var refPattern = regexp.MustCompile(`^\$[A-Za-z0-9_-]+$`)

// place finds out where a path leads that a field of the source gives: into the directory of the source, with a slash
// before it to the root of its tree, with $ref before it to the root of another source's tree.
func (j *job) place(own files, text string) (place, error) {
	first, rest, _ := strings.Cut(text, "/")
	if refPattern.MatchString(first) {
		at, known, err := j.reference(first[1:])
		if err != nil {
			return place{}, fmt.Errorf("%q: %w", text, err)
		}
		if known {
			at.path, at.text = path.Clean(strings.TrimLeft(j.env.expand(rest), "/")), text
			return at, at.inside()
		}
		if !j.env.knows(first[1:]) {
			return place{}, fmt.Errorf("%q: no source has the ref %q, and no variable has that name", text, first[1:])
		}
	}
	at := place{in: own, source: j.index, text: text}
	p := j.env.expand(text)
	if scheme, _, is := strings.Cut(p, "://"); is {
		return place{}, j.url(p, scheme)
	}
	if path.IsAbs(p) {
		at.path = strings.TrimPrefix(path.Clean(p), "/")
	} else {
		at.path = path.Join(j.dir, p)
	}
	return at, at.inside()
}

// url says why a file is not fetched.
func (j *job) url(address, scheme string) error {
	address, _, _ = strings.Cut(address, "?")
	if !slices.Contains(j.request.Options.Helm.ValuesFileSchemes, scheme) {
		return fmt.Errorf("%q: the scheme %q is not among helm.valuesFileSchemes of argocd-cm", address, scheme)
	}
	return fmt.Errorf("%q: values files are not fetched by URL; add it to a repository, and use that as a source with a ref", address)
}

func (p place) inside() error {
	if p.path == ".." || strings.HasPrefix(p.path, "../") {
		return fmt.Errorf("%q: outside the repository", p.text)
	}
	return nil
}

// reference finds the source of a ref.
func (j *job) reference(ref string) (at place, known bool, err error) {
	for i := range j.request.Sources {
		if j.request.Sources[i].Spec.Ref != ref {
			continue
		}
		if j.readers[i] == nil {
			return place{}, false, fmt.Errorf("%s, with the ref %q, is a chart or was not fetched; a ref must be a repository", j.name(i), ref)
		}
		return place{in: j.readers[i], source: i}, true, nil
	}
	return place{}, false, nil
}

// isPattern reports whether a path stands for the files that match it.
func (p place) isPattern() bool { return strings.ContainsAny(p.path, "*?[") }

// id is the same for the same file.
func (p place) id() string { return fmt.Sprintf("%d\x00%s", p.source, p.path) }

// valueFiles reads the files of values: in the order of the list, each once. What a pattern matches is where the pattern
// is, unless it is listed as well.
func (j *job) valueFiles(own files) ([]valueFile, error) {
	var places []place
	listed := map[string]bool{}
	for i, text := range j.spec.Helm.ValueFiles {
		at, err := j.place(own, text)
		if err != nil {
			return nil, fieldError(fmt.Sprintf("helm.valueFiles[%d]", i), "%w", err)
		}
		places = append(places, at)
		listed[at.id()] = listed[at.id()] || !at.isPattern()
	}
	var out []valueFile
	done := map[string]bool{}
	for i, at := range places {
		found, err := j.expandPlace(at, listed)
		if err != nil {
			return nil, fieldError(fmt.Sprintf("helm.valueFiles[%d]", i), "%w", err)
		}
		for _, one := range found {
			if done[one.id()] {
				continue
			}
			file, there, err := j.read(one)
			if err == nil && !there && !j.spec.Helm.IgnoreMissingValueFiles {
				err = fmt.Errorf("%s: %w", one.text, errMissing)
			}
			if err != nil {
				return nil, fieldError(fmt.Sprintf("helm.valueFiles[%d]", i), "%w", err)
			}
			if !there {
				continue
			}
			done[one.id()] = true
			out = append(out, file)
		}
	}
	return out, nil
}

// expandPlace lists the files that a pattern matches, without those that are listed; a file is itself.
func (j *job) expandPlace(at place, listed map[string]bool) ([]place, error) {
	if !at.isPattern() {
		return []place{at}, nil
	}
	pattern, err := patterns.NewPath(at.path)
	if err != nil {
		return nil, fmt.Errorf("%q is not a pattern: %w", at.text, err)
	}
	g := &globber{in: at.in, pattern: pattern, segments: strings.Count(at.path, "/") + 1, deep: strings.Contains(at.path, "**")}
	base, _ := doublestar.SplitPattern(at.path)
	if base == "." {
		base = ""
	}
	if err := g.walk(base, 0); err != nil {
		return nil, err
	}
	if len(g.found) == 0 && !j.spec.Helm.IgnoreMissingValueFiles {
		return nil, fmt.Errorf("values file glob %q matched no files", at.text)
	}
	var out []place
	for _, p := range g.found {
		one := place{in: at.in, source: at.source, path: p, text: p}
		if !listed[one.id()] {
			out = append(out, one)
		}
	}
	return out, nil
}

// globber finds files: those of a directory before those of the directories in it.
type globber struct {
	in       files
	pattern  *patterns.Path
	segments int
	deep     bool
	found    []string
}

func (g *globber) walk(dir string, depth int) error {
	names, _, err := g.in.Dir(dir)
	if err != nil || depth > maxDepth {
		return err
	}
	var below []string
	for _, name := range names {
		at := path.Join(dir, name)
		_, isDir, err := g.in.Dir(at)
		if err != nil {
			return err
		}
		switch {
		case isDir && (g.deep || strings.Count(at, "/")+1 < g.segments):
			below = append(below, at)
		case !isDir && g.pattern.Match(at):
			g.found = append(g.found, at)
		}
	}
	for _, at := range below {
		if err := g.walk(at, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// errMissing is a file that is not there, in the words of those who open it.
var errMissing = errors.New("no such file or directory")

// read reads a file, decrypted where it has to be.
func (j *job) read(at place) (file valueFile, there bool, err error) {
	data, there, err := at.in.File(at.path)
	if err != nil {
		return file, false, fmt.Errorf("%q: %w", at.text, err)
	}
	if !there {
		return file, false, nil
	}
	file = valueFile{name: at.path, data: data}
	if format := decrypt.FormatOf(at.path); decrypt.IsEncrypted(data, format) {
		if j.request.Decrypt == nil {
			return file, false, fmt.Errorf("%q: %w", at.text, errors.New(sealed))
		}
		file.secret = true
		if file.data, err = j.request.Decrypt.Data(data, format, format); err != nil {
			return file, false, fmt.Errorf("%q: %w", at.text, err)
		}
	}
	return file, true, nil
}
