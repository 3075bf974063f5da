package disk_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/cloud/disk"
)

// raw is a disk with a boot sector.
func raw(size int) []byte {
	b := make([]byte, size)
	b[510], b[511] = 0x55, 0xaa
	return b
}

func qcow2(virtual uint64) []byte {
	b := make([]byte, 512)
	copy(b, "QFI\xfb\x00\x00\x00\x03")
	binary.BigEndian.PutUint64(b[24:], virtual)
	return b
}

func vmdk(sectors uint64) []byte {
	b := append([]byte("KDMV"), make([]byte, 60)...)
	binary.LittleEndian.PutUint64(b[12:], sectors)
	return b
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarred(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "disk.raw", Mode: 0o644, Size: int64(len(content)), Format: tar.FormatUSTAR}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bzipped is raw(8192), which the standard library cannot pack.
const bzipped = "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xfc\xc7\x1c\x87\x00\x00\x0f\xe2\x10\xc0\x00\x00\x10\x02\x00\x00\x10\x00\x08\x20\x00\x30\xcd\x00\x54\x86\x95\x24\xbd\xbc\x42\x65\xd0\x78\xbb\x92\x29\xc2\x84\x87\xe6\x38\xe4\x38"

func TestInspect(t *testing.T) {
	broken := errors.New("the connection broke")
	packed := zipped(t, bytes.Repeat([]byte("0123456789abcdef"), 4096))
	whole := zipped(t, raw(64<<10))
	for name, tc := range map[string]struct {
		reason string
		of     io.Reader
		want   disk.Image
		err    error
	}{
		"Raw":         {"a boot sector makes a disk, as large as the file", bytes.NewReader(raw(8192)), disk.Image{Format: disk.Raw, Bytes: 8192, Disk: 8192}, nil},
		"QCOW2":       {"the header names the size of the disk", bytes.NewReader(qcow2(5 << 30)), disk.Image{Format: disk.QCOW2, Bytes: 512, Disk: 5 << 30}, nil},
		"VMDK":        {"the header counts sectors", bytes.NewReader(vmdk(2048)), disk.Image{Format: disk.VMDK, Bytes: 64, Disk: 1 << 20}, nil},
		"VHDX":        {"the size is further inside", bytes.NewReader([]byte("vhdxfile and more")), disk.Image{Format: disk.VHDX, Bytes: 17}, nil},
		"Zipped":      {"what nixos-generators makes", bytes.NewReader(zipped(t, qcow2(3<<30))), disk.Image{Format: disk.QCOW2, Compression: "gzip", Bytes: 512, Disk: 3 << 30}, nil},
		"ZippedRaw":   {"the size is that of the content", bytes.NewReader(whole), disk.Image{Format: disk.Raw, Compression: "gzip", Bytes: 64 << 10, Disk: 64 << 10}, nil},
		"Absurd":      {"a size that a header cannot mean is none", bytes.NewReader(qcow2(1 << 62)), disk.Image{Format: disk.QCOW2, Bytes: 512}, nil},
		"Text":        {"not an image", bytes.NewReader([]byte("#!/bin/sh\nexit 0\n")), disk.Image{}, disk.ErrFormat},
		"Empty":       {"nothing at all", bytes.NewReader(nil), disk.Image{}, disk.ErrFormat},
		"ZippedText":  {"not an image, packed", bytes.NewReader(packed), disk.Image{}, disk.ErrFormat},
		"TarGz":       {"an archive with several files", bytes.NewReader(zipped(t, tarred(t, raw(1024)))), disk.Image{}, disk.ErrDecompress},
		"Tar":         {"an archive that is not compressed", bytes.NewReader(tarred(t, raw(1024))), disk.Image{}, disk.ErrCompression},
		"XZ":          {"a compression that is not supported", bytes.NewReader([]byte("\xfd7zXZ\x00rest of it")), disk.Image{}, disk.ErrCompression},
		"Zip":         {"another one", bytes.NewReader([]byte("PK\x03\x04rest of it")), disk.Image{}, disk.ErrCompression},
		"Truncated":   {"an upload that ended early", bytes.NewReader(whole[:len(whole)-9]), disk.Image{}, disk.ErrDecompress},
		"Bzip2":       {"a disk of 8 KiB, packed by bzip2", strings.NewReader(bzipped), disk.Image{Format: disk.Raw, Compression: "bzip2", Bytes: 8192, Disk: 8192}, nil},
		"BrokenBzip2": {"corrupt data", bytes.NewReader(append([]byte("BZh9"), make([]byte, 64)...)), disk.Image{}, disk.ErrDecompress},
		"Transfer":    {"the transfer failed, which is not a fault of the image", iotest.ErrReader(broken), disk.Image{}, broken},
		"InTransfer":  {"the same, after the head", io.MultiReader(bytes.NewReader(raw(8192)), iotest.ErrReader(broken)), disk.Image{}, broken},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := disk.Inspect(tc.of)
			if !errors.Is(err, tc.err) || (err == nil) != (tc.err == nil) {
				t.Fatalf("%s: error %v, want %v", tc.reason, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
