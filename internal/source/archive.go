package source

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Limits bound what Unpack takes.
type Limits struct {
	// Files is the largest number of entries, Bytes the largest sum of their sizes.
	Files int
	Bytes int64
}

// DefaultLimits are enough for large repositories and stop a decompression bomb.
func DefaultLimits() Limits { return Limits{Files: 200_000, Bytes: 1 << 30} }

// Pack writes a tree as a tar.gz that depends on its content only, and returns the "sha256:" digest
// and the number of bytes of what it wrote.
func Pack(t *Tree, w io.Writer) (digest string, size int64, err error) {
	sum := sha256.New()
	counter := &counter{w: io.MultiWriter(w, sum)}
	gz := gzip.NewWriter(counter)
	tw := tar.NewWriter(gz)
	for _, p := range t.Paths() {
		if err := packFile(tw, t.files[p]); err != nil {
			return "", 0, err
		}
	}
	if err := errors.Join(tw.Close(), gz.Close()); err != nil {
		return "", 0, fmt.Errorf("packing: %w", err)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), counter.n, nil
}

func packFile(tw *tar.Writer, f *File) error {
	header := &tar.Header{Name: f.Path, Mode: int64(f.Mode.Perm()), ModTime: time.Unix(0, 0), Typeflag: tar.TypeReg, Size: f.Size}
	if f.Link != "" {
		header.Typeflag, header.Linkname, header.Size = tar.TypeSymlink, f.Link, 0
	}
	if err := tw.WriteHeader(header); err != nil {
		return fmt.Errorf("packing %q: %w", f.Path, err)
	}
	if f.Link != "" {
		return nil
	}
	data, err := f.Read()
	if err != nil {
		return err
	}
	if _, err := tw.Write(data); err != nil {
		return fmt.Errorf("packing %q: %w", f.Path, err)
	}
	return nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Unpack reads a tar.gz into a tree. It refuses paths that leave the tree, entries that are neither
// files, directories nor symbolic links, and more than limits allow.
func Unpack(r io.Reader, limits Limits) (*Tree, error) {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	tr := tar.NewReader(gz)
	var files []*File
	var total int64
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return NewTree(files)
		}
		if err != nil {
			return nil, fmt.Errorf("unpacking: %w", err)
		}
		f, err := unpackFile(tr, header, limits.Bytes-total)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		if total += f.Size; len(files) >= limits.Files {
			return nil, fmt.Errorf("unpacking: more than %d files", limits.Files)
		}
		files = append(files, f)
	}
}

func unpackFile(r io.Reader, h *tar.Header, left int64) (*File, error) {
	name := path.Clean(strings.TrimPrefix(h.Name, "./"))
	if h.Typeflag == tar.TypeDir || name == "." {
		return nil, nil
	}
	if !fs.ValidPath(name) {
		return nil, fmt.Errorf("unpacking: path %q leaves the archive", h.Name)
	}
	switch h.Typeflag {
	case tar.TypeSymlink:
		return NewLink(name, h.Linkname), nil
	case tar.TypeReg:
		data, err := io.ReadAll(io.LimitReader(r, left+1))
		if err != nil {
			return nil, fmt.Errorf("unpacking %q: %w", name, err)
		}
		if int64(len(data)) > left {
			return nil, fmt.Errorf("unpacking %q: the archive is larger than allowed", name)
		}
		return NewFile(name, fs.FileMode(h.Mode).Perm(), data), nil
	case tar.TypeXGlobalHeader:
		return nil, nil
	default:
		return nil, fmt.Errorf("unpacking %q: entries of type %q are not allowed", name, h.Typeflag)
	}
}
