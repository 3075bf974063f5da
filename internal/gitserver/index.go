package gitserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// stamp tells one state of a file from another.
type stamp struct {
	modified time.Time
	size     int64
}

// refresh takes over what the user's repository knows of its working copy.
func (m *Mirror) refresh(ctx context.Context) error {
	if m.git == "" {
		return nil
	}
	// The list of ignored files of this repository, and where its history was cut off.
	for from, to := range map[string]string{
		filepath.Join(m.common, "info", "exclude"): filepath.Join(m.bare, "info", "exclude"),
		filepath.Join(m.common, "shallow"):         filepath.Join(m.bare, "shallow"),
	} {
		if err := copyFile(from, to); err != nil {
			return err
		}
	}
	return m.seed(ctx)
}

// seed makes our index from the user's whenever that changed. It knows which files are as they were
// checked out: what a filter made of them (as of large files kept elsewhere, or of the ends of
// lines), or what is deliberately not checked out, is then no change.
func (m *Mirror) seed(ctx context.Context) error {
	theirs := filepath.Join(m.git, "index")
	var now stamp
	info, err := os.Stat(theirs)
	if err == nil {
		now = stamp{modified: info.ModTime(), size: info.Size()}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if now == m.seeded {
		return nil
	}
	shared, err := filepath.Glob(filepath.Join(m.git, "sharedindex.*"))
	if err != nil {
		return err
	}
	for _, part := range shared {
		if err := copyFile(part, filepath.Join(m.bare, filepath.Base(part))); err != nil {
			return err
		}
	}
	if err := copyFile(theirs, m.index()); err != nil {
		return err
	}
	if err := m.expand(ctx); err != nil {
		return err
	}
	if m.modules, err = m.submodules(ctx); err != nil {
		return err
	}
	m.seeded = now
	return nil
}

// expand lists each file in our index where it names whole folders that are not checked out. That
// needs the user's objects, which are not at hand when snapshots are made; git may renew the times
// of some of them.
func (m *Mirror) expand(ctx context.Context) error {
	data, err := os.ReadFile(m.index())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !bytes.Contains(data, []byte("sdir")) {
		return err
	}
	_, err = run(ctx, command{
		args: []string{"-C", m.work, "--git-dir", m.bare, "--work-tree", m.work, "update-index", "--force-write-index"},
		env:  []string{"GIT_INDEX_FILE=" + m.index()},
	})
	return err
}

// submodules lists the repositories in the index.
func (m *Mirror) submodules(ctx context.Context) ([]string, error) {
	out, err := m.inWork(ctx, "ls-files", "-z", "--stage", "--", m.folder())
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.SplitSeq(out, "\x00") {
		if rest, ok := strings.CutPrefix(line, "160000 "); ok {
			_, name, _ := strings.Cut(rest, "\t")
			found = append(found, name)
		}
	}
	return found, nil
}

// copyFile makes to what from is, its time included: git compares the times of an index and of the
// files in it. Where from is missing, to will be.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(to); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(to), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := os.Chtimes(out.Name(), info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}
