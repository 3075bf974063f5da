package source

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// maxFile is the largest file that a source may hold.
const maxFile = 100 << 20

// blobs collects the files of a commit. Contents that the previous tree has are shared with it.
type blobs struct {
	spill    string
	previous *Tree
	files    []*File
}

func (b *blobs) add(f *object.File) error {
	switch f.Mode {
	case filemode.Submodule:
		return nil
	case filemode.Symlink:
		target, err := f.Contents()
		if err != nil {
			return fmt.Errorf("reading link %q: %w", f.Name, err)
		}
		b.files = append(b.files, NewLink(f.Name, target))
		return nil
	}
	mode, err := f.Mode.ToOSFileMode()
	if err != nil {
		return fmt.Errorf("reading %q: %w", f.Name, err)
	}
	if f.Size > maxFile {
		return fmt.Errorf("file %q has %d bytes, more than %d; leave it out by spec.ignore or a %s file",
			f.Name, f.Size, maxFile, ignoreFile)
	}
	r, err := f.Reader()
	if err != nil {
		return fmt.Errorf("reading %q: %w", f.Name, err)
	}
	defer r.Close()
	if f.Size > inMemory {
		return b.addLarge(f, r)
	}
	data := make([]byte, f.Size)
	if _, err := io.ReadFull(r, data); err != nil {
		return fmt.Errorf("reading %q: %w", f.Name, err)
	}
	file := NewFile(f.Name, mode, data)
	if b.previous != nil {
		if old, ok := b.previous.File(f.Name); ok && old.Digest == file.Digest && old.Mode == file.Mode {
			file = old
		}
	}
	b.files = append(b.files, file)
	return nil
}

// addLarge keeps a large file on disk, by its digest.
func (b *blobs) addLarge(f *object.File, r io.Reader) error {
	temp, err := os.CreateTemp(b.spill, ".new-")
	if err != nil {
		return fmt.Errorf("keeping %q: %w", f.Name, err)
	}
	defer os.Remove(temp.Name())
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(temp, sum), r)
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("keeping %q: %w", f.Name, err)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	name := filepath.Join(b.spill, digest)
	if b.spill == "" {
		name = filepath.Join(os.TempDir(), "headgate-"+digest)
	}
	if err := os.Rename(temp.Name(), name); err != nil {
		return fmt.Errorf("keeping %q: %w", f.Name, err)
	}
	b.files = append(b.files, NewLazyFile(f.Name, 0o644, f.Size, digest, verified(name, digest)))
	return nil
}
