package process

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// enter gives this process, and what it starts, a view of the files of the machine: all of it as it is and unchangeable, and the paths of the job on top.
func (j *job) enter() error {
	if j.Ability.Reason != "" {
		return nil
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separating mounts: %w", err)
	}
	v := &view{root: filepath.Join(j.Dir, privateDir, "root"), shadowed: map[string]bool{}}
	v.own = v.owned()
	for i := range j.Mounts {
		j.Mounts[i].Path = resolve(j.Mounts[i].Path)
	}
	for i := range j.Private {
		j.Private[i] = resolve(j.Private[i])
	}
	// What is above others is mounted first.
	slices.SortStableFunc(j.Mounts, func(a, b mount) int { return cmp.Compare(strings.Count(a.Path, "/"), strings.Count(b.Path, "/")) })
	v.plan(j)
	sources := make([]int, len(j.Mounts))
	for i := range j.Mounts {
		if j.Mounts[i].Source == "" {
			continue
		}
		var err error
		if sources[i], err = tree(j.Mounts[i].Source, j.Mounts[i].ReadOnly); err != nil {
			return fmt.Errorf("path %s: %w", j.Mounts[i].Path, err)
		}
	}
	if err := v.build(); err != nil {
		return err
	}
	if err := pivot(v.root); err != nil {
		return fmt.Errorf("entering the private root: %w", err)
	}
	// From here on no path, and no symbolic link in one, leads anywhere else.
	for _, dir := range j.Private {
		if err := os.MkdirAll(dir, 0o755); err != nil && !j.covered(dir) {
			return fmt.Errorf("path %s: %w", dir, err)
		}
	}
	for i := range j.Mounts {
		if err := j.Mounts[i].attach(sources[i]); err != nil {
			return fmt.Errorf("path %s: %w", j.Mounts[i].Path, err)
		}
	}
	for _, dir := range j.Private {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("path %s: %w", dir, err)
		}
	}
	return os.RemoveAll(scratch)
}

// covered reports whether a path is below one that is mounted.
func (j *job) covered(path string) bool {
	return slices.ContainsFunc(j.Mounts, func(m mount) bool { return path == m.Path || strings.HasPrefix(path, m.Path+"/") })
}

// view is the tree of directories that a process gets to see.
type view struct {
	root string
	// shadowed are directories of the machine that have others beside their own entries.
	shadowed map[string]bool
	// own are those that show nothing of the machine but what is put into them.
	own map[string]func(at string) error
}

// plan finds the directories that have to be shadowed: those above a path that does not exist, and those that a program may write files into.
func (v *view) plan(j *job) {
	for i := range j.Mounts {
		path := j.Mounts[i].Path
		above := slices.ContainsFunc(j.Mounts, func(m mount) bool { return strings.HasPrefix(path, m.Path+"/") })
		info, err := os.Stat(path)
		if above || err == nil && info.IsDir() != j.Mounts[i].isFile() {
			continue
		}
		v.shadow(filepath.Dir(path))
	}
	for _, dir := range j.Private {
		if !j.covered(dir) {
			v.shadow(dir)
		}
	}
	for dir := range v.own {
		v.shadow(filepath.Dir(dir))
	}
}

func (v *view) shadow(dir string) {
	for ; dir != "/"; dir = filepath.Dir(dir) {
		v.shadowed[dir] = true
	}
}

// build makes the tree.
func (v *view) build() error {
	own, err := tree(v.root, false)
	if err != nil {
		return fmt.Errorf("preparing the private root: %w", err)
	}
	if err := attach(own, v.root); err != nil {
		return fmt.Errorf("preparing the private root: %w", err)
	}
	if err := v.copy("/"); err != nil {
		return err
	}
	return v.processes()
}

// copy shows the entries of a directory.
func (v *view) copy(dir string) error {
	const most = 4096
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("path %s: %w", dir, err)
	}
	if len(entries) > most {
		return fmt.Errorf("path %s: it has more than %d entries, so that nothing can be added to it; use another path", dir, most)
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if path == "/proc" {
			continue
		}
		if err := v.show(path, entry); err != nil {
			return err
		}
	}
	return nil
}

func (v *view) show(path string, entry fs.DirEntry) error {
	at := filepath.Join(v.root, path)
	switch {
	case entry.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return nil //nolint:nilerr // it is gone by now
		}
		return os.Symlink(target, at)
	case entry.IsDir() && v.own[path] != nil:
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
		return v.own[path](at)
	case entry.IsDir() && v.shadowed[path]:
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
		return v.copy(path)
	case entry.IsDir():
		if err := os.Mkdir(at, 0o755); err != nil {
			return err
		}
	default:
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			return err
		}
	}
	err := v.bind(path, true)
	for _, hidden := range []error{unix.EACCES, unix.EPERM, unix.ENOENT, unix.ENODEV, unix.ENOTCONN} {
		if errors.Is(err, hidden) {
			return nil // this user does not get to see it, or no one does
		}
	}
	return err
}

func (v *view) bind(path string, readOnly bool) error {
	fd, err := tree(path, readOnly)
	if err != nil {
		return fmt.Errorf("path %s: %w", path, err)
	}
	if err := attach(fd, filepath.Join(v.root, path)); err != nil {
		return fmt.Errorf("path %s: %w", path, err)
	}
	return nil
}

// tree is a copy of a part of the mounts that has no place yet. No file in it is a device, or gives the rights of another user.
func tree(path string, readOnly bool) (int, error) {
	attributes := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
	if readOnly {
		attributes |= unix.MOUNT_ATTR_RDONLY
	}
	return clone(path, attributes)
}

// clone is such a copy, with the attributes of mounts.
func clone(path string, attributes uint64) (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return -1, err
	}
	err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attributes})
	if err != nil {
		return -1, errors.Join(fmt.Errorf("making it unchangeable: %w", err), unix.Close(fd))
	}
	return fd, nil
}

// attach gives it one.
func attach(fd int, path string) error {
	defer func() { _ = unix.Close(fd) }()
	return unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// pivot makes a directory the root, and nothing else reachable.
func pivot(root string) error {
	if err := unix.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return unix.Chdir("/")
}

// scratch is where single files are put that are kept in memory.
const scratch = "/.headgate"

// isFile reports whether a mount is of a file.
func (m *mount) isFile() bool {
	if m.Source == "" {
		return m.File
	}
	info, err := os.Stat(m.Source)
	return m.File || err == nil && !info.IsDir()
}

// attach mounts it.
func (m *mount) attach(source int) error {
	if !m.Memory {
		if err := m.mountPoint(m.File); err != nil {
			return err
		}
		return attach(source, m.Path)
	}
	at := m.Path
	if m.File {
		at = scratch
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	if err := m.fill(at); err != nil {
		return err
	}
	if !m.File {
		return nil
	}
	// The file stays where it is bound to when the rest has no place anymore.
	defer func() { _ = unix.Unmount(scratch, unix.MNT_DETACH) }()
	if err := m.mountPoint(true); err != nil {
		return err
	}
	fd, err := tree(filepath.Join(scratch, onlyFile), true)
	if err != nil {
		return err
	}
	return attach(fd, m.Path)
}

func (m *mount) mountPoint(file bool) error {
	if !file {
		return os.MkdirAll(m.Path, 0o755)
	}
	if info, err := os.Lstat(m.Path); err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(m.Path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(m.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// fill mounts memory, and writes the files into it.
func (m *mount) fill(at string) error {
	options := "mode=0755"
	if m.Files == nil {
		options = "mode=0777"
	}
	if m.Size > 0 {
		options += fmt.Sprintf(",size=%d", m.Size)
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV
	if err := unix.Mount("tmpfs", at, "tmpfs", flags, options); err != nil {
		return err
	}
	into, err := os.OpenRoot(at)
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }()
	for name, content := range m.Files {
		if dir := filepath.Dir(name); dir != "." {
			if err := into.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		if err := into.WriteFile(name, content, fs.FileMode(cmp.Or(m.Mode, 0o644))); err != nil {
			return err
		}
	}
	if !m.ReadOnly || m.File {
		return nil
	}
	return unix.Mount("", at, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|flags, "")
}
