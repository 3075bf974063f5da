package boot

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// journalOf is a state directory whose engine did something for some units.
func journalOf(t *testing.T, units ...engine.UnitID) *journal {
	t.Helper()
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	dir := console.ClusterDir(filepath.Join(state, "headgate"), false)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	j, err := newJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.close() })
	for _, u := range units {
		j.note(runner.Note{Time: time.Now(), Unit: u, Text: "applied " + u.Name})
	}
	return j
}

func TestLogs(t *testing.T) {
	shop := engine.UnitID{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization", Namespace: "flux-system", Name: "shop"}
	web := engine.UnitID{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "apps", Name: "web"}
	journalOf(t, shop, web)
	for name, tc := range map[string]struct {
		reason, target, want, err string
	}{
		"All":     {"without a target all lines are printed", "", "applied web", ""},
		"Unit":    {"a unit has its lines", "ks/shop", "applied shop", ""},
		"Name":    {"a name alone is that of any unit", "web", "HelmRelease/apps/web", ""},
		"Kind":    {"a kind with a name is searched for in all namespaces", "hr/web", "HelmRelease/apps/web", ""},
		"Absent":  {"a unit that is not there is no silence", "ks/shpo", "", `the journal has no line about Kustomization/flux-system/shpo; did you mean "shop"?`},
		"Unknown": {"nor is a name", "nosuch", "", "the journal has no line about Kustomization/flux-system/nosuch"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			g := &console.Globals{IO: console.IO{Out: &out, Err: &out}, Catalogue: dialects.All()}
			err := runLogs(t.Context(), logsOptions{Globals: g, target: tc.target})
			switch {
			case tc.err == "" && err != nil, tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.err)
			case !strings.Contains(out.String(), tc.want):
				t.Errorf("%s: got %q, want %q", tc.reason, out.String(), tc.want)
			}
		})
	}
}

// lines hands over what is written, a line at a time.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestLogsFollow has lines come that are written later, also after an engine has started again.
func TestLogsFollow(t *testing.T) {
	shop := engine.UnitID{Kind: "Kustomization", Namespace: "flux-system", Name: "shop"}
	j := journalOf(t, shop)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, ended := make(lines), make(chan error, 1)
	g := &console.Globals{IO: console.IO{Out: out, Err: out}, Catalogue: dialects.All()}
	go func() { ended <- runLogs(ctx, logsOptions{Globals: g, follow: true}) }()
	expect := func(text string) {
		t.Helper()
		select {
		case line := <-out:
			if !strings.Contains(line, text) {
				t.Fatalf("got %q, want %q", line, text)
			}
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		case <-time.After(time.Minute):
			t.Fatalf("nothing came, want %q", text)
		}
	}
	expect("applied shop")
	j.note(runner.Note{Unit: shop, Text: "a line that is longer than the first one"})
	expect("a line that is longer")
	again, err := newJournal(filepath.Dir(j.file.Name()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.close() }()
	again.note(runner.Note{Unit: shop, Text: "again"})
	expect("again")
	cancel()
	if err := <-ended; err == nil {
		t.Error("an interruption is no success")
	}
}
