package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/health/argocd"
)

// found are settings of Argo CD, and where they are.
type found struct {
	where string
	data  map[string]string
}

// readSettings reads the settings of an Argo CD. Without a path there are none.
func readSettings(g *console.Globals, path string) (argocd.Settings, error) {
	if path == "" {
		return argocd.Settings{}, nil
	}
	all, err := findSettings(g, path)
	switch {
	case err != nil:
		return argocd.Settings{}, err
	case len(all) == 0:
		return argocd.Settings{}, fmt.Errorf("%s has neither a ConfigMap argocd-cm nor values of the chart argo-cd with configs.cm", path)
	case len(all) > 1:
		return argocd.Settings{}, console.Hint(fmt.Errorf("%s has settings of Argo CD in several places: %s and %s", path, all[0].where, all[1].where),
			"headgate health -f FILE --settings FILE")
	}
	settings, err := argocd.ParseSettings(all[0].data)
	if err == nil {
		err = settings.Check()
	}
	if err != nil {
		return argocd.Settings{}, fmt.Errorf("%s: %w", all[0].where, err)
	}
	return settings, nil
}

func findSettings(g *console.Globals, path string) ([]found, error) {
	info, err := os.Stat(path)
	if path == "-" || err == nil && !info.IsDir() {
		return settingsIn(g, path)
	}
	if err != nil {
		return nil, fmt.Errorf("searching for settings: %w", err)
	}
	var all []found
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != path && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)):
			return nil
		}
		in, err := settingsIn(g, name)
		all = append(all, in...)
		var malformed *malformedError
		var unread *fs.PathError
		if errors.As(err, &malformed) || errors.As(err, &unread) {
			return err
		}
		// What is no YAML is a template, or of another tool.
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("searching for settings: %w", err)
	}
	return all, nil
}

// malformedError is about settings that were found and cannot be read.
type malformedError struct{ error }

func (e *malformedError) Unwrap() error { return e.error }

func settingsIn(g *console.Globals, name string) ([]found, error) {
	var all []found
	err := g.EachDocumentOf(name, func(n int, document map[string]any) error {
		data, there, err := argocd.SettingsOf(document)
		if err != nil {
			return &malformedError{err}
		}
		if there {
			all = append(all, found{where: fmt.Sprintf("%s, document %d", name, n), data: data})
		}
		return nil
	})
	return all, err
}
