package chartserver_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/chartserver"
)

// TestWatch notices what is saved in a chart, also in a directory that is new.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	save := func(name string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	save("web/Chart.yaml")
	s, err := chartserver.Start(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Stop(context.WithoutCancel(t.Context())) }()
	ctx, cancel := context.WithCancel(t.Context())
	changes, ended := make(chan string, 100), make(chan error)
	go func() { ended <- s.Watch(ctx, func(file string) { changes <- file }) }()
	for _, name := range []string{"web/Chart.yaml", "web/templates/a.yaml", "new/Chart.yaml"} {
		// The watch begins a moment after it is requested, and hears of new directories a moment after they were made.
		for noticed := false; !noticed; {
			save(name)
			select {
			case <-changes:
				noticed = true
			case <-time.After(time.Second):
			}
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
