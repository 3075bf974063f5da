package gitserver

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Times of a watch: how long changes are gathered before they are shown, and how often the working
// copy is looked at where it cannot be watched.
const (
	debounce = 80 * time.Millisecond
	polling  = time.Second
)

// Watch calls onChange whenever the working copy shows something new, until ctx ends. An error of
// a Sync is handed to onError, once for each different error; watching goes on.
func (m *Mirror) Watch(ctx context.Context, onChange func(revision string), onError func(error)) error {
	w := &watcher{mirror: m, onChange: onChange, onError: onError}
	events, err := fsnotify.NewWatcher()
	if err == nil {
		defer func() { _ = events.Close() }()
		err = w.add(events, m.Root())
	}
	if err == nil && m.git != "" {
		err = events.Add(m.git)
		_ = events.Add(filepath.Join(m.git, "refs", "heads"))
	}
	if err != nil {
		return w.poll(ctx)
	}
	return w.run(ctx, events)
}

type watcher struct {
	mirror   *Mirror
	onChange func(string)
	onError  func(error)
	last     string
}

// skipped are directories that can be large and never hold manifests.
var skipped = map[string]bool{".git": true, "node_modules": true, ".terraform": true, ".venv": true}

// add watches a directory and everything below it.
func (w *watcher) add(events *fsnotify.Watcher, dir string) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			return nil
		}
		if skipped[entry.Name()] && name != dir {
			return filepath.SkipDir
		}
		return events.Add(name)
	})
}

func (w *watcher) run(ctx context.Context, events *fsnotify.Watcher) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, ok := <-events.Events:
			if !ok {
				return nil
			}
			if !w.interesting(event.Name) {
				continue
			}
			if info, err := os.Lstat(event.Name); event.Has(fsnotify.Create) && err == nil && info.IsDir() {
				_ = w.add(events, event.Name)
			}
			timer.Reset(debounce)
		case err, ok := <-events.Errors:
			if !ok {
				return nil
			}
			// Events were lost: look at everything.
			w.onError(err)
			timer.Reset(debounce)
		case <-timer.C:
			w.sync(ctx)
		}
	}
}

// interesting tells whether a change can matter: in the user's repository, only a commit or a
// checkout does.
func (w *watcher) interesting(name string) bool {
	git := w.mirror.git
	if git == "" || !strings.HasPrefix(name, git) {
		return true
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(name, git), "/")
	return rel == "HEAD" || strings.HasPrefix(rel, "refs") || rel == "packed-refs"
}

func (w *watcher) poll(ctx context.Context) error {
	ticker := time.NewTicker(polling)
	defer ticker.Stop()
	for {
		w.sync(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (w *watcher) sync(ctx context.Context) {
	revision, changed, err := w.mirror.Sync(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		if text := err.Error(); text != w.last {
			w.last = text
			w.onError(err)
		}
	case changed:
		w.last = ""
		w.onChange(revision)
	}
}
