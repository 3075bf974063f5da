package argocd

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v3/resource_customizations"
)

const scriptFile = "health.lua"

// bundled finds Argo CD's own script for a kind: that of the kind, or else the first with a wildcard that matches. A group or a
// kind holds an underscore where a wildcard is.
func bundled(key string) (name, source string, ok bool) {
	if data, err := resource_customizations.Embedded.ReadFile(path.Join(key, scriptFile)); err == nil {
		return path.Join(key, scriptFile), string(data), true
	}
	groups, err := resource_customizations.Embedded.ReadDir(".")
	if err != nil {
		return "", "", false
	}
	for _, dir := range wildcards(groups) {
		if matched, err := path.Match(strings.ReplaceAll(dir, "_", "*"), key); err != nil || !matched {
			continue
		}
		if data, err := resource_customizations.Embedded.ReadFile(path.Join(dir, scriptFile)); err == nil {
			return path.Join(dir, scriptFile), string(data), true
		}
	}
	return "", "", false
}

// wildcards are the directories for several kinds, in order.
func wildcards(groups []fs.DirEntry) []string {
	var dirs []string
	for _, group := range groups {
		kinds, err := resource_customizations.Embedded.ReadDir(group.Name())
		if err != nil {
			continue // A file beside the groups.
		}
		for _, kind := range kinds {
			if dir := path.Join(group.Name(), kind.Name()); strings.Contains(dir, "_") {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.Sort(dirs)
	return dirs
}
