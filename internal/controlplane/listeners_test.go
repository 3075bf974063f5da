package controlplane

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/kit/sockets"
)

// TestListeners knows everything that a process listens on while a control plane and further ones run, one of them in a directory whose path is too
// long for sockets: an API server each, and an etcd that serves clients in a directory which no other user enters.
func TestListeners(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	known, want := map[string]string{}, map[string]bool{}
	before, err := sockets.Of(os.Getpid())
	must(t, err)
	for _, one := range before {
		// Starts of other tests that failed have left an etcd behind, whose files cannot be read.
		if strings.HasPrefix(one, "unix /") && strings.HasSuffix(one, "/sockets/client.sock") {
			known[one], want["lost"] = "lost", true
		}
	}
	planes := map[string]*Running{
		"main":  start(t, Config{Dir: stateDir(t)}),
		"light": start(t, Config{Dir: stateDir(t), Ephemeral: true, Keep: true, Light: true}),
		"far":   start(t, Config{Dir: filepath.Join(stateDir(t), strings.Repeat("far", 40)), Ephemeral: true, Light: true}),
	}
	for name, r := range planes {
		at, err := url.Parse(r.RESTConfig().Host)
		must(t, err)
		dir := filepath.Join(r.cfg.Dir, "sockets")
		if name == "far" {
			dir = r.store.sockets
		}
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("plane %s: its sockets are in %s: %v, %v", name, dir, info, err)
		}
		known["tcp "+at.Host] = name + ": API server"
		known["unix "+filepath.Join(dir, "client.sock")] = name + ": clients of etcd"
		want[name+": API server"], want[name+": clients of etcd"] = true, true
	}
	got := map[string]bool{}
	open, err := sockets.Of(os.Getpid())
	must(t, err)
	for _, one := range open {
		if known[one] == "" {
			t.Errorf("something listens on %s", one)
			continue
		}
		got[known[one]] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
