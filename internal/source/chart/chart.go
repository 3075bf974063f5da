// Package chart packs Helm charts from the files of sources, and packs charts again that came with other
// values or another version. What it makes depends on what it is given only: the same files make the same
// bytes. It reads inside a tree only, and fetches nothing: dependencies come from its caller.
package chart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/headgate-dev/headgate/internal/source"
)

// Kinds of failures that a caller may want to tell apart.
var (
	// ErrReference is a path at which there is no chart.
	ErrReference = errors.New("no chart found")
	// ErrMetadata is a version that cannot get a suffix.
	ErrMetadata = errors.New("the version of the chart cannot be changed")
	// ErrValues are files of values that are missing or cannot be read.
	ErrValues = errors.New("the values cannot be merged")
	// ErrDependency is a dependency that is not there and cannot be got.
	ErrDependency = errors.New("a dependency is missing")
	// ErrPackage is a chart that cannot be packed.
	ErrPackage = errors.New("the chart cannot be packaged")
)

// Options say how a chart is packed.
type Options struct {
	// ValuesFiles become the values of the chart, a later one over an earlier one. For a chart in a tree
	// their paths begin at the root of the tree; for one that came packed they begin in the chart.
	ValuesFiles []string
	// IgnoreMissing passes over those of ValuesFiles that do not exist.
	IgnoreMissing bool
	// Build, when set, is the build metadata of the version: "1.2.3+BUILD".
	Build string
	// Dependency gets the dependencies of a chart in a tree that are in no tree. Without it they are an
	// ErrDependency.
	Dependency func(context.Context, Dependency) ([]byte, error)
}

// Dependency is a chart that another one needs.
type Dependency struct {
	// Name is that of the chart, Version a range of versions, Repository a URL: http, https or oci, or
	// "@" or "alias:" and a name.
	Name, Version, Repository string
}

// Packed is a chart as it is served.
type Packed struct {
	Name, Version string
	// Data is a tar.gz.
	Data []byte
	// ValuesFiles are those of the options that exist.
	ValuesFiles []string
	// Changed is set when Data is not what a repository, or a file in a tree, has.
	Changed bool
}

// FileName is the name of the file that Helm gives a packed chart.
func (p *Packed) FileName() string { return p.Name + "-" + p.Version + ".tgz" }

// Package packs the chart at a path of a tree: a directory, or a chart that is packed already. The
// dependencies of a directory that are not in its charts directory are those at paths of the tree
// ("file://"), or those that o.Dependency gets.
func Package(ctx context.Context, tree *source.Tree, at string, o Options) (*Packed, error) {
	name, err := within(tree, "", at)
	if err != nil {
		return nil, fmt.Errorf("%w at %q: %w", ErrReference, at, err)
	}
	merge := func(*chartv2.Chart) (map[string]any, []string, error) { return o.treeValues(tree) }
	if f, ok := tree.File(name); ok {
		data, err := f.Read()
		if err != nil {
			return nil, fmt.Errorf("%w at %q: %w", ErrReference, at, err)
		}
		return repack(data, o, merge)
	}
	p := &packer{tree: tree, options: o}
	c, err := p.load(ctx, name, 0)
	if err != nil {
		return nil, fmt.Errorf("chart at %q: %w", at, err)
	}
	return finish(c, o, merge)
}

// Repackage changes a packed chart as the options say. Without a change it is the same bytes.
func Repackage(data []byte, o Options) (*Packed, error) {
	return repack(data, o, o.chartValues)
}

// values finds what becomes the values of a chart; nothing leaves them as they are.
type values func(*chartv2.Chart) (merged map[string]any, files []string, err error)

func repack(data []byte, o Options, merge values) (*Packed, error) {
	c, err := loader.LoadArchive(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrReference, err)
	}
	if o.Build == "" && len(o.ValuesFiles) == 0 {
		return &Packed{Name: c.Name(), Version: c.Metadata.Version, Data: data}, nil
	}
	return finish(c, o, merge)
}

// finish gives a chart its version and its values, and packs it.
func finish(c *chartv2.Chart, o Options, merge values) (*Packed, error) {
	if o.Build != "" {
		v, err := semver.NewVersion(c.Metadata.Version)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrMetadata, c.Metadata.Version, err)
		}
		changed, err := v.SetMetadata(o.Build)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrMetadata, o.Build, err)
		}
		c.Metadata.Version = changed.String()
	}
	merged, files, err := merge(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrValues, err)
	}
	if len(files) > 0 {
		if err := setValues(c, merged); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrValues, err)
		}
	}
	data, err := pack(c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPackage, err)
	}
	return &Packed{Name: c.Name(), Version: c.Metadata.Version, Data: data, ValuesFiles: files, Changed: true}, nil
}

// epoch is the time of everything in a chart that we pack.
func epoch() time.Time { return time.Unix(0, 0).UTC() }

// pack writes a chart with Helm's own code, which wants a directory.
func pack(c *chartv2.Chart) ([]byte, error) {
	settle(c)
	dir, err := os.MkdirTemp("", "headgate-chart-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file, err := util.Save(c, dir)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// settle takes times and chance out of a chart.
func settle(c *chartv2.Chart) {
	c.ModTime, c.SchemaModTime = epoch(), epoch()
	if c.Lock != nil && c.Lock.Generated.IsZero() {
		c.Lock.Generated = epoch()
	}
	for _, f := range slices.Concat(c.Raw, c.Templates, c.Files) {
		f.ModTime = epoch()
	}
	deps := slices.Clone(c.Dependencies())
	slices.SortStableFunc(deps, func(a, b *chartv2.Chart) int {
		if order := strings.Compare(a.Name(), b.Name()); order != 0 {
			return order
		}
		return strings.Compare(a.Metadata.Version, b.Metadata.Version)
	})
	c.SetDependencies(deps...)
	for _, dep := range deps {
		settle(dep)
	}
}

// within returns a path of a tree, with the links in it followed. It begins in dir, or at the root when it
// begins with a slash.
func within(tree *source.Tree, dir, name string) (string, error) {
	if path.IsAbs(name) {
		dir = ""
	}
	joined := path.Join(dir, strings.TrimLeft(name, "/"))
	if joined == ".." || strings.HasPrefix(joined, "../") {
		return "", fmt.Errorf("path %q leaves the source", name)
	}
	if joined == "." {
		joined = ""
	}
	return tree.Resolve(joined)
}
