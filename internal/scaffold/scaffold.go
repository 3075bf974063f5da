// Package scaffold makes modules of typed charts: the files of a new one, and the copy of the chart SDK that it is built with.
// It refuses to overwrite a file of a person, to run programs, and to fetch anything.
package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CopyDir is the directory of the copy of the SDK in a module. Go passes over directories that begin with a dot, so that "./..." is
// what the person wrote.
const CopyDir = ".headgate/sdk"

// File is one file of a module, by its name with slashes.
type File struct {
	Name string
	Data []byte
}

// ExistsError names files that are there already.
type ExistsError struct {
	Dir   string
	Names []string
}

// Error is the message.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("%q has %s already", e.Dir, strings.Join(e.Names, ", "))
}

// Write writes the files of a new module into a directory, none if any of them exists.
func Write(dir string, files []File) error {
	var taken []string
	for _, f := range files {
		switch _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.Name))); {
		case err == nil:
			taken = append(taken, f.Name)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if len(taken) > 0 {
		return &ExistsError{Dir: dir, Names: taken}
	}
	return write(dir, files)
}

// Renew writes the copy of the SDK of a module again, and deletes what the earlier copy had besides.
func Renew(dir string, files []File) error {
	to := filepath.Join(dir, filepath.FromSlash(CopyDir))
	made, earlier := to+".new", to+".old"
	if err := errors.Join(os.RemoveAll(made), os.RemoveAll(earlier)); err != nil {
		return fmt.Errorf("removing what an interrupted renewal left: %w", err)
	}
	if err := write(made, files); err != nil {
		return err
	}
	if err := os.Rename(to, earlier); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(made, to); err != nil {
		return err
	}
	return os.RemoveAll(earlier)
}

// Below are the files in a directory of a module.
func Below(dir string, files []File) []File {
	moved := slices.Clone(files)
	for i := range moved {
		moved[i].Name = dir + "/" + moved[i].Name
	}
	return moved
}

func write(dir string, files []File) error {
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("creating the module: %w", err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			return fmt.Errorf("creating the module: %w", err)
		}
	}
	return nil
}
