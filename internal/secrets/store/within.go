package store

import (
	"context"
	"fmt"
	"sync/atomic"
)

// MaxFetched bounds the answers of stores for one object of a user together, in bytes.
const MaxFetched = 64 << 20

// ErrFetched says that the answers for one object of a user exceed MaxFetched together.
var ErrFetched = fmt.Errorf("%w: the answers for one object exceed %d MiB together; spread its keys over several", ErrTooLarge, MaxFetched>>20)

// Selector evaluates a path of GJSON over a JSON object, where it takes bounded time and memory.
type Selector func(ctx context.Context, object []byte, path string) (Selected, error)

// Selected is what a path selects. It is not there if Exists is false.
type Selected struct {
	Value  []byte
	Exists bool
}

// pass is what the requests for one object of a user share.
type pass struct {
	left    atomic.Int64
	selects Selector
}

type passKey struct{}

// Within is a context whose requests together may get MaxFetched bytes, and whose properties are selected by a Selector.
func Within(ctx context.Context, selects Selector) context.Context {
	p := &pass{selects: selects}
	p.left.Store(MaxFetched)
	return context.WithValue(ctx, passKey{}, p)
}

// Fetched counts bytes of an answer. It fails with ErrFetched.
func Fetched(ctx context.Context, n int) error {
	p, is := ctx.Value(passKey{}).(*pass)
	if is && p.left.Add(-int64(n)) < 0 {
		return ErrFetched
	}
	return nil
}

// selector is that of a pass.
func selector(ctx context.Context) Selector {
	if p, is := ctx.Value(passKey{}).(*pass); is {
		return p.selects
	}
	return nil
}
