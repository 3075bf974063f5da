package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/cli"
	"github.com/headgate-dev/headgate/internal/dialects"
)

// watch is a new module that is synthesized at each change.
type watch struct {
	dir   string
	main  []byte
	ended chan error
}

// watched creates a module, and waits until its first files are written.
func watched(ctx context.Context) (*watch, error) {
	dir, err := os.MkdirTemp("", "hgb-")
	if err != nil {
		return nil, err
	}
	w := &watch{dir: dir, ended: make(chan error, 1)}
	if err := headgate(ctx, "init", "chart", dir, "--module", "example.com/shop"); err != nil {
		return w, err
	}
	if w.main, err = os.ReadFile(filepath.Join(dir, "main.go")); err != nil {
		return w, err
	}
	go func() { w.ended <- headgate(ctx, "synth", dir, "--watch") }()
	return w, w.wait(ctx, "replicas: 2\n")
}

// headgate runs a command.
func headgate(ctx context.Context, args ...string) error {
	var out, errs bytes.Buffer
	streams := cli.IO{In: strings.NewReader(""), Out: &out, Err: &errs}
	if code := cli.MainWith(ctx, args, streams, dialects.All()); code != 0 {
		return fmt.Errorf("headgate %s: exit code %d: %s", strings.Join(args, " "), code, &errs)
	}
	return nil
}

// edit saves a change.
func (w *watch) edit(replicas int) error {
	text := bytes.Replace(w.main, []byte("Replicas: 2,"), fmt.Appendf(nil, "Replicas: %d,", replicas), 1)
	return os.WriteFile(filepath.Join(w.dir, "main.go"), text, 0o600)
}

// wait waits until a text is written.
func (w *watch) wait(ctx context.Context, text string) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	name := filepath.Join(w.dir, "dist", "hello", "manifests", "Deployment.hello-server.k8s.yaml")
	for {
		data, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if bytes.Contains(data, []byte(text)) {
			return nil
		}
		select {
		case err := <-w.ended:
			return errors.Join(errors.New("headgate synth --watch ended"), err)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
