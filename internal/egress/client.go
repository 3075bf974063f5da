package egress

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"
)

const (
	// hops bounds the redirects of one request.
	hops = 3
	// headers bounds the header of an answer, in bytes.
	headers = 64 << 10
	// dialTimeout bounds one connection, keepAlive is how often a quiet one is probed.
	dialTimeout, keepAlive = 10 * time.Second, 30 * time.Second
)

// Client returns a client that reaches what the rules permit. A request ends after the timeout, its redirects included; those
// to other servers are not followed: the answer is the redirect itself.
func (r Rules) Client(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext:            r.DialContext,
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

// DialContext connects to the first address of a host that answers and is permitted.
func (r Rules) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{
		Timeout: dialTimeout, KeepAlive: keepAlive,
		// It is called with the address that the name has been resolved to.
		ControlContext: func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return fmt.Errorf("%w: %q is not an address", ErrRefused, resolved)
			}
			return r.Permits(host, port, at.Addr())
		},
	}
	return dialer.DialContext(ctx, network, address)
}

// Transport returns one that reaches what the rules permit, by the proxies of the environment. It bounds nothing but the handshake.
func (r Rules) Transport() *http.Transport {
	t := &http.Transport{ForceAttemptHTTP2: true, TLSHandshakeTimeout: dialTimeout, IdleConnTimeout: time.Minute}
	r.RestrictBehindProxy(t)
	return t
}

// Restrict has a transport connect to what is permitted, whatever a name resolves to at that moment, and wherever a server redirects. A proxy
// that the transport has is reached if that is permitted; what is behind it is not seen from here.
func (r Rules) Restrict(t *http.Transport) { t.DialContext, t.DialTLSContext = r.DialContext, nil }

// RestrictBehindProxy does the same for a transport that uses the proxies of the environment. These are of the person who starts the process: they
// are reached anywhere, and are not asked what is refused.
func (r Rules) RestrictBehindProxy(t *http.Transport) {
	t.Proxy, t.DialContext = r.BehindProxy(http.ProxyFromEnvironment)
	t.DialTLSContext = nil
}

// BehindProxy is how a client finds its proxy and connects, where find names proxies that may be reached anywhere.
func (r Rules) BehindProxy(find func(*http.Request) (*url.URL, error)) (
	proxy func(*http.Request) (*url.URL, error), dial func(ctx context.Context, network, address string) (net.Conn, error),
) {
	var proxies sync.Map
	proxy = func(request *http.Request) (*url.URL, error) {
		to, err := find(request)
		if to == nil || err != nil {
			return to, err
		}
		if err := r.Check(request.Context(), request.URL.Hostname(), PortOf(request.URL)); err != nil {
			return nil, err
		}
		proxies.Store(place(to.Hostname(), PortOf(to)), true)
		return to, nil
	}
	dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, port, err := net.SplitHostPort(address); err == nil {
			if _, is := proxies.Load(place(host, port)); is {
				return (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext(ctx, network, address)
			}
		}
		return r.DialContext(ctx, network, address)
	}
	return proxy, dial
}

// Check returns an ErrRefused if a host has an address that is not permitted, for what connects by other means than those of this room. A host that
// does not resolve here is left to who does.
func (r Rules) Check(ctx context.Context, host, port string) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		return r.Permits(host, port, addr)
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil //nolint:nilerr // who connects to it says so, or a proxy resolves it
	}
	for _, addr := range all {
		if err := r.Permits(host, port, addr); err != nil {
			return err
		}
	}
	return nil
}

// ToCluster is how a client of the API of a cluster finds its proxy and connects. The proxy of its configuration, if there is one, is an address as
// any other.
func (r Rules) ToCluster(named func(*http.Request) (*url.URL, error)) (
	proxy func(*http.Request) (*url.URL, error), dial func(ctx context.Context, network, address string) (net.Conn, error),
) {
	if named != nil {
		return named, r.DialContext
	}
	return r.BehindProxy(http.ProxyFromEnvironment)
}
