package gitserver

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// command is one run of git.
type command struct {
	args []string
	env  []string
}

// cleanEnvironment is what git sees of ours: where programs are, and none of the user's settings
// that could run something.
func cleanEnvironment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
	}
}

// run runs git and returns what it printed. Hooks and monitors of the user's never run.
func run(ctx context.Context, c command) (string, error) {
	args := append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "safe.directory=*"}, c.args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(cleanEnvironment(), c.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running git %s: %w: %s", strings.Join(c.args, " "), err, firstLine(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
