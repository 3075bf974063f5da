package steps

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/headgate-dev/headgate/internal/source/chart"
)

type updateChartConfig struct {
	Path   string        `json:"path"`
	Charts []chartUpdate `json:"charts"`
}

type chartUpdate struct {
	Repository string `json:"repository"`
	Name       string `json:"name"`
	Alias      string `json:"alias"`
	Version    string `json:"version"`
}

// helmUpdateChart sets the versions of charts that a chart needs, in Chart.yaml and, where there is one, in Chart.lock. Nothing is fetched, so that charts
// that are committed beside it have to be replaced in another way.
func (s *step) helmUpdateChart(_ context.Context, data []byte) (map[string]any, error) {
	config, err := decode[updateChartConfig](data)
	if err != nil {
		return nil, err
	}
	at, err := clean("path", config.Path)
	if err != nil {
		return nil, err
	}
	if len(config.Charts) == 0 {
		return nil, fail("charts: there are none; ranges of Chart.yaml are not resolved by this step: name the charts and their versions")
	}
	file := path.Join(at, "Chart.yaml")
	content, err := s.read(file)
	if err != nil {
		return nil, err
	}
	root, err := mapping(content)
	if err != nil {
		return nil, fail("%q: %w", file, err)
	}
	var lines []string
	for i, update := range config.Charts {
		before, err := setVersion(root, update)
		if err != nil {
			return nil, fail("charts[%d]: %q: %w", i, file, err)
		}
		if err := s.notCommitted(at, update.Name, before, update.Version); err != nil {
			return nil, fail("charts[%d]: %w", i, err)
		}
		lines = append(lines, fmt.Sprintf("- %s: %s -> %s", update.Name, before, update.Version))
	}
	if content, err = encode(root); err != nil {
		return nil, fail("%q: %w", file, err)
	}
	if err := s.relock(path.Join(at, "Chart.lock"), content, config.Charts); err != nil {
		return nil, err
	}
	return map[string]any{"commitMessage": fmt.Sprintf("Updated chart dependencies for %s\n\n%s", config.Path, strings.Join(lines, "\n"))}, s.write(file, content)
}

// setVersion sets the version of the dependency that an update is about, and returns the one before.
func setVersion(root *yaml.Node, update chartUpdate) (before string, err error) {
	if update.Repository == "" || update.Name == "" || update.Version == "" {
		return "", errors.New("repository, name and version have to be set")
	}
	found := 0
	if list := field(root, "dependencies"); list != nil {
		for _, entry := range list.Content {
			if value(entry, "repository") != update.Repository || value(entry, "name") != update.Name || update.Alias != "" && value(entry, "alias") != update.Alias {
				continue
			}
			found++
			before = value(entry, "version")
			setField(entry, "version", text(update.Version))
		}
	}
	if found == 0 {
		return "", fmt.Errorf("there is no dependency %q of %s", update.Name, update.Repository)
	}
	return before, nil
}

// value is the text of a field.
func value(node *yaml.Node, name string) string {
	if found := field(node, name); found != nil {
		return found.Value
	}
	return ""
}

// notCommitted refuses a chart that was committed in its old version.
func (s *step) notCommitted(at, name, before, after string) error {
	packed := path.Join(at, "charts", name+"-"+before+".tgz")
	there, err := s.exists(packed)
	if err != nil {
		return err
	}
	if there && before != after {
		return fmt.Errorf("%q is committed, and charts are not fetched by this step: delete it, and have it built where the chart is rendered", packed)
	}
	return nil
}

// relock has the lock of a chart agree with its dependencies.
func (s *step) relock(file string, declared []byte, updates []chartUpdate) error {
	if there, err := s.exists(file); err != nil || !there {
		return err
	}
	content, err := s.read(file)
	if err != nil {
		return err
	}
	var set []chart.Dependency
	for _, u := range updates {
		set = append(set, chart.Dependency{Name: u.Name, Version: u.Version, Repository: u.Repository})
	}
	if content, err = chart.Relock(declared, content, set, time.Now()); err != nil {
		return fail("%q: %w", file, err)
	}
	return s.write(file, content)
}
