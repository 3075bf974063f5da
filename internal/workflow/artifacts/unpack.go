package artifacts

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// unpacker puts what an archive has below a directory, which nothing leaves: neither by its path nor by way of a symbolic link.
type unpacker struct {
	into   *os.Root
	limits Limits
	files  int
	bytes  int64
}

// unpack puts a stored content at a name in a directory: as the file that it is, or as what its archive has.
func unpack(into *os.Root, name string, content *os.File, strategy *v1alpha1.ArchiveStrategy, limits Limits) error {
	format, err := formatOf(content, strategy)
	if err != nil {
		return err
	}
	if format == plainFile {
		return into.Rename(path.Base(content.Name()), name)
	}
	temp := name + ".unpacked"
	if err := into.Mkdir(temp, 0o755); err != nil {
		return err
	}
	inside, err := into.OpenRoot(temp)
	if err != nil {
		return err
	}
	defer func() { _ = inside.Close() }()
	u := &unpacker{into: inside, limits: limits}
	if format == zipFile {
		err = u.zip(content)
	} else {
		err = u.tar(content, format == compressedTar)
	}
	if err != nil {
		return fmt.Errorf("unpacking: %w", err)
	}
	return adopt(into, inside, temp, name)
}

// adopt gives what was unpacked its name. An archive with one entry is that entry, as archives are that Pack wrote.
func adopt(into, inside *os.Root, temp, name string) error {
	top, err := fs.ReadDir(inside.FS(), ".")
	if err != nil {
		return err
	}
	if len(top) != 1 {
		return into.Rename(temp, name)
	}
	if !top[0].IsDir() && !top[0].Type().IsRegular() {
		return fmt.Errorf("the archive has nothing but %q, which is neither a file nor a directory", top[0].Name())
	}
	if err := into.Rename(path.Join(temp, top[0].Name()), name); err != nil {
		return err
	}
	return into.Remove(temp)
}

type format int

const (
	plainFile format = iota
	compressedTar
	markedTar
	zipFile
)

// formatOf reports what is to be unpacked: a compressed archive unless the strategy is none, and what Pack has marked.
func formatOf(content *os.File, strategy *v1alpha1.ArchiveStrategy) (format, error) {
	none := strategy != nil && strategy.None != nil
	found := plainFile
	switch {
	case strategy != nil && strategy.Zip != nil:
		found = zipFile
	case none:
		if header, err := tar.NewReader(content).Next(); err == nil && header.Typeflag == tar.TypeXGlobalHeader && header.PAXRecords["comment"] == directoryMark {
			found = markedTar
		}
	default:
		compressed, err := gzip.NewReader(content)
		if err != nil {
			break
		}
		if _, err := tar.NewReader(compressed).Next(); err == nil || errors.Is(err, io.EOF) {
			found = compressedTar
		}
	}
	_, err := content.Seek(0, io.SeekStart)
	return found, err
}

func (u *unpacker) tar(content io.Reader, compressed bool) error {
	if compressed {
		plain, err := gzip.NewReader(content)
		if err != nil {
			return err
		}
		content = plain
	}
	// Entries that are no files cost something, too.
	const header = 16 << 10
	archive := tar.NewReader(&bounded{from: content, left: u.limits.Bytes + int64(u.limits.Files)*header})
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := u.entry(h, archive); err != nil {
			return fmt.Errorf("entry %q: %w", h.Name, err)
		}
	}
}

func (u *unpacker) entry(h *tar.Header, content io.Reader) error {
	name := path.Clean(strings.TrimPrefix(h.Name, "./"))
	switch h.Typeflag {
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeDir:
		return u.directory(name)
	case tar.TypeReg:
		return u.file(name, fs.FileMode(h.Mode), content)
	case tar.TypeSymlink:
		return u.link(name, func() error { return u.into.Symlink(h.Linkname, name) })
	case tar.TypeLink:
		return u.link(name, func() error { return u.into.Link(path.Clean(h.Linkname), name) })
	default:
		return fmt.Errorf("type %q is not allowed", h.Typeflag)
	}
}

func (u *unpacker) zip(content *os.File) error {
	info, err := content.Stat()
	if err != nil {
		return err
	}
	archive, err := zip.NewReader(content, info.Size())
	if err != nil {
		return err
	}
	for _, f := range archive.File {
		if err := u.zipped(f); err != nil {
			return fmt.Errorf("entry %q: %w", f.Name, err)
		}
	}
	return nil
}

func (u *unpacker) zipped(f *zip.File) error {
	name := path.Clean(f.Name)
	if f.FileInfo().IsDir() {
		return u.directory(name)
	}
	content, err := f.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	if f.Mode()&fs.ModeSymlink == 0 {
		return u.file(name, f.Mode(), content)
	}
	const longest = 4096
	target, err := io.ReadAll(io.LimitReader(content, longest))
	if err != nil {
		return err
	}
	return u.link(name, func() error { return u.into.Symlink(string(target), name) })
}

// take counts one more entry.
func (u *unpacker) take(name string) error {
	if u.files++; u.files > u.limits.Files {
		return fmt.Errorf("there are more than %d files", u.limits.Files)
	}
	if !fs.ValidPath(name) {
		return errors.New("it leaves the archive")
	}
	return nil
}

func (u *unpacker) directory(name string) error {
	if err := u.take(name); err != nil || name == "." {
		return err
	}
	return u.into.MkdirAll(name, 0o755)
}

func (u *unpacker) parent(name string) error {
	if err := u.take(name); err != nil {
		return err
	}
	if name == "." {
		return errors.New("it has no name")
	}
	if parent := path.Dir(name); parent != "." {
		return u.into.MkdirAll(parent, 0o755)
	}
	return nil
}

func (u *unpacker) link(name string, create func() error) error {
	if err := u.parent(name); err != nil {
		return err
	}
	return create()
}

func (u *unpacker) file(name string, mode fs.FileMode, content io.Reader) error {
	if err := u.parent(name); err != nil {
		return err
	}
	f, err := u.into.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode.Perm()|0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, &bounded{from: content, left: u.limits.Bytes - u.bytes})
	u.bytes += n
	return errors.Join(err, f.Close())
}
