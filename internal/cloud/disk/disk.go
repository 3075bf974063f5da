// Package disk recognizes images of disks by their first bytes, as a cloud does that imports them.
//
// It takes a stream and returns what it is: the format, how large the disk is, and how much was read. It refuses to
// convert, to store and to fetch anything.
package disk

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Format is how the bytes of an image are arranged.
type Format string

// The formats.
const (
	Raw   Format = "raw"
	QCOW2 Format = "qcow2"
	VHDX  Format = "vhdx"
	VDI   Format = "vdi"
	VMDK  Format = "vmdk"
)

// MaxSize is the largest image that is imported, uncompressed.
const MaxSize = 100 << 30

// Image is what a stream turned out to be.
type Image struct {
	Format Format `json:"format"`
	// Compression is "gzip" or "bzip2", empty for none.
	Compression string `json:"compression,omitempty"`
	// Bytes is the uncompressed length of the file, Disk that of the disk in it.
	Bytes int64 `json:"bytes"`
	Disk  int64 `json:"disk"`
}

// The ways in which an image is refused, in the words of DigitalOcean.
var (
	ErrCompression = errors.New("We don't support the compression format of your image. Please try again with a supported format (gzip, bzip2) or an uncompressed image file.")
	ErrDecompress  = errors.New("We had a problem decompressing your file. This typically happens if the archive is corrupt or contains multiple files. Please try decompressing the file locally and uploading the uncompressed image, or recompressing using gzip or bzip2.")
	ErrFormat      = errors.New("We don't support the format of your image. Please try again with a supported format (raw, qcow2, vhdx, vdi, vmdk).")
	ErrSize        = errors.New("Your image is too large. Please try again with an image of less than 100 GB.")
)

// Inspect reads an image to its end and says what it is.
func Inspect(r io.Reader) (Image, error) {
	compressed := bufio.NewReaderSize(r, peeked)
	plain, compression, err := decompress(compressed)
	if err != nil {
		return Image{}, err
	}
	content := bufio.NewReaderSize(plain, peeked)
	head, err := content.Peek(peeked)
	if err != nil && !errors.Is(err, io.EOF) {
		return Image{}, readError(compression, err)
	}
	if compression != "" && archive(head) {
		return Image{}, ErrDecompress
	}
	format, disk, err := recognize(head)
	if err != nil {
		return Image{}, err
	}
	length, err := io.Copy(io.Discard, io.LimitReader(content, MaxSize+1))
	switch {
	case err != nil:
		return Image{}, readError(compression, err)
	case length > MaxSize:
		return Image{}, ErrSize
	}
	if format == Raw {
		disk = length
	}
	return Image{Format: format, Compression: compression, Bytes: length, Disk: disk}, nil
}

// peeked is how much of an image is needed to recognize it.
const peeked = 4096

func decompress(r *bufio.Reader) (io.Reader, string, error) {
	head, err := r.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", fmt.Errorf("reading the image: %w", err)
	}
	switch {
	case starts(head, "\x1f\x8b"):
		plain, err := gzip.NewReader(r)
		if err != nil {
			return nil, "", ErrDecompress
		}
		return plain, "gzip", nil
	case starts(head, "BZh"):
		return bzip2.NewReader(r), "bzip2", nil
	case starts(head, "\xfd7zXZ\x00"), starts(head, "\x28\xb5\x2f\xfd"), starts(head, "PK\x03\x04"), starts(head, "7z\xbc\xaf\x27\x1c"):
		return nil, "", ErrCompression
	}
	return r, "", nil
}

// recognize names the format of an image by its head, and the size of the disk where the head says it.
func recognize(head []byte) (Format, int64, error) {
	switch {
	case starts(head, "QFI\xfb"):
		return QCOW2, int64(number(head, 24, binary.BigEndian)), nil
	case starts(head, "vhdxfile"):
		return VHDX, 0, nil
	case starts(head, "KDMV"):
		return VMDK, 512 * int64(number(head, 12, binary.LittleEndian)), nil
	case starts(head, "# Disk DescriptorFile"):
		return VMDK, 0, nil
	case len(head) >= 0x44 && starts(head[0x40:], "\x7f\x10\xda\xbe"):
		return VDI, int64(number(head, 0x170, binary.LittleEndian)), nil
	case len(head) >= 512 && starts(head[510:], "\x55\xaa"):
		return Raw, 0, nil
	case archive(head):
		return "", 0, ErrCompression
	}
	return "", 0, ErrFormat
}

// archive reports whether the head is that of a tar archive: several files in one.
func archive(head []byte) bool { return len(head) >= 262 && starts(head[257:], "ustar") }

func starts(head []byte, with string) bool {
	return len(head) >= len(with) && string(head[:len(with)]) == with
}

// number reads a size in a header; one that is absent or absurd is none.
func number(head []byte, at int, order binary.ByteOrder) uint64 {
	if len(head) < at+8 {
		return 0
	}
	if n := order.Uint64(head[at:]); n <= MaxSize {
		return n
	}
	return 0
}

// readError says why the content could not be read: a compressed one is corrupt, or the transfer ended.
func readError(compression string, err error) error {
	var corrupt bzip2.StructuralError
	if compression != "" && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt)) {
		return ErrDecompress
	}
	return fmt.Errorf("reading the image: %w", err)
}
