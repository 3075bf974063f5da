package scenario

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tutorial is the guide whose first part a person follows from nothing to a booted application.
const tutorial = "../../docs/guide/typed-charts.md"

// TestTutorial runs the commands of the tutorial as they stand there, one after the other, with this headgate and without the network.
func TestTutorial(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(tutorial)
	if err != nil {
		t.Fatal(err)
	}
	script := commands(string(page))
	for _, needed := range []string{"headgate init chart shop", "headgate up dist --ephemeral --exit-when-ready", "go test ./... -update"} {
		if !strings.Contains(script, needed) {
			t.Fatalf("the tutorial does not say %q any more:\n%s", needed, script)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, work := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(bin, "headgate"), "#!/bin/sh\n"+asCommand+"=1 exec '"+self+"' \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "headgate"), 0o755); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script+"headgate synth --check\ngo test ./...\n")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+shortDir(t), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	text := string(out)
	if strings.Contains(text, "module lookup disabled") {
		t.Skipf("the module cache lacks something; hack/modules fetches it: %s", text)
	}
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	for _, want := range []string{"created the module example.com/shop", "5 files, 5 changed", "✓ Application argocd/hello", "dist is not what is described", "5 files, 1 changed"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not print %q:\n%s", want, text)
		}
	}
}

// commands are the blocks of commands of the first part of a page.
func commands(page string) string {
	_, part, _ := strings.Cut(page, "## From nothing")
	part, _, _ = strings.Cut(part, "\n## ")
	var script strings.Builder
	for {
		_, after, found := strings.Cut(part, "```sh\n")
		if !found {
			return script.String()
		}
		block, rest, _ := strings.Cut(after, "```")
		script.WriteString(block)
		part = rest
	}
}
