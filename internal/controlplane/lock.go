package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
		return nil, fmt.Errorf("%w: process %s runs a cluster in %q; stop it, or choose another directory with --state-dir",
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
