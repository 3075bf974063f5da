package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lock holds a state directory for this process.
type lock struct{ file *os.File }

// ErrLocked is returned by Start when another process uses the state directory.
var ErrLocked = errors.New("the state directory is in use")

func acquire(dir string) (*lock, error) {
	name := filepath.Join(dir, "lock")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the state directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(name)
		_ = f.Close()
		if strings.TrimSpace(string(holder)) == strconv.Itoa(os.Getpid()) {
			return nil, fmt.Errorf("%w: a control plane of this process runs in %q, or has not ended", ErrLocked, dir)
		}
		return nil, fmt.Errorf("%w: process %s uses %q; stop it, or choose another directory with --state-dir",
			ErrLocked, strings.TrimSpace(string(holder)), dir)
	}
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("locking the state directory: %w", err)
		}
	}
	return &lock{file: f}, nil
}

func (l *lock) release() { _ = l.file.Close() }

// Lock holds a directory for this process until release is called; it fails with ErrLocked when
// another process holds it.
func Lock(dir string) (release func(), err error) {
	held, err := acquire(dir)
	if err != nil {
		return nil, err
	}
	return held.release, nil
}

// Unused fails with ErrLocked when a process runs a cluster in dir.
func Unused(dir string) error {
	held, err := acquire(dir)
	if err != nil {
		return err
	}
	held.release()
	return nil
}

// Interrupt ends the process that runs a cluster in dir, as Ctrl-C would, and waits until it has
// released the directory.
func Interrupt(ctx context.Context, dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "lock"))
	if err != nil {
		return fmt.Errorf("searching for the process that runs the cluster: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("searching for the process that runs the cluster: %w", err)
	}
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		return fmt.Errorf("interrupting process %d: %w", pid, err)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for errors.Is(unusedOrGone(dir), ErrLocked) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for process %d to end: %w", pid, context.Cause(ctx))
		case <-tick.C:
		}
	}
	return nil
}

// unusedOrGone is Unused for a directory that its process may delete.
func unusedOrGone(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	return Unused(dir)
}
