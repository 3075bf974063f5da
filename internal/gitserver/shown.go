package gitserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Shown is what a mirror of a directory would show.
type Shown struct {
	// Branch is the one that it would show, and Remotes the URLs of the working copy, without credentials.
	Branch  string
	Remotes []string
	// References are those of the working copy.
	References References
	// Files are the paths of what is not ignored, relative to the directory; nil if unknown. Files that
	// are gone may be among them.
	Files map[string]bool
}

// Look says what a mirror of a directory would show, and makes none. Without git, it would be all that there is.
func Look(ctx context.Context, path string) (Shown, error) {
	shown := Shown{Branch: defaultBranch}
	real, err := realDirectory(path)
	if err != nil {
		return shown, fmt.Errorf("reading %q: %w", path, err)
	}
	m := &Mirror{work: real, branch: defaultBranch}
	err = m.locate(ctx, real)
	if errors.Is(err, exec.ErrNotFound) {
		return shown, nil
	}
	if err == nil {
		shown.Remotes = m.Remotes(ctx)
		_, shown.Branch = m.head(ctx)
		shown.References = m.References(ctx)
		shown.Files, err = m.list(ctx)
	}
	if err != nil {
		return shown, fmt.Errorf("reading %q: %w", path, err)
	}
	return shown, nil
}

// list are the files of the folder that are not ignored.
func (m *Mirror) list(ctx context.Context) (map[string]bool, error) {
	git, args := m.git, []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard"}
	if git == "" {
		// Ignore files count in a plain folder too, and git reads them only as those of a repository.
		var err error
		if git, err = os.MkdirTemp("", "headgate-"); err != nil {
			return nil, err
		}
		temporary := git
		defer func() { _ = os.RemoveAll(temporary) }()
		git = filepath.Join(git, "none.git")
		if _, err := run(ctx, command{args: []string{"init", "-q", "--bare", git}}); err != nil {
			return nil, err
		}
	}
	where := append([]string{"-C", m.work, "--git-dir", git, "--work-tree", m.work}, m.flags...)
	out, err := run(ctx, command{args: append(append(where, args...), "--", m.folder())})
	if err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for name := range strings.SplitSeq(out, "\x00") {
		if rel, below := strings.CutPrefix(name, m.prefix); below && rel != "" {
			files[rel] = true
		}
	}
	return files, nil
}
