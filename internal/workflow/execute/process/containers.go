package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
)

// Containers have the containers of a cluster run as processes of this machine.
type Containers struct {
	// Program is this binary, as sandbox.Self finds it.
	Program string
	// Hidden are directories that no process gets to see.
	Hidden []string
	// Unconfined has processes run also where they cannot be confined.
	Unconfined bool
}

// Executor is the one for a cluster that a host serves.
func (c Containers) Executor(ctx context.Context, host *dialect.Host, listener execute.Listener) (execute.Executor, error) {
	if host.Dir == "" || c.Program == "" {
		return nil, errors.New("processes of this machine need a directory that outlives this one, and a binary of their own")
	}
	dir, limits := Dir(host.Dir), artifacts.DefaultLimits()
	store, err := artifacts.OpenStore(filepath.Join(dir, "artifacts"), limits)
	if err != nil {
		return nil, err
	}
	return New(ctx, Options{
		Dir: dir, Config: host.Config, Program: c.Program, Hidden: append([]string{host.Dir}, c.Hidden...), Listener: listener, Guard: host.Guard, Unconfined: c.Unconfined,
		Places: &artifacts.Places{Store: store, Local: host.Local, Rewrites: host.Rewrites, Limits: limits, Egress: host.Egress.Requests},
	})
}

// keptDir has a file for each workflow of which anything is kept.
const keptDir = "workflows"

// remember records that something is kept of a workflow.
func (e *Executor) remember(of execute.Workflow) error {
	file := filepath.Join(e.options.Dir, keptDir, string(of.UID)+".json")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("recording workflow %s: %w", of.NamespacedName, err)
	}
	if err := writeJSON(file, of); err != nil {
		return fmt.Errorf("recording workflow %s: %w", of.NamespacedName, err)
	}
	return nil
}

// Kept are the workflows of which anything is kept.
func (e *Executor) Kept(context.Context) ([]execute.Workflow, error) {
	files, err := fs.Glob(os.DirFS(e.options.Dir), keptDir+"/*.json")
	if err != nil {
		return nil, err
	}
	all := make([]execute.Workflow, len(files))
	for i, file := range files {
		if err := readJSON(filepath.Join(e.options.Dir, file), &all[i]); err != nil {
			return nil, fmt.Errorf("reading which workflows there are: %w", err)
		}
	}
	return all, nil
}
