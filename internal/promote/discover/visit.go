package discover

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// The times after which a server is asked again that refused for its rate: where it names none, at least and at most.
const (
	defaultRetry, leastRetry, mostRetry = time.Minute, time.Second, time.Hour
)

// RateLimit is a server that refuses requests for a while.
type RateLimit struct {
	// Host is the server.
	Host string
	// After is the time that it asks for, or a minute, never more than an hour.
	After time.Duration
}

// Error names the server.
func (e *RateLimit) Error() string {
	return fmt.Sprintf("%s limits the rate of requests: the next one is permitted after %s; credentials often permit more", e.Host, e.After)
}

// RetryAfter is when the next request may be sent.
func (e *RateLimit) RetryAfter() time.Duration { return e.After }

// visit sends the requests of one search: it bounds responses, and remembers why requests were refused, since libraries keep no more than texts of
// errors.
type visit struct {
	inner     http.RoundTripper
	most      int64
	clearText bool

	mu      sync.Mutex
	refused error
}

// visit returns a transport whose responses have at most so many bytes each.
func (f *Finder) visit(insecure bool, most int64) (*visit, error) {
	v := &visit{inner: f.options.HTTP.Transport, most: most, clearText: f.options.ClearText}
	if !insecure {
		return v, nil
	}
	if f.options.Insecure == nil {
		return nil, errors.New("insecureSkipTLSVerify: certificates are always verified here: remove the field")
	}
	v.inner = f.options.Insecure
	return v, nil
}

// client is that of the options with this transport.
func (v *visit) client(f *Finder) *http.Client {
	c := *f.options.HTTP
	c.Transport = v
	return &c
}

// RoundTrip sends a request.
func (v *visit) RoundTrip(r *http.Request) (*http.Response, error) {
	if reason := v.reason(); reason != nil {
		return nil, reason
	}
	if r.URL.Scheme == "http" && r.Header.Get("Authorization") != "" && !v.clearText && !local(r.URL.Hostname()) {
		return nil, v.refuse(fmt.Errorf("%s has no encryption, and there are credentials for it: use https", r.URL.Host))
	}
	response, err := v.inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if after, is := limitOf(response, time.Now()); is {
		_ = response.Body.Close()
		return nil, v.refuse(&RateLimit{Host: r.URL.Host, After: after})
	}
	response.Body = &bounded{ReadCloser: response.Body, left: v.most, visit: v, host: r.URL.Host}
	return response, nil
}

func (v *visit) refuse(why error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.refused == nil {
		v.refused = why
	}
	return v.refused
}

// reason is why a request was refused, if one was.
func (v *visit) reason() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.refused
}

// local reports whether a host is this machine.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// limitOf reports whether a response refuses because of the rate of requests, and for how long.
func limitOf(response *http.Response, now time.Time) (time.Duration, bool) {
	named := response.Header.Get("Retry-After")
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
	case response.StatusCode == http.StatusServiceUnavailable && named != "":
	default:
		return 0, false
	}
	after := defaultRetry
	if seconds, err := strconv.ParseInt(named, 10, 32); err == nil {
		after = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(named); err == nil {
		after = date.Sub(now)
	}
	return min(max(after, leastRetry), mostRetry), true
}

// bounded is a response that ends with an error once it has too many bytes.
type bounded struct {
	io.ReadCloser
	left  int64
	visit *visit
	host  string
}

// Read reads the next bytes.
func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, b.visit.refuse(fmt.Errorf("a response of %s has more than %d bytes", b.host, b.visit.most))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("reading a response of %s: %w", b.host, err)
	}
	return n, err
}

var _ http.RoundTripper = (*visit)(nil)
