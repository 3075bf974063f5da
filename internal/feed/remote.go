package feed

import (
	"context"
	"fmt"
	"time"

	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/source"
)

// remote is a repository as it is reached with some credentials: one of Git, or one of charts.
type remote struct {
	feed *Feed
	id   identity
	// readers belong to the lock of the feed.
	readers map[Reader]bool

	// turn is held by the reader that is served. What follows belongs to it.
	turn chan struct{}
	// listed is the last request for what there is, references or index what it brought.
	listed     attempt
	references *source.References
	index      *source.Index
	// slow is the last transfer that took too long, slowOf the revision that it was of.
	slow   attempt
	slowOf string
	clone  source.Clone
	// trees are what was read.
	trees trees
}

// end deletes what is kept.
func (r *remote) end() {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	// What cannot be deleted now is when the directory is.
	_ = r.clone.Close()
}

// attempt is a request that was made of a server.
type attempt struct {
	began time.Time
	err   error
	// late is the timeout that was exceeded, zero when there was a response.
	late time.Duration
}

// serves reports whether an attempt is as good as one that is made now.
func (a *attempt) serves(q request) bool {
	return !a.began.IsZero() && !a.began.Before(q.since) && (a.late == 0 || a.late >= q.timeout)
}

// request is what requests of all kinds have.
type request struct {
	share, address string
	since          time.Time
	timeout        time.Duration
}

// visit is a request as it is served.
type visit struct {
	request
	remote *remote
	reader Reader
	// parent ends with the reader; ctx ends in time, too. It is nil until something is requested of the server.
	parent, ctx context.Context
	stop        context.CancelFunc
	turn        *rounds.Turn
}

// visit waits until a reader is served by a remote, which lasts until its end.
func (f *Feed) visit(ctx context.Context, reader Reader, id identity, q request) (*visit, error) {
	q.timeout = source.Deadline(q.timeout)
	r := f.join(reader, id)
	select {
	case r.turn <- struct{}{}:
		return &visit{request: q, remote: r, reader: reader, parent: ctx}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// start takes a slot, and has time begin.
func (v *visit) start() error {
	if v.ctx != nil {
		return nil
	}
	turn, ok := v.remote.feed.Take(v.parent, v.share, v.address)
	if !ok {
		return context.Cause(v.parent)
	}
	v.turn = turn
	v.ctx, v.stop = context.WithTimeoutCause(v.parent, v.timeout, fmt.Errorf("timed out after %s", v.timeout))
	return nil
}

func (v *visit) end() {
	if v.ctx != nil {
		v.stop()
		v.turn.End()
	}
	<-v.remote.turn
}

// attempt is what was just requested.
func (v *visit) attempt(began time.Time, err error) attempt {
	a := attempt{began: began, err: err}
	if v.ctx.Err() != nil {
		a.late = v.timeout
	}
	return a
}

// notify reports what there is to the other readers.
func (v *visit) notify(l Listing) {
	for _, one := range v.remote.feed.others(v.remote, v.reader) {
		one.Listed(l)
	}
}
