package deploy

import (
	"io/fs"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/headgate-dev/headgate/internal/idp"
)

// maxWatched bounds the directories that are watched; beyond it, they are polled.
const maxWatched = 20_000

// watch reports changes in the directories of packages. Where they cannot be watched, it is lost, and they are to be polled.
type watch struct {
	watcher *fsnotify.Watcher
	failed  bool
}

func newWatch() *watch {
	watcher, err := fsnotify.NewWatcher()
	return &watch{watcher, err != nil}
}

func (w *watch) close() {
	if w.watcher != nil {
		_ = w.watcher.Close()
	}
}

// changes are the changes of files; none come of a watch that could not be made.
func (w *watch) changes() <-chan fsnotify.Event {
	if w.watcher == nil {
		return nil
	}
	return w.watcher.Events
}

// lost reports whether changes may go unnoticed. Errors say that events were lost.
func (w *watch) lost() bool {
	if w.watcher == nil {
		return true
	}
	select {
	case <-w.watcher.Errors:
		return true
	default:
		return w.failed
	}
}

// follow watches the directories that local packages are read from, and those that they name, and reports whether there were new ones.
func (w *watch) follow(result idp.Result, inputs []idp.Input) bool {
	if w.watcher == nil {
		return false
	}
	before := map[string]bool{}
	for _, dir := range w.watcher.WatchList() {
		before[dir] = true
	}
	w.failed = false
	remote := map[string]bool{}
	for _, input := range inputs {
		remote[input.Path] = input.Kind == idp.URL
	}
	found, added := 0, false
	add := func(dir string) {
		if found++; found > maxWatched {
			w.failed = true
			return
		}
		if err := w.watcher.Add(dir); err != nil {
			w.failed = true
			return
		}
		added = added || !before[dir]
	}
	for _, dir := range result.Directories {
		if !below(remote, dir) {
			add(dir)
		}
	}
	for _, p := range result.Packages {
		for _, r := range p.Repositories {
			if p.Input.Kind == idp.URL {
				continue
			}
			_ = filepath.WalkDir(filepath.Join(r.Root, filepath.FromSlash(r.Dir)), func(name string, entry fs.DirEntry, err error) error {
				switch {
				case err != nil || found > maxWatched:
					return fs.SkipDir
				case !entry.IsDir():
					return nil
				case entry.Name() == ".git":
					return fs.SkipDir
				}
				add(name)
				return nil
			})
		}
	}
	return added
}

// below reports whether a directory is that of a remote package, which no one edits.
func below(remote map[string]bool, dir string) bool {
	for at, is := range remote {
		if !is || at == "" {
			continue
		}
		if rel, err := filepath.Rel(at, dir); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
