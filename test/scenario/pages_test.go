package scenario

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pages are what a person follows with nothing but Headgate and Git, with units of which each is ready before the next one whenever the page boots
// them. Their blocks that are tagged "console" need more. The tutorial of typed charts is TestTutorial's, and the example of typed charts that of
// its own test.
var pages = map[string][]string{
	"docs/guide/start.md": nil, "docs/guide/tutorial-flux.md": nil, "docs/guide/tutorial-argocd.md": nil,
	"examples/layered/README.md": {"flux-system/bootstrap ", "flux-system/controllers ", "flux-system/certs ", "flux-system/shop ", "flux-system/blog "},
	"examples/homelab/README.md": {"flux-system/cluster-apps ", "network/proxy ", "home/notes ", "media/player "},
	"examples/app-of-apps/README.md": {
		"Application argocd/definitions ", "Application argocd/storage ", "Application argocd/secrets ", "Application argocd/database ",
		"Application argocd/infrastructure-gateway ", "Application argocd/monitoring-metrics ", "Application argocd/my-apps-notes ",
	},
	"examples/nixos-image/README.md": {"flux-system/cloud ", "flux-system/image ", "flux-system/machine "},
	"examples/nixos-trio/README.md":  {"flux-system/trio "},
}

// TestPages follows pages literally: it runs each block of commands, in its order, in a copy of the examples.
func TestPages(t *testing.T) {
	t.Parallel()
	for page, order := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("../..", page))
			if err != nil {
				t.Fatal(err)
			}
			blocks := blocksOf(string(text))
			if len(blocks) == 0 {
				t.Fatal("it has no commands")
			}
			f := newFollower(t)
			f.order = order
			for _, block := range blocks {
				f.follow(block)
			}
			f.interrupt()
			if f.booted == 0 {
				t.Error("it boots nothing")
			}
		})
	}
}

// blocksOf are the blocks of commands of a page, also those in lists.
func blocksOf(page string) []string {
	var blocks []string
	var block []string
	inside, indent := false, 0
	for line := range strings.Lines(page) {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case !inside && trimmed == "```sh\n":
			inside, indent, block = true, len(line)-len(trimmed), nil
		case inside && trimmed == "```\n":
			inside = false
			blocks = append(blocks, strings.Join(block, ""))
		case inside:
			block = append(block, line[min(indent, len(line)-len(trimmed)):])
		}
	}
	return blocks
}

// follower is a person with two terminals: one in which a cluster runs, and one for all else.
type follower struct {
	t *testing.T
	// dir is where the person is, env what commands have.
	dir string
	env []string
	// temporary stands for /tmp.
	temporary string
	cluster   *process
	booted    int
	// order are units that become ready one after the other.
	order []string
}

// newFollower is in a clone with the examples and nothing else.
func newFollower(t *testing.T) *follower {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, work := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(bin, "headgate"), "#!/bin/sh\n"+asCommand+"=1 exec '"+self+"' \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "headgate"), 0o755); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(work, "examples"), os.DirFS("../../examples")); err != nil {
		t.Fatal(err)
	}
	f := &follower{t: t, dir: work, temporary: shortDir(t)}
	f.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+shortDir(t), "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=person", "GIT_AUTHOR_EMAIL=person@example.com", "GIT_COMMITTER_NAME=person", "GIT_COMMITTER_EMAIL=person@example.com")
	f.shell("git init -q -b main . && git add . && git commit -q -m clone")
	return f
}

// follow runs a block of commands. One that boots a cluster stays; others run beside it.
func (f *follower) follow(block string) {
	f.t.Helper()
	block = strings.ReplaceAll(block, "/tmp/", f.temporary+"/")
	var script strings.Builder
	for line := range strings.Lines(block) {
		command, _, _ := strings.Cut(line, " #")
		words := strings.Fields(command)
		switch {
		case len(words) > 1 && words[0] == "headgate" && words[1] == "up" && !slices.Contains(words, "--exit-when-ready"):
			f.shell(script.String())
			script.Reset()
			f.boot(words[1:])
			continue
		case strings.HasPrefix(line, "rm -rf "):
			// Data that is deleted while a cluster uses it: the page says to kill it.
			f.kill()
		}
		script.WriteString(line)
	}
	f.shell(script.String())
}

// boot starts a cluster instead of the one before, and waits until it is ready.
func (f *follower) boot(args []string) {
	f.t.Helper()
	f.interrupt()
	f.cluster = runIn(f.t, f.dir, f.env, args...)
	f.cluster.says("✓ ready")
	inOrder(f.t, f.cluster.output.String(), f.order)
	f.booted++
}

func (f *follower) interrupt() {
	f.t.Helper()
	if f.cluster == nil {
		return
	}
	if code := f.cluster.interrupt(); code != 0 {
		f.t.Errorf("Ctrl-C ends the cluster with exit code %d:\n%s", code, f.cluster.output)
	}
	f.cluster = nil
}

func (f *follower) kill() {
	if f.cluster != nil {
		f.cluster.kill()
		f.cluster = nil
	}
}

// shell runs commands until one fails. The next ones run where these ended.
func (f *follower) shell(script string) {
	f.t.Helper()
	if strings.TrimSpace(script) == "" {
		return
	}
	place := filepath.Join(f.temporary, "place")
	cmd := exec.CommandContext(f.t.Context(), "sh", "-ec", script+"\npwd > '"+place+"'\n")
	cmd.Dir, cmd.Env = f.dir, f.env
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("%v:\n%s\n%s", err, script, out)
	}
	at, err := os.ReadFile(place)
	if err != nil {
		f.t.Fatal(err)
	}
	f.dir = strings.TrimSpace(string(at))
}
