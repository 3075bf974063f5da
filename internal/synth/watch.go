package synth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Times of a watch: how long changes are gathered, and how long at most when they do not end.
const (
	debounce = 30 * time.Millisecond
	patience = 500 * time.Millisecond
)

// Task is done at first and after every change.
type Task interface {
	// Do does it, until its context ends since there is a newer change.
	Do(ctx context.Context)
}

// Watch has a task done whenever something changed that the program is built from or may read: the files of its packages, and those below
// its directory. A change while it is done ends that and begins it again. It returns when ctx ends, or if nothing can be
// watched.
func (p *Program) Watch(ctx context.Context, output string, task Task) error {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching %q: %w", p.Dir, err)
	}
	defer func() { _ = events.Close() }()
	w := &watch{program: p, output: output, events: events}
	if err := w.cover(); err != nil {
		return err
	}
	current := begin(ctx, task)
	defer func() { current.end() }()
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-events.Events:
			if w.matters(event) {
				timer.Reset(w.delay(time.Now()))
			}
		case err := <-events.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watching %q: %w", p.Dir, err)
			}
			timer.Reset(w.delay(time.Now()))
		case <-timer.C:
			current.end()
			if err := w.renew(ctx); err != nil {
				return err
			}
			current = begin(ctx, task)
		}
	}
}

// watch is what is known between changes.
type watch struct {
	program *Program
	output  string
	events  *fsnotify.Watcher
	since   time.Time
	// made says that something was created, so that there may be more to watch.
	made bool
}

// delay is how long to wait for further changes.
func (w *watch) delay(now time.Time) time.Duration {
	if w.since.IsZero() {
		w.since = now
	}
	return max(0, min(debounce, patience-now.Sub(w.since)))
}

// renew watches what was created since.
func (w *watch) renew(ctx context.Context) error {
	made := w.made
	w.since, w.made = time.Time{}, false
	if !made {
		return nil
	}
	// What cannot be read now, since it does not compile, is reported by the build.
	_ = w.program.inspect(ctx)
	return w.cover()
}

// cover watches the directories below that of the program, those of the packages that it is built from, and that of the module.
func (w *watch) cover() error {
	for _, dir := range append([]string{w.program.Module}, w.program.Watched...) {
		if err := w.events.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("watching %q: %w", dir, err)
		}
	}
	return filepath.WalkDir(w.program.Dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case name != w.program.Dir && (hidden(name) || name == w.output):
			return filepath.SkipDir
		}
		return w.events.Add(name)
	})
}

// matters reports whether a change can change what the program is, or what it reads.
func (w *watch) matters(event fsnotify.Event) bool {
	name := event.Name
	if event.Op == fsnotify.Chmod || hidden(name) || strings.HasSuffix(name, "~") || strings.HasSuffix(name, "_test.go") {
		return false
	}
	if name == w.output || strings.HasPrefix(name, w.output+string(filepath.Separator)) {
		return false
	}
	if event.Has(fsnotify.Create) {
		info, err := os.Stat(name)
		w.made = w.made || err == nil && (info.IsDir() || filepath.Ext(name) == ".go")
	}
	w.made = w.made || filepath.Base(name) == "go.mod"
	return true
}

func hidden(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") }

// running is a task that is being done.
type running struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func begin(ctx context.Context, task Task) running {
	ctx, cancel := context.WithCancel(ctx)
	r := running{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		task.Do(ctx)
	}()
	return r
}

// end ends the task and waits for that.
func (r running) end() {
	r.cancel()
	<-r.done
}
