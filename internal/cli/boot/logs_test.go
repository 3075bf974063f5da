package boot

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// TestUnlogged says which unit of the journal was probably meant.
func TestUnlogged(t *testing.T) {
	kustomization := func(name string) engine.UnitID {
		return engine.UnitID{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization", Namespace: "flux-system", Name: name}
	}
	logged := []engine.UnitID{{Group: "argoproj.io", Kind: "Application", Namespace: "argocd", Name: "database"}, kustomization("shop")}
	for name, c := range map[string]struct{ reason, unit, want string }{
		"Slip":    {"a slip", "shpo", "the journal has no line of Kustomization/flux-system/shpo; did you mean Kustomization/flux-system/shop?"},
		"Kind":    {"another kind has the name", "database", "the journal has no line of Kustomization/flux-system/database; there is Application/argocd/database"},
		"Nothing": {"nothing is like it", "unlike", "the journal has no line of Kustomization/flux-system/unlike"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unlogged(kustomization(c.unit), logged).Error(); got != c.want {
				t.Errorf("%s: got %q", c.reason, got)
			}
		})
	}
}

// TestLogs prints the lines of a unit, however it is named.
func TestLogs(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	dir := console.ClusterDir(filepath.Join(state, "headgate"), true)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	j, err := newJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shop", "blog"} {
		j.note(runner.Note{Unit: engine.UnitID{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization", Namespace: "flux-system", Name: name}, Text: "begins"})
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reason, target, want string
		lines                int
	}{
		"All":     {"no target is all", "", "", 2},
		"Name":    {"a Kustomization", "shop", "", 1},
		"Pair":    {"as up prints it", "flux-system/shop", "", 1},
		"Slip":    {"a slip is no silence", "shpo", "the journal has no line of Kustomization/flux-system/shpo; did you mean Kustomization/flux-system/shop?", 0},
		"Nowhere": {"another namespace", "home/shop", "the journal has no line of Kustomization/home/shop; there is Kustomization/flux-system/shop", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			g := &console.Globals{IO: console.IO{Out: &out, Err: &out}, Catalogue: dialects.All()}
			err := runLogs(context.Background(), g, c.target, console.DefaultNamespace)
			if got := strings.Count(out.String(), "\n"); got != c.lines || (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Errorf("%s: got %d lines: %v", c.reason, got, err)
			}
		})
	}
}
