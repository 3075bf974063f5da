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
	"time"
)

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
	link := f.Mode&fs.ModeSymlink != 0
	header := &tar.Header{Name: f.Path, Mode: int64(f.Mode.Perm()), ModTime: time.Unix(0, 0), Typeflag: tar.TypeReg, Size: f.Size}
	if link {
		header.Typeflag, header.Linkname, header.Size = tar.TypeSymlink, f.Link, 0
	}
	if err := tw.WriteHeader(header); err != nil {
		return fmt.Errorf("packing %q: %w", f.Path, err)
	}
	if link {
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

// Unpack reads a tar.gz into a tree. It refuses paths that leave the tree, files below a symbolic
// link, entries that are neither files, directories nor symbolic links, and more than limits allow.
// A symbolic link is a value here, whatever it points to: Tree.Resolve follows it inside the tree
// only.
func Unpack(r io.Reader, limits Limits) (*Tree, error) {
	return unpack(r, limits, keeper{})
}

// UnpackInto is Unpack with large files kept in a directory instead of memory.
func UnpackInto(dir string, r io.Reader, limits Limits) (*Tree, error) {
	return unpack(r, limits, keeper{dir: dir})
}

// headerBytes is what an archive may spend per file beside its content: a directory, a header, an
// extended header, and padding.
const headerBytes = 16 << 10

func unpack(r io.Reader, limits Limits, keep keeper) (*Tree, error) {
	gz, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	// Entries that are no files cost nothing of the budget, so that the stream itself is bounded.
	tr := tar.NewReader(&capped{r: gz, left: limits.Bytes + (int64(limits.Files)+1)*headerBytes})
	taken := budget{limits: limits}
	var files []*File
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return NewTree(files)
		}
		if err != nil {
			return nil, fmt.Errorf("unpacking: %w", err)
		}
		f, err := unpackFile(tr, header, &taken, keep)
		if err != nil {
			return nil, fmt.Errorf("unpacking: %w", err)
		}
		if f != nil {
			files = append(files, f)
		}
	}
}

func unpackFile(r io.Reader, h *tar.Header, taken *budget, keep keeper) (*File, error) {
	name := path.Clean(h.Name)
	if h.Typeflag == tar.TypeXGlobalHeader || h.Typeflag == tar.TypeDir && (name == "." || fs.ValidPath(name)) {
		return nil, nil
	}
	if !fs.ValidPath(name) || name == "." {
		return nil, fmt.Errorf("path %q leaves the archive", h.Name)
	}
	switch h.Typeflag {
	case tar.TypeSymlink:
		if len(h.Linkname) > maxLink {
			return nil, fmt.Errorf("symbolic link %q: its target is longer than %d bytes", name, maxLink)
		}
		return NewLink(name, h.Linkname), taken.take(name, 0)
	case tar.TypeReg:
		if err := taken.take(name, h.Size); err != nil {
			return nil, err
		}
		return keep.file(name, fs.FileMode(h.Mode).Perm(), h.Size, r)
	default:
		return nil, fmt.Errorf("entry %q: type %q is not allowed", name, h.Typeflag)
	}
}

// errTooLarge ends the reading of an archive that expands to more than is allowed.
var errTooLarge = errors.New("the archive expands to more than the limit")

type capped struct {
	r    io.Reader
	left int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLarge
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
