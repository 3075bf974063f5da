package factory

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"

	"go.yaml.in/yaml/v3"

	"github.com/headgate-dev/headgate/chart"
)

// Add adds applications, whose mistakes name the line that adds them.
func (c *Config) Add(applications ...Application) {
	_, file, line, _ := runtime.Caller(1)
	lines := origin{}
	maps.Copy(lines, c.origin)
	for i := range applications {
		lines[element("applications", len(c.Applications)+i)] = chart.Position{File: file, Line: line}
	}
	c.origin = lines
	c.Applications = append(c.Applications, applications...)
}

// images adds the images of a file to the environments: {"dev": {"web": "example.org/web:1.4.0"}}. An image that the configuration
// has as well is a mistake, since a promotion that writes the file would change nothing.
func (b *builder) images(config Config) Config {
	if config.ImagesFile == "" {
		return config
	}
	file := config.ImagesFile
	data, err := os.ReadFile(file)
	if err != nil {
		b.add("imagesFile", "reading images: %w", err)
		return config
	}
	var node yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&node); err != nil && !errors.Is(err, io.EOF) {
		b.add("imagesFile", "reading %s: %w", filepath.Base(file), err)
		return config
	}
	p := &problems{origin: origin{"": {File: file, Line: 1}}}
	value := (&reader{problems: p, file: file}).value(&node, "")
	found, _ := decode(p, value, reflect.TypeFor[map[string]map[string]string](), "").Interface().(map[string]map[string]string)
	config.Environments = maps.Clone(config.Environments)
	for _, name := range keys(found) {
		environment, known := config.Environments[name]
		if !known {
			p.add(name, "%s", unknown("environment", name, keys(config.Environments)))
			continue
		}
		for _, image := range keys(found[name]) {
			if _, twice := environment.Images[image]; twice {
				p.add(member(name, image), "the image is in environments.%s.images of the configuration too; remove it there", name)
			}
		}
		environment.Images = union(environment.Images, found[name])
		config.Environments[name] = environment
	}
	b.errors = append(b.errors, p.errors...)
	return config
}
