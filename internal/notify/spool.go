package notify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// spool keeps small files in a directory, each of them whole or not there. Without a directory it keeps
// nothing.
type spool struct{ dir string }

const (
	halfWritten = ".half-"
	fileEnd     = ".json"
)

// newSpool makes the directory, and clears away what a killed process has left half written.
func newSpool(dir string) (*spool, error) {
	if dir == "" {
		return &spool{}, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of the queue: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, halfWritten+"*"))
	if err != nil {
		return nil, fmt.Errorf("searching for partial files: %w", err)
	}
	for _, name := range left {
		_ = os.Remove(name)
	}
	return &spool{dir: dir}, nil
}

// put writes a file so that it is there after a power cut, or not at all.
func (s *spool) put(name string, data []byte) (err error) {
	if s.dir == "" {
		return nil
	}
	half, err := os.CreateTemp(s.dir, halfWritten+"*")
	if err != nil {
		return fmt.Errorf("writing %q: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("writing %q: %w", name, err), os.Remove(half.Name()))
		}
	}()
	_, err = half.Write(data)
	err = errors.Join(err, half.Sync(), half.Close())
	if err != nil {
		return err
	}
	if err = os.Rename(half.Name(), filepath.Join(s.dir, name)); err != nil {
		return err
	}
	return s.sync()
}

// sync makes the names of the directory last.
func (s *spool) sync() error {
	dir, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

func (s *spool) remove(name string) error {
	if s.dir == "" {
		return nil
	}
	err := os.Remove(filepath.Join(s.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %q: %w", name, err)
	}
	return nil
}

// list returns the names of the files, the oldest first.
func (s *spool) list() ([]string, error) {
	if s.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("listing the queue: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), fileEnd) && !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (s *spool) read(name string) ([]byte, error) {
	if s.dir == "" {
		return nil, fs.ErrNotExist
	}
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", name, err)
	}
	return data, nil
}
