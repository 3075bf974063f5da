package source

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/memory"
)

// packed is an object as a server sends it, with a size that need not be true.
type packed struct {
	kind    plumbing.ObjectType
	size    int
	content string
}

// packOf writes objects; those that are differences refer to the object before them.
func packOf(t testing.TB, objects ...packed) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("PACK")
	out.Write(binary.BigEndian.AppendUint32(nil, 2))
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(objects)))) //nolint:gosec // there are a few
	last := 0
	for _, o := range objects {
		begin := out.Len()
		rest := o.size >> 4
		first := byte(o.kind)<<4 | byte(o.size&15)
		for rest > 0 {
			out.WriteByte(first | 0x80)
			first, rest = byte(rest&0x7f), rest>>7
		}
		out.WriteByte(first)
		if o.kind == plumbing.OFSDeltaObject {
			out.WriteByte(byte(begin - last))
		}
		w := zlib.NewWriter(&out)
		if _, err := w.Write([]byte(o.content)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		last = begin
	}
	sum := sha1.Sum(out.Bytes()) //nolint:gosec // it is the digest of the format
	return append(out.Bytes(), sum[:]...)
}

// sized is how a difference begins: with the sizes of both sides.
func sized(before, after int) string {
	var data []byte
	for _, n := range []int{before, after} {
		data = binary.AppendUvarint(data, uint64(n)) //nolint:gosec // sizes are not negative
	}
	return string(data)
}

func TestUnpackObjects(t *testing.T) {
	copied := sized(5, 10) + "\x90\x05\x90\x05"
	blob := packed{plumbing.BlobObject, 5, "hello"}
	for name, tc := range map[string]struct {
		reason string
		pack   []byte
		large  bool
		fails  bool
	}{
		"Plain":      {"an object", packOf(t, blob), false, false},
		"Difference": {"an object, and one that is made of it", packOf(t, blob, packed{plumbing.OFSDeltaObject, len(copied), copied}), false, false},
		"Claims":     {"a size is refused before anything is unpacked", packOf(t, packed{plumbing.BlobObject, maxUnpacked + 1, "x"}), true, true},
		"Together":   {"sizes are added up", packOf(t, blob, packed{plumbing.BlobObject, maxUnpacked - 4, "x"}), true, true},
		"Target":     {"so is what a difference would make", packOf(t, blob, packed{plumbing.OFSDeltaObject, 6, sized(5, maxUnpacked) + "\x90"}), true, true},
		"Overrun":    {"an object that has more than it says", packOf(t, packed{plumbing.BlobObject, 1, strings.Repeat("x", 1<<20)}), false, true},
		"Count":      {"too many objects", append([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"), make([]byte, 20)...), true, true},
		"Damaged":    {"a difference without sizes", packOf(t, blob, packed{plumbing.OFSDeltaObject, 1, "\x80"}), false, true},
		"Empty":      {"nothing", nil, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			into := memory.NewStorage()
			err := unpackObjects(bytes.NewReader(tc.pack), into)
			if (err != nil) != tc.fails || errors.Is(err, errOversized) != tc.large {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if !tc.fails && len(into.Objects) == 0 {
				t.Errorf("%s: nothing was stored", tc.reason)
			}
		})
	}
}

// FuzzMeasure reads packs of hostile servers: what passes has no object that is larger than may be.
func FuzzMeasure(f *testing.F) {
	f.Add(packOf(f, packed{plumbing.BlobObject, 5, "hello"}, packed{plumbing.OFSDeltaObject, 6, sized(5, 10) + "\x90\x05\x90\x05"}))
	f.Add(packOf(f, packed{plumbing.CommitObject, 3, "x\x80y"}))
	f.Fuzz(func(t *testing.T, pack []byte) {
		into := memory.NewStorage()
		if unpackObjects(bytes.NewReader(pack), into) != nil {
			return
		}
		total := int64(0)
		for _, o := range into.Objects {
			total += o.Size()
		}
		if total > maxUnpacked {
			t.Errorf("the objects have %d bytes", total)
		}
	})
}
