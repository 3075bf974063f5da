package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// coldBuild measures what a stranger waits for: a build of the command with nothing compiled yet.
func coldBuild(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "hgb-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	packages, err := exec.CommandContext(ctx, "go", "list", "-deps", "./cmd/headgate").Output()
	if err != nil {
		return fmt.Errorf("listing the packages that are linked: %w", err)
	}
	binary := filepath.Join(dir, "headgate")
	build := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", binary, "./cmd/headgate")
	build.Env = append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"))
	began := time.Now()
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w: %s", err, out)
	}
	took := time.Since(began)
	info, err := os.Stat(binary)
	if err != nil {
		return err
	}
	fmt.Printf("cold build: %.0f s, %d packages linked, binary %d MB\n", took.Seconds(), bytes.Count(packages, []byte("\n")), info.Size()>>20)
	return nil
}
