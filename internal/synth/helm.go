package synth

import (
	"bytes"
	"errors"
	"fmt"
	"path"

	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/chart"
)

// HelmChart is what a chart of Helm says of itself.
type HelmChart struct {
	Name, Version string
}

// Files are the files of a chart of Helm that installs what is described: definitions of kinds in crds, everything else in templates, where
// what looks like a template is written so that Helm gives it back as it was.
func (c HelmChart) Files(files []chart.File) ([]chart.File, error) {
	about, err := yaml.Marshal(map[string]string{"apiVersion": "v2", "name": c.Name, "version": c.Version, "type": "application"})
	if err != nil {
		return nil, err
	}
	// The list of what synth wrote is not a part of the chart.
	all := []chart.File{{Path: "Chart.yaml", Data: about}, {Path: ".helmignore", Data: []byte("/.*\n")}}
	for _, f := range files {
		definitions, rest, err := separate(f)
		if err != nil {
			return nil, fmt.Errorf("writing %q into a chart: %w", f.Path, err)
		}
		if len(definitions) > 0 {
			all = append(all, chart.File{Path: path.Join("crds", f.Path), Data: definitions})
		}
		if len(rest) > 0 {
			all = append(all, chart.File{Path: path.Join("templates", f.Path), Data: escape(rest)})
		}
	}
	return all, nil
}

// escape has a template engine print a text as it is.
func escape(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte("{{"), []byte(`{{ "{{" }}`))
}

// separate are the documents of a file that define kinds, and the others.
func separate(f chart.File) (definitions, rest []byte, err error) {
	err = eachObject(f, func(o object) error {
		switch {
		case o.kustomization():
			return errors.New("it is a kustomization, which a chart cannot hold; a program of packages has the format yaml alone")
		case o.group() == "apiextensions.k8s.io" && o.Kind == "CustomResourceDefinition":
			definitions = join(definitions, o.text)
		default:
			rest = join(rest, o.text)
		}
		return nil
	})
	return definitions, rest, err
}
