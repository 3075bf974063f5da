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
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return nil, fmt.Errorf("looking at %q: %w", o.dir, err)
	}
	rootPath := o.root
	if rootPath == "" {
		candidates, err := rootCandidates(dir)
		if err != nil {
			return nil, err
		}
		if len(candidates) != 1 {
			return nil, ambiguous(dir, candidates)
		}
		rootPath = candidates[0]
	}
	tree, err := source.ReadDir(dir, nil)
	if err != nil {
		return nil, err
	}
	root := flux.Root{Path: cleanRoot(rootPath), For: dir, Branch: "main", URL: "http://localhost"}
	if root.Path == "" {
		root.Path = "."
	}
	if info, err := os.Stat(filepath.Join(dir, root.Path)); err == nil && !info.IsDir() {
		if root.Objects, err = readObjects(filepath.Join(dir, root.Path)); err != nil {
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
