package helm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// archive is a chart: packed, or a directory.
type archive struct {
	data []byte
	dir  string
}

// maxNested is how deep charts of directories may need others.
const maxNested = 10

// find is the chart that the props name.
func (p Props) find() (archive, error) {
	if ref, remote := p.remote(); remote {
		data, err := p.Store.resolve(ref)
		return archive{data: data}, err
	}
	switch {
	case p.Chart == "":
		return archive{}, errors.New("set Chart: the name of a chart in Repo, oci://REGISTRY/PATH, or the path of a directory or of a packed chart")
	case p.Repo != "":
		return archive{}, fmt.Errorf("the repository %q is neither an http or https URL nor oci://REGISTRY/PATH", p.Repo)
	}
	return local(p.Chart)
}

// local is a chart in a directory, or a packed one.
func local(name string) (archive, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return archive{}, fmt.Errorf("%w; a chart of a repository needs Repo", err)
	case info.IsDir():
		return archive{dir: name}, nil
	}
	data, err := os.ReadFile(name) //nolint:gosec // the description says which file
	return archive{data: data}, err
}

// remote is the reference of a chart in a repository or a registry.
func (p Props) remote() (reference, bool) {
	ref := reference{Repository: strings.TrimSuffix(p.Repo, "/"), Chart: p.Chart, Requested: p.Version, login: p.Login}
	if at := strings.LastIndex(p.Chart, "/"); p.Repo == "" && strings.HasPrefix(p.Chart, "oci://") && at > len("oci://") {
		ref.Repository, ref.Chart = p.Chart[:at], p.Chart[at+1:]
	}
	for _, scheme := range []string{"http://", "https://", "oci://"} {
		if strings.HasPrefix(ref.Repository, scheme) && ref.Chart != "" {
			return ref, true
		}
	}
	return ref, false
}

// load makes a chart of its own for each call, with the charts that it needs.
func (a archive) load(p Props, depth int) (*chartv2.Chart, error) {
	if depth > maxNested {
		return nil, errors.New("charts need one another without end")
	}
	if a.dir == "" {
		c, err := loader.LoadArchive(bytes.NewReader(a.data))
		if err != nil {
			return nil, fmt.Errorf("reading the archive: %w", err)
		}
		return c, missing(c)
	}
	c, err := loader.LoadDir(a.dir)
	if err != nil {
		return nil, fmt.Errorf("reading the directory: %w", err)
	}
	for _, d := range c.Metadata.Dependencies {
		if has(c, d) {
			continue
		}
		needed, err := a.need(p, c, d)
		if err != nil {
			return nil, fmt.Errorf("the chart needs %s: %w", d.Name, err)
		}
		inner, err := needed.load(p, depth+1)
		if err != nil {
			return nil, fmt.Errorf("the chart needs %s: %w", d.Name, err)
		}
		c.AddDependency(inner)
	}
	return c, missing(c)
}

// need is a chart that the one in the directory needs. Its Chart.lock counts before the range in Chart.yaml.
func (a archive) need(p Props, c *chartv2.Chart, d *chartv2.Dependency) (archive, error) {
	if at, ok := strings.CutPrefix(d.Repository, "file://"); ok {
		return local(filepath.Join(a.dir, filepath.FromSlash(at)))
	}
	needed := Props{Chart: d.Name, Repo: d.Repository, Version: d.Version, Store: p.Store}
	if c.Lock != nil {
		for _, locked := range c.Lock.Dependencies {
			if locked.Name == d.Name && locked.Repository == d.Repository {
				needed.Version = locked.Version
			}
		}
	}
	if d.Repository == "" {
		return archive{}, fmt.Errorf("it is not in %s, and Chart.yaml names no repository for it", filepath.Join(a.dir, "charts"))
	}
	return needed.find()
}

func has(c *chartv2.Chart, wanted *chartv2.Dependency) bool {
	return slices.ContainsFunc(c.Dependencies(), func(d *chartv2.Chart) bool { return d.Name() == wanted.Name })
}

// missing refuses a chart that lacks one that it needs.
func missing(c *chartv2.Chart) error {
	for _, d := range c.Metadata.Dependencies {
		if !has(c, d) {
			return fmt.Errorf("Chart.yaml of %s names the dependency %s, which is not in its charts folder", c.Name(), d.Name)
		}
	}
	return nil
}
