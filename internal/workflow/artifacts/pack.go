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
	"path/filepath"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// directoryMark is in the first header of a directory that is stored as it is: it is unpacked wherever it is put, and a tar file that a program wrote is not.
const directoryMark = "headgate: a directory without an archive"

// Pack writes a file or a directory as an artifact is stored: as a compressed archive, unless its strategy says otherwise. The result depends on
// names, modes and contents alone.
func Pack(w io.Writer, file string, strategy *v1alpha1.ArchiveStrategy) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("%q is neither a file nor a directory", file)
	}
	switch {
	case strategy != nil && strategy.Zip != nil:
		return packZip(w, file)
	case strategy != nil && strategy.None != nil && !info.IsDir():
		return copyInto(w, file)
	case strategy != nil && strategy.None != nil:
		return packTar(w, file, directoryMark)
	}
	level := gzip.DefaultCompression
	if strategy != nil && strategy.Tar != nil && strategy.Tar.CompressionLevel != nil {
		level = int(*strategy.Tar.CompressionLevel)
	}
	compressed, err := gzip.NewWriterLevel(w, level)
	if err != nil {
		return fmt.Errorf("archive.tar.compressionLevel: %w", err)
	}
	return errors.Join(packTar(compressed, file, ""), compressed.Close())
}

// entry is one of what is packed.
type entry struct {
	// name is that in the archive, file is where it is.
	name, file string
	info       fs.FileInfo
	link       string
}

// entries walks over a file or a directory, by the name of its last part. What is neither a file, a directory nor a symbolic link is left out.
func entries(top string, each func(entry) error) error {
	// The top may be a link, and what is below it may not lead elsewhere.
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		return err
	}
	return filepath.WalkDir(real, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		below, err := filepath.Rel(real, file)
		if err != nil {
			return err
		}
		one := entry{name: path.Join(filepath.Base(top), filepath.ToSlash(below)), file: file, info: info}
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			if one.link, err = os.Readlink(file); err != nil {
				return err
			}
		case !info.IsDir() && !info.Mode().IsRegular():
			return nil
		}
		return each(one)
	})
}

func packTar(w io.Writer, top, mark string) error {
	archive := tar.NewWriter(w)
	if mark != "" {
		header := &tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": mark}}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
	}
	err := entries(top, func(one entry) error {
		header, err := tar.FileInfoHeader(one.info, one.link)
		if err != nil {
			return err
		}
		// Who wrote it, and when, is not part of the content.
		header = &tar.Header{
			Typeflag: header.Typeflag, Name: one.name, Linkname: header.Linkname, Size: header.Size,
			Mode: int64(one.info.Mode().Perm()), ModTime: time.Unix(0, 0),
		}
		if one.info.IsDir() {
			header.Name += "/"
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if !one.info.Mode().IsRegular() {
			return nil
		}
		return copyInto(archive, one.file)
	})
	return errors.Join(err, archive.Close())
}

func packZip(w io.Writer, top string) error {
	archive := zip.NewWriter(w)
	err := entries(top, func(one entry) error {
		header := &zip.FileHeader{Name: one.name, Method: zip.Deflate}
		header.SetMode(one.info.Mode())
		if one.info.IsDir() {
			header.Name += "/"
		}
		into, err := archive.CreateHeader(header)
		switch {
		case err != nil || one.info.IsDir():
			return err
		case one.link != "":
			_, err = io.WriteString(into, one.link)
			return err
		}
		return copyInto(into, one.file)
	})
	return errors.Join(err, archive.Close())
}

func copyInto(w io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
