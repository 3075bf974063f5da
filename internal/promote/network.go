package promote

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/source"
)

// requestTimeout bounds a request to a registry or a Git server, in which what it responds with is read, too.
const requestTimeout = 2 * time.Minute

// network is what Warehouses and steps reach, whose addresses tenants choose.
type network struct {
	rules    egress.Rules
	rewrites source.Rewrites
	client   *http.Client
	// insecure accepts any certificate.
	insecure http.RoundTripper
}

// newNetwork returns the network of a process.
func newNetwork(rules egress.Rules, rewrites source.Rewrites) (*network, error) {
	strict := rules.Client(requestTimeout).Transport
	plain, is := strict.(*http.Transport)
	if !is {
		return nil, fmt.Errorf("the transport of requests is a %T, want one of net/http", strict)
	}
	lax := plain.Clone()
	lax.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true} //nolint:gosec // a tenant says so of its own repository
	// Registries redirect to where they store blobs. The rules hold there, too, and a login is not sent along.
	return &network{rules: rules, rewrites: rewrites, client: &http.Client{
		Timeout: requestTimeout, Transport: rewriting{rewrites, strict},
	}, insecure: rewriting{rewrites, lax}}, nil
}

// rewriting sends requests to where the rewrites say.
type rewriting struct {
	rewrites source.Rewrites
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t rewriting) RoundTrip(r *http.Request) (*http.Response, error) {
	elsewhere := t.rewrites.Apply(r.URL.String())
	if elsewhere == r.URL.String() {
		return t.next.RoundTrip(r)
	}
	to, err := url.Parse(elsewhere)
	if err != nil {
		return nil, fmt.Errorf("the rewritten address of %s is not one", r.URL.Host)
	}
	other := r.Clone(r.Context())
	other.URL, other.Host = to, to.Host
	response, err := t.next.RoundTrip(other)
	if err != nil {
		return nil, err
	}
	response.Request = r
	// A server that names itself, such as a registry where to log in, means the address that was requested.
	if to.Path == r.URL.Path {
		for _, name := range []string{"Www-Authenticate", "Location"} {
			for i, value := range response.Header[name] {
				response.Header[name][i] = strings.ReplaceAll(value, to.Scheme+"://"+to.Host+"/", r.URL.Scheme+"://"+r.URL.Host+"/")
			}
		}
	}
	return response, nil
}

// allow refuses an address that tenants may not reach, by the addresses that its host has now. Those that it has when it is connected to are checked
// again by the client.
func (n *network) allow(ctx context.Context, address string) error {
	at, err := url.Parse(n.rewrites.Apply(address))
	if err != nil || at.Hostname() == "" {
		return fmt.Errorf("%.200q is not an address with a host", address)
	}
	resolved, err := net.DefaultResolver.LookupNetIP(ctx, "ip", at.Hostname())
	if err != nil {
		return fmt.Errorf("resolving the host %q: %w", at.Hostname(), err)
	}
	for _, ip := range resolved {
		if err := n.rules.Permits(at.Hostname(), egress.PortOf(at), ip.Unmap()); err != nil {
			return err
		}
	}
	return nil
}

// inClear reports whether a login for an address would be sent without encryption, beyond this machine.
func (n *network) inClear(address string) bool {
	if rest, oci := strings.CutPrefix(address, "oci://"); oci || !strings.Contains(address, "://") {
		address = "https://" + rest
		// A registry that speaks without encryption is known by its address alone.
		if n.rewrites.Apply(address) == address {
			address = plan.RegistryScheme(rest) + "://" + rest
		}
	}
	at, err := url.Parse(n.rewrites.Apply(address))
	if err != nil || strings.EqualFold(at.Scheme, "https") {
		return false
	}
	ip := net.ParseIP(at.Hostname())
	return ip == nil || !ip.IsLoopback()
}
