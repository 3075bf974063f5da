package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/source"
)

// offlineOptions are those of commands that read a directory.
type offlineOptions struct {
	*globals
	dir, root, ageKeyFile string
}

// units renders the repository in the directory.
func (o offlineOptions) units(ctx context.Context) ([]flux.OfflineUnit, error) {
	layout, err := flux.FindLayout(o.dir, o.root)
	if err != nil {
		return nil, helpful(err)
	}
	tree, err := source.ReadDir(layout.Repository, nil)
	if err != nil {
		return nil, err
	}
	root := flux.Root{Path: layout.Root, For: layout.Repository, Branch: "main", URL: "http://localhost"}
	name := filepath.Join(layout.Repository, filepath.FromSlash(layout.Root))
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		if root.Objects, err = readObjects(name); err != nil {
			return nil, err
		}
		root.Path = ""
	}
	if o.ageKeyFile != "" {
		if root.AgeKey, err = os.ReadFile(o.ageKeyFile); err != nil {
			return nil, fmt.Errorf("reading the age key: %w", err)
		}
	}
	return flux.Offline(ctx, tree, root)
}
