package worktree

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Bounds of what a server sends, and of a checkout.
const (
	// maxListed bounds the list of references, and maxPack the objects that one request brings, in bytes.
	maxListed = 64 << 20
	maxPack   = 1 << 30
	// maxObjects bounds how many objects these are, maxUnpacked how many bytes they have together, and maxObject those of one.
	maxObjects  = 2_000_000
	maxUnpacked = 8 << 30
	maxObject   = 100 << 20
	// maxFiles bounds the entries of a checkout, maxBytes the bytes of its files together, maxLink and maxPath a target and a path.
	maxFiles = 200_000
	maxBytes = 2 << 30
	maxLink  = 4096
	maxPath  = 4096
	// maxCommits bounds the commits that are put on top of others.
	maxCommits = 1000
)

// errLarge is something that is larger than may be.
var errLarge = fmt.Errorf("%w: too large", ErrRefused)

// bounded are requests whose responses have a bound.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(q *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	most := int64(maxPack)
	if q.Method == http.MethodGet {
		most = maxListed
	}
	response.Body = &boundedBody{response.Body, most, most}
	return response, nil
}

type boundedBody struct {
	io.ReadCloser
	left, most int64
}

// Read fails beyond the bound.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%w: the server sends more than %d bytes", errLarge, b.most)
	}
	return n, err
}

// budget is what is left of the bounds of a checkout.
type budget struct {
	files int
	bytes int64
}

func newBudget() budget { return budget{maxFiles, maxBytes} }

func (b *budget) entry() error {
	if b.files--; b.files < 0 {
		return fmt.Errorf("%w: there are more than %d files", errLarge, maxFiles)
	}
	return nil
}

func (b *budget) take(name string, size int64) error {
	if size > maxObject {
		return fmt.Errorf("%w: %q has %d bytes, more than %d", errLarge, name, size, maxObject)
	}
	if b.bytes -= size; b.bytes < 0 {
		return fmt.Errorf("%w: the files have more than %d bytes together", errLarge, int64(maxBytes))
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
				return 0, errors.New("an object is damaged")
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
