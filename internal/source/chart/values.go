package chart

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/source"
)

// errMissing is a file of values that does not exist.
var errMissing = errors.New("no such file")

// treeValues merges files of a tree.
func (o Options) treeValues(tree *source.Tree) (map[string]any, []string, error) {
	return o.merge(func(name string) (map[string]any, error) {
		at, err := within(tree, "", name)
		if err != nil {
			return nil, err
		}
		f, ok := tree.File(at)
		if !ok {
			return nil, errMissing
		}
		data, err := f.Read()
		if err != nil {
			return nil, err
		}
		return loader.LoadValues(bytes.NewReader(data))
	})
}

// chartValues merges files of a chart.
func (o Options) chartValues(c *chartv2.Chart) (map[string]any, []string, error) {
	return o.merge(func(name string) (map[string]any, error) {
		name = path.Clean(name)
		if name == util.ValuesfileName {
			return c.Values, nil
		}
		for _, f := range c.Files {
			if f.Name == name {
				return loader.LoadValues(bytes.NewReader(f.Data))
			}
		}
		return nil, errMissing
	})
}

// merge merges the files of values that exist, in their order.
func (o Options) merge(read func(name string) (map[string]any, error)) (map[string]any, []string, error) {
	merged := map[string]any{}
	var files []string
	for _, name := range o.ValuesFiles {
		one, err := read(name)
		if errors.Is(err, errMissing) && o.IgnoreMissing {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("reading %q: %w", name, err)
		}
		merged = loader.MergeMaps(merged, one)
		files = append(files, name)
	}
	return merged, files, nil
}

// setValues makes merged the values of a chart.
func setValues(c *chartv2.Chart, merged map[string]any) error {
	data, err := yaml.Marshal(merged)
	if err != nil {
		return err
	}
	c.Values = merged
	c.Raw = slices.DeleteFunc(c.Raw, func(f *common.File) bool { return f.Name == util.ValuesfileName })
	c.Raw = append(c.Raw, &common.File{Name: util.ValuesfileName, ModTime: epoch(), Data: data})
	return nil
}
