package gitserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// command is one run of git.
type command struct {
	args  []string
	env   []string
	stdin string
	// user lets git read the settings of the user's account too; only for asking for settings.
	user bool
}

// cleanEnvironment is the environment of git: where programs are, and none of the user's settings
// that could run something.
func cleanEnvironment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
	}
}

// userEnvironment lets git find the settings of the user's account.
func userEnvironment() []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// run runs git and returns what it printed, without the last line's end. Hooks and monitors of the
// user's never run, and a directory is no repository because of ordinary files in it.
func run(ctx context.Context, c command) (string, error) {
	args := append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-c", "safe.bareRepository=explicit"}, c.args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(cleanEnvironment(), c.env...)
	if c.user {
		cmd.Env = append(userEnvironment(), c.env...)
	}
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", &gitError{command: verb(c.args), err: err, text: firstLine(stderr.String())}
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// gitError is a run of git that went wrong.
type gitError struct {
	command, text string
	err           error
}

func (e *gitError) Error() string {
	return fmt.Sprintf("running git %s: %v: %s", e.command, e.err, e.text)
}

func (e *gitError) Unwrap() error { return e.err }

// says reports whether git ended with a message that holds text.
func says(err error, text string) bool {
	var failed *gitError
	return errors.As(err, &failed) && strings.Contains(failed.text, text)
}

// verb is the subcommand among arguments.
func verb(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c", args[i] == "-C", args[i] == "--git-dir", args[i] == "--work-tree":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return strings.Join(args, " ")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
