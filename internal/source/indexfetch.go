package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
)

// IndexOptions say which Helm repository is asked, and how.
type IndexOptions struct {
	Access
	// URL is that of the repository, http or https, without "index.yaml".
	URL string
	// PassCredentials gives the credentials to other servers too that the repository redirects to.
	PassCredentials bool
}

// IndexResult is what a fetch found.
type IndexResult struct {
	// Revision is "sha256:" and the digest of index.yaml.
	Revision string
	Index    *Index
	// Unchanged is set when the index is the previous one.
	Unchanged bool
}

// FetchIndex fetches the index of a Helm repository. It asks for what is newer than the previous index, if
// there is one; a server that knows its index by an ETag or a date sends nothing then. No error holds a
// credential.
func FetchIndex(ctx context.Context, o IndexOptions, previous *Index) (*IndexResult, error) {
	ctx, cancel := o.bound(ctx)
	defer cancel()
	w, err := newWeb(o.URL, o.Access, o.PassCredentials)
	if err != nil {
		return nil, err
	}
	defer w.close()
	x, err := w.index(ctx, previous)
	if err != nil {
		return nil, err
	}
	return &IndexResult{Revision: x.revision, Index: x, Unchanged: previous != nil && x.revision == previous.revision}, nil
}

// index returns the previous index when there is no other one.
func (w *web) index(ctx context.Context, previous *Index) (*Index, error) {
	at := *w.base
	at.Path, at.RawPath = path.Join("/", at.Path, "index.yaml"), ""
	address := at.String()
	header := http.Header{}
	if previous != nil && previous.url == address {
		if previous.etag != "" {
			header.Set("If-None-Match", previous.etag)
		}
		if previous.modified != "" {
			header.Set("If-Modified-Since", previous.modified)
		}
	}
	answer, err := w.get(ctx, &at, header)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotModified {
		if len(header) == 0 {
			return nil, fmt.Errorf("%w: unexpected 304 Not Modified", ErrPull)
		}
		return previous, nil
	}
	body := &watched{r: answer.Body}
	x, err := ParseIndex(body, "")
	switch {
	case body.err != nil:
		// What was cut off is not what the server has.
		return nil, fmt.Errorf("%w: reading the index: %s", ErrPull, w.secrets.text(ctx, body.err))
	case err != nil:
		return nil, err
	}
	x.url, x.etag, x.modified = address, answer.Header.Get("ETag"), answer.Header.Get("Last-Modified")
	return x, nil
}

// watched remembers why reading failed.
type watched struct {
	r   io.Reader
	err error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}
