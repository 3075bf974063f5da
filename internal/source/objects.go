package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Bounds of a history: what a server sends, how many objects these are, and how many bytes they have once they are unpacked.
const (
	maxHistory  = 32 << 20
	maxObjects  = 1_000_000
	maxUnpacked = 128 << 20
)

// unpackObjects stores the objects that a server sends, once it is known how large they are: the library trusts what they say of themselves.
func unpackObjects(from io.Reader, into *memory.Storage) error {
	data, err := io.ReadAll(io.LimitReader(from, maxHistory+1))
	if err != nil {
		return err
	}
	if len(data) > maxHistory {
		return fmt.Errorf("%w: the server sends more than %d bytes of history, which happens where it sends the content of files too", errOversized, maxHistory)
	}
	if err := measure(data); err != nil {
		return err
	}
	parser, err := packfile.NewParserWithStorage(packfile.NewScanner(bytes.NewReader(data)), into)
	if err != nil {
		return err
	}
	_, err = parser.Parse()
	return err
}

// measure refuses objects that are too large together.
func measure(pack []byte) error {
	scanner := packfile.NewScanner(bytes.NewReader(pack))
	_, count, err := scanner.Header()
	if err != nil {
		return err
	}
	if count > maxObjects {
		return fmt.Errorf("%w: the history has %d objects, more than %d", errOversized, count, maxObjects)
	}
	total := int64(0)
	add := func(size int64) error {
		if size < 0 || size > maxUnpacked-total {
			return fmt.Errorf("%w: the objects of the history have more than %d bytes", errOversized, maxUnpacked)
		}
		total += size
		return nil
	}
	for range count {
		header, err := scanner.NextObjectHeader()
		if err != nil {
			return err
		}
		if err := add(header.Length); err != nil {
			return err
		}
		var start opening
		if _, _, err := scanner.NextObject(&start); err != nil {
			return err
		}
		if header.Type != plumbing.OFSDeltaObject && header.Type != plumbing.REFDeltaObject {
			continue
		}
		size, err := start.target()
		if err != nil {
			return err
		}
		if err := add(size); err != nil {
			return err
		}
	}
	return nil
}

// opening keeps the first bytes of what is written: a difference begins with the sizes of both sides, in at most ten bytes each.
type opening struct{ data []byte }

// Write keeps what fits.
func (o *opening) Write(p []byte) (int, error) {
	o.data = append(o.data, p[:min(len(p), 20-len(o.data))]...)
	return len(p), nil
}

// target is the size of what the difference makes.
func (o *opening) target() (int64, error) {
	rest := o.data
	var size uint64
	for range 2 {
		size = 0
		for i := 0; ; i++ {
			if i == len(rest) || i > 8 {
				return 0, errors.New("an object of the history is damaged")
			}
			size |= uint64(rest[i]&0x7f) << (7 * i)
			if rest[i]&0x80 == 0 {
				rest = rest[i+1:]
				break
			}
		}
	}
	return int64(size), nil //nolint:gosec // nine groups of seven bits are 63
}
