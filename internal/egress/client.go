package egress

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

const (
	// hops bounds the redirects of one request.
	hops = 3
	// headers bounds the header of an answer, in bytes.
	headers = 64 << 10
)

// Client returns a client that reaches what the rules permit. A request ends after the timeout, its redirects included; those
// to other servers are not followed: the answer is the redirect itself.
func (r Rules) Client(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext:            r.dial,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           32,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        time.Minute,
			TLSHandshakeTimeout:    timeout,
			MaxResponseHeaderBytes: headers,
		},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			first := via[0].URL
			if len(via) > hops || next.URL.Scheme != first.Scheme || next.URL.Host != first.Host {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
}

// dial connects to the first address of a host that answers and is permitted.
func (r Rules) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{
		// It is called with the address that the name has been resolved to.
		ControlContext: func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return fmt.Errorf("%w: %q is not an address", ErrRefused, resolved)
			}
			return r.Permits(host, at.Addr())
		},
	}
	return dialer.DialContext(ctx, network, address)
}
