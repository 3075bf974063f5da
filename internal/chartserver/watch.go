package chartserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// gather is how long changes are gathered before they are reported.
const gather = 80 * time.Millisecond

// Watch calls changed whenever files of the charts were saved, with one of these, until ctx ends. The error is why that cannot be noticed.
func (s *Server) Watch(ctx context.Context, changed func(file string)) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching charts: %w", err)
	}
	defer func() { _ = watcher.Close() }()
	for _, dir := range s.dirs {
		if err := follow(watcher, dir); err != nil {
			return fmt.Errorf("watching the charts in %q: %w", dir, err)
		}
	}
	timer := time.NewTimer(0)
	timer.Stop()
	defer timer.Stop()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if event.Has(fsnotify.Create) {
				// A directory that is new, with what is in it already.
				_ = follow(watcher, event.Name)
			}
			last = event.Name
			timer.Reset(gather)
		case err := <-watcher.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watching charts: %w", err)
			}
			timer.Reset(gather)
		case <-timer.C:
			changed(last)
		}
	}
}

// follow watches a directory and all below it; a file is none.
func follow(watcher *fsnotify.Watcher, dir string) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != dir:
			return nil
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case strings.HasPrefix(entry.Name(), ".") && name != dir:
			return filepath.SkipDir
		}
		return watcher.Add(name)
	})
}
