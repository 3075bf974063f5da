package chart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/ignore"

	"github.com/headgate-dev/headgate/internal/patterns"
	"github.com/headgate-dev/headgate/internal/source"
)

// Bounds of a chart in a tree: its files, their sizes, directories in directories (links can go in
// circles), and charts that need charts.
const (
	maxFiles  = 20_000
	maxBytes  = 256 << 20
	maxDepth  = 32
	maxNested = 8
)

// packer reads charts from a tree.
type packer struct {
	tree    *source.Tree
	options Options
}

// load reads the chart in a directory, with its dependencies.
func (p *packer) load(ctx context.Context, dir string, nested int) (*chartv2.Chart, error) {
	if _, ok := p.tree.File(path.Join(dir, "Chart.yaml")); !ok {
		return nil, fmt.Errorf("%w: there is no Chart.yaml in %q", ErrReference, dir)
	}
	files, err := p.files(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPackage, err)
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReference, err)
	}
	if err := p.addDependencies(ctx, c, dir, nested); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDependency, err)
	}
	return c, nil
}

// reading is a chart's directory that is being read.
type reading struct {
	tree  *source.Tree
	rules *ignore.Rules
	files []*archive.BufferedFile
	bytes int64
}

// files reads the files of a chart, without those that its .helmignore names. Links are followed, as Helm
// does.
func (p *packer) files(dir string) ([]*archive.BufferedFile, error) {
	r := &reading{tree: p.tree, rules: ignore.Empty()}
	if f, ok := p.tree.File(path.Join(dir, ignore.HelmIgnore)); ok && f.Link == "" {
		data, err := f.Read()
		if err != nil {
			return nil, err
		}
		if r.rules, err = ignore.Parse(bytes.NewReader(data)); err != nil {
			return nil, fmt.Errorf("reading %q: %w", f.Path, err)
		}
	}
	r.rules.AddDefaults()
	err := r.walk(dir, "", 0)
	return r.files, err
}

// walk reads a directory of the tree that has a name in the chart.
func (r *reading) walk(dir, name string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%q: more than %d nested directories", name, maxDepth)
	}
	entries, _ := r.tree.Entries(dir)
	for _, base := range entries {
		at, err := r.tree.Resolve(path.Join(dir, base))
		if err != nil {
			return err
		}
		own := path.Join(name, base)
		f, isFile := r.tree.File(at)
		_, isDir := r.tree.Entries(at)
		switch {
		case r.rules.Ignore(own, info{path.Base(own), isDir}):
		case isDir:
			if err := r.walk(at, own, depth+1); err != nil {
				return err
			}
		case isFile:
			if err := r.add(own, f); err != nil {
				return err
			}
		default:
			return fmt.Errorf("link %q points to nothing", path.Join(dir, base))
		}
	}
	return nil
}

func (r *reading) add(name string, f *source.File) error {
	r.bytes += f.Size
	if len(r.files) == maxFiles || r.bytes > maxBytes {
		return fmt.Errorf("the chart has more than %d files or %d bytes; exclude some by %s", maxFiles, maxBytes, ignore.HelmIgnore)
	}
	data, err := f.Read()
	if err != nil {
		return err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	r.files = append(r.files, &archive.BufferedFile{Name: name, ModTime: epoch(), Data: data})
	return nil
}

// info is what the rules want to know about a file.
type info struct {
	name string
	dir  bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return 0 }
func (i info) ModTime() time.Time { return epoch() }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir
	}
	return 0
}

// addDependencies adds what a chart needs and does not have in its charts directory. What is locked goes
// before what is declared.
func (p *packer) addDependencies(ctx context.Context, c *chartv2.Chart, dir string, nested int) error {
	if nested > maxNested {
		return fmt.Errorf("dependencies of charts are nested deeper than %d", maxNested)
	}
	needed := c.Metadata.Dependencies
	if c.Lock != nil {
		needed = c.Lock.Dependencies
	}
	has := map[string]bool{}
	for _, d := range c.Dependencies() {
		has[d.Name()] = true
	}
	for _, d := range needed {
		if d == nil || has[d.Name] {
			continue
		}
		has[d.Name] = true
		got, err := p.dependency(ctx, d, dir, nested)
		if err != nil {
			return fmt.Errorf("%q: %w", d.Name, err)
		}
		c.AddDependency(got)
	}
	return nil
}

func (p *packer) dependency(ctx context.Context, d *chartv2.Dependency, dir string, nested int) (*chartv2.Chart, error) {
	if d.Repository == "" {
		return nil, errors.New("not in the charts directory, and no repository is set")
	}
	if local, ok := strings.CutPrefix(d.Repository, "file://"); ok {
		return p.local(ctx, d, dir, local, nested)
	}
	if p.options.Dependency == nil {
		return nil, errors.New("not in the charts directory")
	}
	data, err := p.options.Dependency(ctx, Dependency{Name: d.Name, Version: d.Version, Repository: d.Repository})
	if err != nil {
		return nil, err
	}
	got, err := loader.LoadArchive(bytes.NewReader(data))
	if err == nil && got.Name() != d.Name {
		err = fmt.Errorf("the downloaded chart is %q", got.Name())
	}
	return got, err
}

// local loads a dependency at a path of the tree.
func (p *packer) local(ctx context.Context, d *chartv2.Dependency, dir, name string, nested int) (*chartv2.Chart, error) {
	at, err := within(p.tree, dir, name)
	if err != nil {
		return nil, err
	}
	got, err := p.load(ctx, at, nested+1)
	if err != nil {
		return nil, err
	}
	if got.Name() != d.Name {
		return nil, fmt.Errorf("the chart at %q is %q", at, got.Name())
	}
	constraint, err := patterns.Constraint(d.Version)
	if err != nil {
		return nil, fmt.Errorf("range %q: %w", d.Version, err)
	}
	v, err := semver.NewVersion(got.Metadata.Version)
	if err != nil {
		return nil, fmt.Errorf("version %q: %w", got.Metadata.Version, err)
	}
	if !constraint.Check(v) {
		return nil, fmt.Errorf("version %q is not in the range %q", got.Metadata.Version, d.Version)
	}
	return got, nil
}
