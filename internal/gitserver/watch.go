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
	"github.com/go-logr/logr"
)

// Times of a watch: how long changes are gathered before they are shown, how long at most when they
// do not end, and how often the working copy is polled if it cannot be watched.
const (
	debounce = 80 * time.Millisecond
	patience = time.Second
	polling  = time.Second
)

// Watch calls onChange whenever the working copy shows something new, until ctx ends. An error of
// a Sync is handed to onError, once for each different error; watching goes on. Where the system has
// no watches left, the working copy is polled every second.
func (m *Mirror) Watch(ctx context.Context, onChange func(revision string), onError func(error)) error {
	w := &watcher{mirror: m, onChange: onChange, onError: onError}
	err := w.watch(ctx)
	m.seen()
	if ctx.Err() != nil {
		return nil
	}
	logr.FromContextOrDiscard(ctx).Info("the directory cannot be watched; polling it every second",
		"folder", m.Root(), "reason", err.Error())
	w.poll(ctx)
	return nil
}

type watcher struct {
	mirror   *Mirror
	onChange func(string)
	onError  func(error)
	// last is the last error that was passed to onError.
	last   string
	events *fsnotify.Watcher
	// made are directories that are not watched yet.
	made []string
	// since is when the first change came that is not shown yet.
	since time.Time
}

// watch runs until ctx ends or the working copy cannot be watched.
func (w *watcher) watch(ctx context.Context) error {
	var err error
	if w.events, err = fsnotify.NewWatcher(); err != nil {
		return err
	}
	defer func() { _ = w.events.Close() }()
	if err := w.followGit(); err != nil {
		return err
	}
	w.made = []string{w.mirror.Root()}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event := <-w.events.Events:
			relevant, err := w.note(event)
			if err != nil {
				return err
			}
			if relevant {
				w.mirror.saved()
				timer.Reset(w.delay())
			}
		case err := <-w.events.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return err
			}
			// Events were lost: check everything.
			w.made = []string{w.mirror.Root()}
			w.mirror.saved()
			timer.Reset(w.delay())
		case <-timer.C:
			if err := w.catchUp(ctx); err != nil {
				return err
			}
		}
	}
}

// delay is how long to wait for further changes.
func (w *watcher) delay() time.Duration {
	if w.since.IsZero() {
		w.since = time.Now()
	}
	return max(0, min(debounce, patience-time.Since(w.since)))
}

// catchUp watches what is new, and only then shows what there is: nothing is missed in between.
func (w *watcher) catchUp(ctx context.Context) error {
	made := w.made
	w.made, w.since = nil, time.Time{}
	if err := w.follow(ctx, made); err != nil {
		return err
	}
	w.sync(ctx)
	w.mirror.seen()
	return nil
}

// saved takes that something was saved that is not shown yet.
func (m *Mirror) saved() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unseen == nil {
		m.unseen = make(chan struct{})
	}
}

// seen takes that everything is shown, or that it cannot be.
func (m *Mirror) seen() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unseen != nil {
		close(m.unseen)
		m.unseen = nil
	}
}

// settle waits until what was saved is shown, as long as changes are gathered at most: who fetches after a save gets what was saved.
func (m *Mirror) settle(ctx context.Context) {
	m.mu.Lock()
	unseen := m.unseen
	m.mu.Unlock()
	if unseen == nil {
		return
	}
	select {
	case <-unseen:
	case <-ctx.Done():
	case <-time.After(2 * patience):
	}
}

// note reports whether a change can matter, and remembers new directories.
func (w *watcher) note(event fsnotify.Event) (bool, error) {
	if event.Name == w.mirror.Root() && (event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)) {
		return false, errors.New("the directory was deleted")
	}
	inGit, matters := w.mirror.gitChange(event.Name)
	if inGit && !matters {
		return false, nil
	}
	if !event.Has(fsnotify.Create) {
		return true, nil
	}
	info, err := os.Lstat(event.Name)
	switch {
	case err != nil || !info.IsDir():
	case inGit:
		return true, w.followAll(event.Name)
	default:
		w.made = append(w.made, event.Name)
	}
	return true, nil
}

// gitChange reports whether a file belongs to the user's repository, and whether it signals a commit,
// a checkout or a tag.
func (m *Mirror) gitChange(name string) (inGit, matters bool) {
	if m.git == "" {
		return false, false
	}
	for _, dir := range []string{m.git, m.common} {
		rel, ok := strings.CutPrefix(name, dir+string(filepath.Separator))
		if !ok {
			continue
		}
		top, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		switch top {
		case "HEAD", "index", "refs", "packed-refs", "reftable":
			return true, !strings.HasSuffix(rel, ".lock")
		default:
			return true, false
		}
	}
	return name == m.git, false
}

// followGit watches where the user's repository says what is checked out.
func (w *watcher) followGit() error {
	if w.mirror.git == "" {
		return nil
	}
	for _, dir := range []string{w.mirror.git, w.mirror.common} {
		if err := w.events.Add(dir); err != nil {
			return err
		}
	}
	refs := filepath.Join(w.mirror.common, "refs")
	return errors.Join(w.add(refs), w.followAll(filepath.Join(refs, "heads")), w.followAll(filepath.Join(refs, "tags")),
		w.followAll(filepath.Join(w.mirror.common, "reftable")))
}

// followAll watches a directory and all below it.
func (w *watcher) followAll(dir string) error {
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !entry.IsDir() {
			return err
		}
		return w.add(name)
	})
}

// add watches a directory, unless it is gone or closed to us.
func (w *watcher) add(dir string) error {
	err := w.events.Add(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// follow watches directories of the working copy and all below them, but for those that are ignored.
func (w *watcher) follow(ctx context.Context, level []string) error {
	for len(level) > 0 {
		kept, err := w.mirror.shown(ctx, level)
		if err != nil {
			return err
		}
		level = nil
		for _, dir := range kept {
			if err := w.add(dir); err != nil {
				return err
			}
			level = append(level, subdirectories(dir)...)
		}
	}
	return nil
}

func (w *watcher) poll(ctx context.Context) {
	ticker := time.NewTicker(polling)
	defer ticker.Stop()
	for {
		w.sync(ctx)
		select {
		case <-ctx.Done():
			return
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
	default:
		w.last = ""
		if changed {
			w.onChange(revision)
		}
	}
}
