package source

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// keeper holds the contents of files: small ones in memory, large ones on disk.
type keeper struct {
	// dir is where large files are; when it is empty everything is kept in memory.
	dir string
}

// file keeps the content of one file, which must have the given size.
func (k keeper) file(name string, mode fs.FileMode, size int64, r io.Reader) (*File, error) {
	if size > inMemory && k.dir != "" {
		return k.spill(name, mode, size, r)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("reading %q: %w", name, err)
	}
	return NewFile(name, mode, data), nil
}

// spill keeps a content in a file that no longer has a name: nothing else can change it, and it is deleted
// with the last tree that holds it, or with the process.
func (k keeper) spill(name string, mode fs.FileMode, size int64, r io.Reader) (*File, error) {
	kept, err := os.CreateTemp(k.dir, tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("keeping %q: %w", name, err)
	}
	sum := sha256.New()
	err = os.Remove(kept.Name())
	if err == nil {
		_, err = io.CopyN(io.MultiWriter(kept, sum), r, size)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("keeping %q: %w", name, err), kept.Close())
	}
	read := func() ([]byte, error) { return io.ReadAll(io.NewSectionReader(kept, 0, size)) }
	return NewLazyFile(name, mode, size, hex.EncodeToString(sum.Sum(nil)), read), nil
}

// verified reads a file that must still have the digest.
func verified(name, digest string) func() ([]byte, error) {
	return func() ([]byte, error) {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
			return nil, fmt.Errorf("file %q changed while it was in use", name)
		}
		return data, nil
	}
}
