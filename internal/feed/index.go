package feed

import (
	"context"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/source"
)

// Index is a request for the index of a Helm repository over http.
type Index struct {
	Options source.IndexOptions
	// Share is whose slots are taken, such as a namespace.
	Share string
	// Since is how old the index may be: requested then, or later.
	Since time.Time
	// Previous is what the reader has, if anything: a server may say that there is nothing newer.
	Previous *source.Index
}

// IndexResult is what a fetch of an index found. It is never changed.
type IndexResult struct {
	*source.Index
	// Began is when it was requested, or when that failed.
	Began time.Time
}

// Index fetches an index for a reader, which has to leave in the end. One that another reader has fetched in time is not
// fetched again. The result says when it began also if there is an error. No error holds a credential.
func (f *Feed) Index(ctx context.Context, reader Reader, q Index) (IndexResult, error) {
	v, err := f.visit(ctx, reader, f.indexIdentity(q.Options), request{q.Share, q.Options.URL, q.Since, q.Options.Timeout})
	if err != nil {
		return IndexResult{}, err
	}
	defer v.end()
	r := v.remote
	if r.listed.serves(v.request) {
		return IndexResult{r.index, r.listed.began}, r.listed.err
	}
	if err := v.start(); err != nil {
		return IndexResult{}, err
	}
	q.Options.Timeout = v.timeout
	previous := r.index
	if previous == nil {
		previous = q.Previous
	}
	began := time.Now()
	got, err := source.FetchIndex(v.ctx, q.Options, previous)
	if v.parent.Err() != nil {
		// It is over for this reader alone.
		return IndexResult{}, context.Cause(v.parent)
	}
	r.listed = v.attempt(began, err)
	if err != nil {
		return IndexResult{Began: began}, err
	}
	r.index = got.Index
	v.notify(Listing{Began: began, index: got.Index})
	return IndexResult{got.Index, began}, nil
}

// indexIdentity is that of a Helm repository.
func (f *Feed) indexIdentity(o source.IndexOptions) identity {
	passed := ""
	if o.PassCredentials && (o.Username != "" || o.Password != "" || strings.Contains(o.URL, "@")) {
		passed = "to every server"
	}
	return f.digest("index", o.URL, passed, o.Proxy, o.Username, o.Password, string(o.CAFile), string(o.ClientCert), string(o.ClientKey))
}
