package scenario

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/cloud"
)

const killedDroplet = `apiVersion: droplet.digitalocean.crossplane.io/v1alpha1
kind: Droplet
metadata: {name: web, annotations: {crossplane.io/poll-interval: 2s}}
spec:
  forProvider: {region: fra1, size: s-1vcpu-1gb, image: ubuntu-24-04-x64}
`

// TestKilledCloud kills headgate up --cloud simulated as soon as the cloud has created a Droplet, and starts it again until the Droplet is
// adopted: the account outlives the process, and there is one creation. Then the Droplet is deleted by headgate cloud, and comes back.
func TestKilledCloud(t *testing.T) {
	t.Parallel()
	repo, state := t.TempDir(), shortDir(t)
	writeFile(t, filepath.Join(repo, "apps", "kustomization.yaml"), "resources: [vm.yaml]\n")
	writeFile(t, filepath.Join(repo, "apps", "vm.yaml"), killedDroplet)
	start := func() *process {
		return run(t, "up", repo, "--path", "apps", "--cloud", "simulated", "--state-dir", state)
	}
	account := func() (shown cloud.Shown, log cloud.Log) {
		e, err := cloud.Locate(filepath.Join(state, "cluster", "cloud"))
		if err != nil {
			return shown, nil
		}
		shown, err = e.Account(context.WithoutCancel(t.Context()))
		if err == nil {
			log, _ = e.Audit(t.Context())
		}
		return shown, log
	}
	p := start()
	eventually(t, "the cloud has a Droplet", func() (bool, string) {
		shown, _ := account()
		return len(shown.Droplets) == 1, fmt.Sprint(shown)
	})
	p.kill()
	p = start()
	said := adopted(t, p, state)
	shown, log := account()
	if len(shown.Droplets) != 1 || len(log.Select("POST", "/v2/droplets")) != 1 {
		t.Fatalf("%d Droplets by %d creations, want one: %s", len(shown.Droplets), len(log.Select("POST", "/v2/droplets")), said)
	}
	first := shown.Droplets[0].ID
	headgate(t, p, state, "cloud", "delete", "droplet", "web")
	eventually(t, "the Droplet is back", func() (bool, string) {
		shown, _ := account()
		return len(shown.Droplets) == 1 && shown.Droplets[0].ID != first, fmt.Sprint(shown)
	})
	if text := headgate(t, p, state, "cloud", "get", "audit"); strings.Count(text, "/v2/droplets ") != 2 || strings.Contains(text, "GET") {
		t.Errorf("the audit log is\n%s", text)
	}
	p.interrupt()
	cmd := exec.Command(p.cmd.Path, "cloud", "get", "--state-dir", state)
	cmd.Env = p.cmd.Env
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "does not run") {
		t.Errorf("of a cloud that does not run: %v, %s", err, out)
	}
	for _, name := range []string{filepath.Join(state, "cluster", "cloud", "endpoint.json"), filepath.Join(state, "cluster", "cloud", "cloud.json")} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// adopted waits until the Droplet is ready.
func adopted(t *testing.T, p *process, state string) string {
	t.Helper()
	said := ""
	eventually(t, "the Droplet is ready", func() (bool, string) {
		cmd := exec.Command(p.cmd.Path, "get", "droplet", "--state-dir", state)
		cmd.Env = p.cmd.Env
		out, _ := cmd.CombinedOutput()
		said = string(out)
		return strings.Contains(said, "True") && !strings.Contains(said, "False"), said
	})
	return said
}

// headgate runs a command beside a process, and is what it printed.
func headgate(t *testing.T, p *process, state string, args ...string) string {
	t.Helper()
	cmd := exec.Command(p.cmd.Path, append(args, "--state-dir", state)...)
	cmd.Env = p.cmd.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("headgate %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
