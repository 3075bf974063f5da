package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// web asks the server of a Helm repository, and others that it names.
type web struct {
	client *http.Client
	// base holds no credentials.
	base           *url.URL
	user, password string
	// everywhere gives the credentials to other servers too.
	everywhere bool
	secrets    redactor
	close      func()
}

// newWeb makes no connection yet.
func newWeb(address string, a Access, everywhere bool) (*web, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: it cannot be parsed", ErrURL)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: scheme %q is not supported; use https, http or oci", ErrURL, u.Scheme)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%w: it names no host", ErrURL)
	}
	if a.Username == "" && a.Password == "" && u.User != nil {
		a.Username = u.User.Username()
		a.Password, _ = u.User.Password()
	}
	u.User, u.Fragment = nil, ""
	t, err := a.transport()
	if err != nil {
		return nil, err
	}
	w := &web{
		base: u, user: a.Username, password: a.Password, everywhere: everywhere, secrets: a.secrets(), close: t.CloseIdleConnections,
	}
	w.client = &http.Client{Transport: t, CheckRedirect: w.redirect}
	return w, nil
}

// login gives a request the credentials when its server may have them.
func (w *web) login(r *http.Request) {
	r.Header.Del("Authorization")
	if (w.user != "" || w.password != "") && (w.everywhere || sameServer(r.URL, w.base)) {
		r.SetBasicAuth(w.user, w.password)
	}
}

func (w *web) redirect(r *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	}
	if r.URL.Scheme != "https" && via[len(via)-1].URL.Scheme == "https" {
		return errors.New("it redirects from https to http")
	}
	w.login(r)
	return nil
}

// sameServer reports whether two URLs have the same scheme, host and port.
func sameServer(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Hostname() == b.Hostname() && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}

// get asks for a URL. Its caller closes the body of the answer, which has the status 200, or 304 when
// the header asks for what is new only.
func (w *web) get(ctx context.Context, u *url.URL, header http.Header) (*http.Response, error) {
	shown := *u
	shown.RawQuery = ""
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: it cannot be parsed", ErrURL)
	}
	for key, values := range header {
		r.Header[key] = values
	}
	r.Header.Set("User-Agent", userAgent)
	w.login(r)
	answer, err := w.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %s", ErrPull, shown.Redacted(), w.secrets.text(ctx, err))
	}
	switch answer.StatusCode {
	case http.StatusOK, http.StatusNotModified:
		return answer, nil
	case http.StatusUnauthorized, http.StatusForbidden:
		err = fmt.Errorf("%w: %q: %w", ErrPull, shown.Redacted(), ErrAuth)
	case http.StatusNotFound:
		err = fmt.Errorf("%w: %q: %w", ErrPull, shown.Redacted(), ErrReference)
	default:
		err = fmt.Errorf("%w: %q: the server returns %q", ErrPull, shown.Redacted(), answer.Status)
	}
	answer.Body.Close()
	return nil, err
}
