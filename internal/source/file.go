package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrNoFile is an address at which a server has something else than a file, or nothing.
var ErrNoFile = errors.New("there is no file")

// FileOptions say which file is requested, and how.
type FileOptions struct {
	Access
	// URL is http or https.
	URL string
	// Limit is how many bytes it may have.
	Limit int64
}

// FetchFile requests a file from a web server. A page for people is no file. No error holds a credential.
func FetchFile(ctx context.Context, o FileOptions) ([]byte, error) {
	ctx, cancel := o.bound(ctx)
	defer cancel()
	w, err := newWeb(o.URL, o.Access, false)
	if err != nil {
		return nil, err
	}
	defer w.close()
	answer, err := w.get(ctx, w.base, nil)
	switch {
	case errors.Is(err, ErrReference), errors.Is(err, ErrAuth):
		return nil, fmt.Errorf("%w: %w", ErrNoFile, err)
	case err != nil:
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, o.Limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: reading the file: %s", ErrPull, w.secrets.text(ctx, err))
	case int64(len(data)) > o.Limit:
		return nil, fmt.Errorf("%w: the file has more than %d bytes", ErrPull, o.Limit)
	case strings.HasPrefix(http.DetectContentType(data), "text/html"):
		return nil, fmt.Errorf("%w: the server returns a page of HTML", ErrNoFile)
	}
	return data, nil
}
