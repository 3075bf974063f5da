package deploy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/idp"
)

// fetchAgain is how long a remote package that could not be fetched is left.
const fetchAgain = 15 * time.Second

// checkout fetches a revision of a remote repository into a new directory in dir, without its history, by git with the settings of the user who
// named the repository. Hooks are not run, and nothing asks for a password.
func checkout(ctx context.Context, dir string, r idp.Remote) (at string, err error) {
	if err := gitserver.Current(ctx); err != nil {
		return "", fmt.Errorf("fetching a remote package: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("creating a directory for remote packages: %w", err)
	}
	if at, err = os.MkdirTemp(dir, "remote-"); err != nil {
		return "", fmt.Errorf("creating a directory for remote packages: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(at))
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	steps := [][]string{
		{"init", "-q", "--template=", "."},
		{"fetch", "-q", "--depth", "1", "--no-tags", "--", r.URL, cmp.Or(r.Ref, "HEAD")},
		{"checkout", "-q", "--detach", "FETCH_HEAD"},
	}
	if r.Submodules {
		steps = append(steps, []string{"submodule", "update", "-q", "--init", "--recursive", "--depth", "1"})
	}
	for _, args := range steps {
		if err := git(ctx, at, r, args); err != nil {
			return "", err
		}
	}
	return at, nil
}

// git runs git in a directory, with the login of a remote in its environment rather than in its arguments.
func git(ctx context.Context, dir string, r idp.Remote, args []string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit", "-c", "protocol.file.allow=never", "-c", "protocol.ext.allow=never"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	if r.Password != "" {
		login := base64.StdEncoding.EncodeToString([]byte(r.Username + ":" + r.Password))
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http."+r.URL+".extraHeader", "GIT_CONFIG_VALUE_0=Authorization: Basic "+login)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("fetching the repository took longer than %s; set another timeout by ?timeout=", r.Timeout)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
	return fmt.Errorf("running git %s: %w: %s", args[0], err, line)
}
