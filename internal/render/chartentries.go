package render

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/yaml"
)

// named is a chart with where it is named.
type named struct {
	types.HelmGlobals
	types.HelmChart
	field string
}

// charts takes the charts out of a kustomization: those of helmCharts, which inherit the namespace, and those of
// generators, which do not.
func (in *inflater) charts(dir string, k *types.Kustomization, namespace string) ([]named, error) {
	var all []named
	globals := types.HelmGlobals{}
	if k.HelmGlobals != nil {
		globals = *k.HelmGlobals
	}
	for i, c := range k.HelmCharts {
		if c.Namespace == "" {
			c.Namespace = namespace
		}
		all = append(all, named{globals, c, fmt.Sprintf("helmCharts[%d] %q", i, c.Name)})
	}
	var others []string
	for i, entry := range k.Generators {
		charts, err := in.generators(dir, entry)
		if err != nil {
			return nil, err
		}
		if len(charts) == 0 {
			others = append(others, entry)
		}
		for _, c := range charts {
			c.field = fmt.Sprintf("generators[%d] %q", i, c.Name)
			all = append(all, c)
		}
	}
	k.Generators = others
	return all, nil
}

// generators reads an entry of generators, a file or a text, when everything in it is a chart to inflate.
func (in *inflater) generators(dir, entry string) ([]named, error) {
	data := []byte(entry)
	if !strings.Contains(entry, "\n") {
		at := path.Join(root, dir, entry)
		if isRemote(entry) || !in.fs.Exists(at) || in.fs.IsDir(at) {
			return nil, nil
		}
		var err error
		if data, err = in.fs.ReadFile(at); err != nil {
			return nil, err
		}
	}
	nodes, err := kio.FromBytes(data)
	if err != nil {
		return nil, nil
	}
	var charts []named
	for _, node := range nodes {
		if node.GetApiVersion() != konfig.BuiltinPluginApiVersion || node.GetKind() != "HelmChartInflationGenerator" {
			return nil, nil
		}
		c := named{}
		text, err := node.String()
		if err == nil {
			err = yaml.Unmarshal([]byte(text), &c)
		}
		if err != nil {
			return nil, fmt.Errorf("generators: %q: it cannot be decoded", entry)
		}
		charts = append(charts, c)
	}
	return charts, nil
}

// chart reads what an entry says, and the files that it names.
func (in *inflater) chart(dir, rel string, c *named) (*Chart, error) {
	if c.Name == "" {
		return nil, errors.New("name: the chart has no name")
	}
	chart := &Chart{
		File: rel, Field: c.field, Name: c.Name, Repo: c.Repo, Version: c.Version, Devel: c.Devel,
		ReleaseName: c.ReleaseName, NameTemplate: c.NameTemplate, Namespace: c.Namespace,
		KubeVersion: c.KubeVersion, APIVersions: c.ApiVersions,
		IncludeCRDs: c.IncludeCRDs, SkipHooks: c.SkipHooks, SkipTests: c.SkipTests,
		inline: c.ValuesInline, merge: c.ValuesMerge,
	}
	switch c.ValuesMerge {
	case "":
		chart.merge = mergeOverride
	case mergeOverride, mergeReplace, mergeMerge:
	default:
		return nil, fmt.Errorf("valuesMerge: %q is not one of override, replace, merge", c.ValuesMerge)
	}
	home := c.ChartHome
	if home == "" {
		home = types.HelmDefaultHome
	}
	home = in.at(dir, home)
	if c.Version != "" && c.Repo != "" {
		home = path.Join(home, c.Name+"-"+c.Version)
	}
	if at := path.Join(home, c.Name); in.fs.IsDir(at) {
		chart.Vendored = inTree(at)
	}
	if in.fs.failure != nil {
		return nil, in.fs.failure
	}
	if chart.Vendored == "" && chart.Repo == "" {
		return nil, fmt.Errorf("repo: it is empty, and %q contains no chart", inTree(path.Join(home, c.Name)))
	}
	return chart, in.valuesFiles(dir, c, chart)
}

// at is a path that a kustomization names.
func (in *inflater) at(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(root, dir, name)
}

// valuesFiles reads the files of values that an entry names.
func (in *inflater) valuesFiles(dir string, c *named, chart *Chart) (err error) {
	if c.ValuesFile != "" {
		if chart.valuesFile, err = in.values(dir, c.ValuesFile); err != nil {
			return fmt.Errorf("valuesFile: %w", err)
		}
	}
	for i, name := range c.AdditionalValuesFiles {
		data, err := in.values(dir, name)
		if err != nil {
			return fmt.Errorf("additionalValuesFiles[%d]: %w", i, err)
		}
		chart.additional = append(chart.additional, data)
	}
	return nil
}

// values reads a file of values.
func (in *inflater) values(dir, name string) ([]byte, error) {
	if strings.Contains(name, "://") {
		return nil, fmt.Errorf("%q: values files are not fetched; add it to the repository", name)
	}
	in.opener.noteValues(dir, name)
	at := in.at(dir, name)
	data, err := in.fs.ReadFile(at)
	if err != nil {
		if in.fs.failure != nil {
			return nil, in.fs.failure
		}
		return nil, fmt.Errorf("no such file %q", inTree(at))
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}
