package gitserver

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// ErrOld is a git program that ignores settings by which nothing of a directory is run.
var ErrOld = errors.New("git is too old")

// leastGit is the version since which git takes safe.directory and safe.bareRepository from its arguments. Older ones ignore them there, without a word.
const (
	leastGit      = "2.38"
	leastGitMajor = 2
	leastGitMinor = 38
)

// Current refuses a git program that is too old to read directories that others may have written. A missing one is exec.ErrNotFound.
func Current(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "git", "version")
	cmd.Env = cleanEnvironment()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("asking git for its version: %w; install git %s or newer", err, leastGit)
	}
	version := strings.TrimPrefix(firstLine(string(out)), "git version ")
	if !current(version) {
		return fmt.Errorf("%w: version %s ignores settings that keep the files of a directory from running programs; install git %s or newer", ErrOld, version, leastGit)
	}
	return nil
}

// current reports whether a version is new enough, such as "2.39.5 (Apple Git-154)".
func current(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	first, err := strconv.Atoi(major)
	if err != nil {
		return false
	}
	second, err := strconv.Atoi(minor)
	return first > leastGitMajor || err == nil && first == leastGitMajor && second >= leastGitMinor
}
