package pods

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
)

// Containers has the containers of workflows executed as pods of the cluster that is served.
type Containers struct {
	// Image is that of this engine.
	Image string
}

// Executor is the one for a host. Artifacts are in its directory.
func (c Containers) Executor(ctx context.Context, host *dialect.Host, listener execute.Listener) (execute.Executor, error) {
	dir := host.Dir
	if dir == "" {
		dir = os.TempDir()
	}
	store, err := artifacts.OpenStore(filepath.Join(dir, "workflows"), artifacts.DefaultLimits())
	if err != nil {
		return nil, err
	}
	executor, err := New(ctx, host.Config, host.Home, Options{Image: c.Image, Store: store, Listener: listener})
	if err != nil {
		return nil, fmt.Errorf("preparing to create pods: %w", err)
	}
	return executor, nil
}
