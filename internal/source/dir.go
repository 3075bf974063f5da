package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// inMemory is the largest file whose content a tree keeps in memory.
const inMemory = 1 << 20

// ReadDir reads a directory of this machine into a tree, without what Flux leaves out. Symbolic
// links are kept as links. Large files are read when they are needed; one that changes meanwhile is
// an error then.
func ReadDir(dir string, ignore *string) (*Tree, error) {
	var files []*File
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		f, err := readEntry(name, filepath.ToSlash(rel), entry)
		if f != nil {
			files = append(files, f)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading directory %q: %w", dir, err)
	}
	if files, err = Filter(files, ignore); err != nil {
		return nil, err
	}
	return NewTree(files)
}

func readEntry(name, rel string, entry fs.DirEntry) (*File, error) {
	info, err := entry.Info()
	if err != nil {
		return nil, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(name)
		if err != nil {
			return nil, err
		}
		return NewLink(rel, target), nil
	case !info.Mode().IsRegular():
		return nil, nil
	case info.Size() > inMemory:
		return readLarge(name, rel, info)
	default:
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return NewFile(rel, info.Mode(), data), nil
	}
}

func readLarge(name, rel string, info fs.FileInfo) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return nil, err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	return NewLazyFile(rel, info.Mode(), size, digest, verified(name, digest)), nil
}

// verified reads a file that must still have the digest.
func verified(name, digest string) func() ([]byte, error) {
	return func() ([]byte, error) {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
			return nil, fmt.Errorf("file %q changed while it was used", name)
		}
		return data, nil
	}
}
