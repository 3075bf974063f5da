package here

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

// Network is where requests of templates may go. They are sent from the network of the engine, and not from that of a pod of the workflow's namespace: what only this
// machine reaches is not for the author of a template, and what is answered becomes a result.
type Network struct {
	// Confined refuses this machine as well. Without it, its author and its user are one.
	Confined bool
}

// metadata are addresses at which machines of clouds get their identity, and that are not link-local.
func metadata() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("fd00:ec2::/32"), netip.MustParsePrefix("fd20:ce::/32"), netip.MustParsePrefix("100.100.100.200/32"), netip.MustParsePrefix("168.63.129.16/32"),
		netip.MustParsePrefix("192.0.0.192/32"),
	}
}

// translated is the prefix of addresses that stand for those of IPv4.
func translated() netip.Prefix { return netip.MustParsePrefix("64:ff9b::/96") }

// refusedError is about an address that no request is sent to.
type refusedError struct{ address netip.Addr }

func (e *refusedError) Error() string {
	return fmt.Sprintf("%s is an address of the machine of the engine or of its cloud, which requests of http templates are not sent to: use a container or a script, which runs in the network of its namespace", e.address)
}

// permits is an error for an address that no request is sent to.
func (n Network) permits(address netip.Addr) error {
	address = address.Unmap().WithZone("")
	if translated().Contains(address) {
		bytes := address.As16()
		return n.permits(netip.AddrFrom4([4]byte(bytes[12:])))
	}
	// All of 0.0.0.0/8 is this machine.
	here := address.IsLoopback() || address.IsUnspecified() || address.Is4() && address.As4()[0] == 0
	refused := address.IsLinkLocalUnicast() || address.IsMulticast() || here && n.Confined
	for _, one := range metadata() {
		refused = refused || one.Contains(address)
	}
	if refused {
		return &refusedError{address}
	}
	return nil
}

// limit has a transport connect to permitted addresses alone, whatever a name resolves to at that moment, and wherever a server redirects. A proxy that the environment of
// the engine names is reached anywhere; what it is asked for by address is checked here, and by name there.
func (n Network) limit(t *http.Transport) {
	const timeout, keepAlive = 30 * time.Second, 30 * time.Second
	open := &net.Dialer{Timeout: timeout, KeepAlive: keepAlive}
	checked := &net.Dialer{Timeout: timeout, KeepAlive: keepAlive, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return n.permits(to.Addr())
	}}
	find := t.Proxy
	var proxies sync.Map
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		if find == nil {
			return nil, nil
		}
		proxy, err := find(r)
		if proxy == nil || err != nil {
			return proxy, err
		}
		if address, err := netip.ParseAddr(r.URL.Hostname()); err == nil {
			if err := n.permits(address); err != nil {
				return nil, err
			}
		}
		proxies.Store(proxy.Hostname(), true)
		return proxy, nil
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(address); err == nil {
			if _, is := proxies.Load(host); is {
				return open.DialContext(ctx, network, address)
			}
		}
		return checked.DialContext(ctx, network, address)
	}
}
