package registry

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// medium is where content is stored, by its digest.
type medium interface {
	// spool begins content whose digest is unknown yet.
	spool() (spool, error)
	// open reads content.
	open(digest string) (io.ReadSeekCloser, error)
	remove(digest string) error
}

// spool collects content.
type spool interface {
	io.Writer
	// settle has all that was written survive.
	settle() error
	// keep stores what was settled.
	keep(digest string) error
	// discard ends it; it does nothing after keep.
	discard()
}

// memory stores content in this process.
type memory struct {
	mu      sync.Mutex
	content map[string][]byte
}

func newMemory() *memory { return &memory{content: map[string][]byte{}} }

type buffer struct {
	bytes.Buffer
	in *memory
}

func (m *memory) spool() (spool, error) { return &buffer{in: m}, nil }

func (b *buffer) settle() error { return nil }
func (b *buffer) discard()      { b.Buffer = bytes.Buffer{} }
func (b *buffer) keep(digest string) error {
	b.in.mu.Lock()
	defer b.in.mu.Unlock()
	b.in.content[digest] = b.Bytes()
	return nil
}

type reader struct{ *bytes.Reader }

func (reader) Close() error { return nil }

func (m *memory) open(digest string) (io.ReadSeekCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, there := m.content[digest]
	if !there {
		return nil, os.ErrNotExist
	}
	return reader{bytes.NewReader(content)}, nil
}

func (m *memory) remove(digest string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.content, digest)
	return nil
}

// disk stores content in a directory: blobs by digest, uploads in progress, and a file for each image.
type disk struct{ blobs, spools, images string }

// openDisk makes the directory, and drops uploads that a previous process began.
func openDisk(dir string) (*disk, error) {
	d := &disk{blobs: filepath.Join(dir, "blobs"), spools: filepath.Join(dir, "uploads"), images: filepath.Join(dir, "images")}
	if err := os.RemoveAll(d.spools); err != nil {
		return nil, err
	}
	for _, path := range []string{d.blobs, d.spools, d.images} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *disk) path(digest string) string {
	return filepath.Join(d.blobs, strings.TrimPrefix(digest, "sha256:"))
}

type file struct {
	*os.File
	in *disk
}

func (d *disk) spool() (spool, error) {
	f, err := os.CreateTemp(d.spools, "upload-")
	if err != nil {
		return nil, err
	}
	return &file{f, d}, nil
}

func (f *file) settle() error {
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

func (f *file) keep(digest string) error { return os.Rename(f.Name(), f.in.path(digest)) }

func (f *file) discard() {
	f.Close()
	os.Remove(f.Name())
}

func (d *disk) open(digest string) (io.ReadSeekCloser, error) { return os.Open(d.path(digest)) }
func (d *disk) remove(digest string) error                    { return os.Remove(d.path(digest)) }

// write replaces a file, so that it is either as it was or complete.
func (d *disk) write(name string, content []byte) error {
	f, err := os.CreateTemp(d.spools, "image-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(content); err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(d.images, name))
}

// epoch is the time of change of all blobs: their content never changes.
var epoch = time.Unix(0, 0)
