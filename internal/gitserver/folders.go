package gitserver

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// subdirectories lists the directories in dir, but for repositories and what belongs to one.
func subdirectories(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		// It is gone, or closed to us.
		return nil
	}
	var found []string
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !e.IsDir() || e.Name() == ".git" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(name, ".git")); err == nil {
			continue
		}
		found = append(found, name)
	}
	return found
}

// shown leaves out the directories that are ignored. One that holds a file of the repository all the
// same is kept.
func (m *Mirror) shown(ctx context.Context, dirs []string) ([]string, error) {
	var kept []string
	asked := map[string]string{}
	for _, dir := range dirs {
		rel, err := filepath.Rel(m.work, dir)
		if err != nil {
			return nil, err
		}
		if dir == m.Root() {
			kept = append(kept, dir)
			continue
		}
		asked[filepath.ToSlash(rel)] = dir
	}
	ignored, err := m.ignoredOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	for rel, dir := range asked {
		if !ignored[rel] {
			kept = append(kept, dir)
		}
	}
	return kept, nil
}

// ignoredOf returns which of the directories are ignored.
func (m *Mirror) ignoredOf(ctx context.Context, asked map[string]string) (map[string]bool, error) {
	if len(asked) == 0 {
		return nil, nil
	}
	var list strings.Builder
	for rel := range asked {
		list.WriteString(rel + "\x00")
	}
	args := []string{"check-ignore", "-z", "--stdin"}
	out, err := run(ctx, m.workCommand(list.String(), args...))
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ignored := map[string]bool{}
	for rel := range strings.SplitSeq(out, "\x00") {
		ignored[rel] = true
	}
	tracked, err := m.inWork(ctx, "ls-files", "-z", "--cached", "--", m.folder())
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(tracked, "\x00") {
		for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
			delete(ignored, dir)
		}
	}
	return ignored, nil
}
