package source_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/source"
)

func TestPackAndUnpack(t *testing.T) {
	files := map[string]string{"a.yaml": "a: 1\n", "dir/b.yaml": "", "link": "->dir/b.yaml", "empty": "->", "out": "->/etc/passwd", strings.Repeat("long/", 60) + "x": "x"}
	want := tree(t, files)
	var first, second bytes.Buffer
	digest, size, err := source.Pack(want, &first)
	if err != nil {
		t.Fatal(err)
	}
	if size != int64(first.Len()) || !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("digest %s, size %d of %d bytes", digest, size, first.Len())
	}
	again, _, err := source.Pack(tree(t, files), &second)
	if err != nil || again != digest || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("packing the same tree again gave %s, %v; want %s", again, err, digest)
	}
	got, err := source.Unpack(&first, source.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest() != want.Digest() {
		t.Errorf("unpacked %v, want %v", got.Paths(), want.Paths())
	}
	if _, err := got.Resolve("out"); err == nil {
		t.Error("a link out of the tree is followed")
	}
}

// entry is one malformed entry of an archive.
type entry struct {
	header tar.Header
	body   string
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	tw := tar.NewWriter(gz)
	for _, e := range entries {
		e.header.Size = int64(len(e.body))
		if err := tw.WriteHeader(&e.header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(tw, e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func file(name, body string) entry {
	return entry{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644}, body}
}

func TestUnpackRefuses(t *testing.T) {
	var many []entry
	for i := range 5000 {
		many = append(many, entry{header: tar.Header{Name: strings.Repeat("d/", i%100) + "x/", Typeflag: tar.TypeDir}})
	}
	cases := map[string]struct {
		reason  string
		entries []entry
		want    string
	}{
		"up":          {"a path that leaves the archive", []entry{file("../x", "")}, "leaves the archive"},
		"up inside":   {"also by detours", []entry{file("a/../../x", "")}, "leaves the archive"},
		"absolute":    {"a path from the root", []entry{file("/etc/passwd", "")}, "leaves the archive"},
		"below link":  {"a file below a link", []entry{{header: tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc"}}, file("a/passwd", "")}, "file and a directory"},
		"hard link":   {"a hard link", []entry{{header: tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}}}, "not allowed"},
		"device":      {"a device", []entry{{header: tar.Header{Name: "a", Typeflag: tar.TypeChar}}}, "not allowed"},
		"pipe":        {"a pipe", []entry{{header: tar.Header{Name: "a", Typeflag: tar.TypeFifo}}}, "not allowed"},
		"twice":       {"a file that stands twice", []entry{file("a", "1"), file("./a", "2")}, "twice"},
		"too many":    {"more files than allowed", []entry{file("a", ""), file("b", ""), file("c", ""), file("d", "")}, "more than 3 files"},
		"too large":   {"more bytes than allowed", []entry{file("a", strings.Repeat("x", 600)), file("b", strings.Repeat("x", 600))}, "more than 1000 bytes"},
		"bomb":        {"a stream that expands without end", many, "expands"},
		"long target": {"a link with an endless target", []entry{{header: tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: strings.Repeat("x", 5000)}}}, "longer than"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := source.Unpack(bytes.NewReader(archive(t, c.entries...)), source.Limits{Files: 3, Bytes: 1000})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
			}
		})
	}
	if _, err := source.Unpack(strings.NewReader("no archive"), source.DefaultLimits()); err == nil {
		t.Error("what is no archive was unpacked")
	}
}

func TestUnpackTakesOthersArchives(t *testing.T) {
	got, err := source.Unpack(bytes.NewReader(archive(t,
		entry{header: tar.Header{Name: "./", Typeflag: tar.TypeDir}}, entry{header: tar.Header{Name: "./a/", Typeflag: tar.TypeDir}},
		file("./a/b.yaml", "b"),
	)), source.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/b.yaml"}, got.Paths()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, file("a", "1"), entry{header: tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "a"}}))
	f.Add(archive(f, file("../a", "1")))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := source.Unpack(bytes.NewReader(data), source.Limits{Files: 100, Bytes: 1 << 16})
		if err != nil {
			return
		}
		var packed bytes.Buffer
		if _, _, err := source.Pack(got, &packed); err != nil {
			// A name or a target that an archive cannot hold.
			return
		}
		again, err := source.Unpack(&packed, source.DefaultLimits())
		if err != nil || again.Digest() != got.Digest() {
			t.Errorf("what was unpacked does not survive packing: %v", err)
		}
	})
}
