package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/redaction"
)

// Access says how a server is reached, and as whom. The zero value is a caller without a name who goes
// by the proxy of the environment and believes the system's certificates.
type Access struct {
	// Username and Password log in.
	Username, Password string
	// CAFile holds PEM certificates to trust beside the system's.
	CAFile []byte
	// ClientCert and ClientKey are PEM, for servers that ask who calls.
	ClientCert, ClientKey []byte
	// Proxy is the URL of a proxy, with its credentials; empty means that of the environment.
	Proxy string
	// Egress is where the server may be. Without rules, that is anywhere: for what a person asks for by hand.
	Egress egress.Rules
	// Timeout bounds the whole fetch. It is one minute when zero.
	Timeout time.Duration
}

const (
	// dialTimeout is when a host that cannot be reached is given up.
	dialTimeout = 5 * time.Second
	// answerTimeout is when a host is given up that takes a request and does not answer.
	answerTimeout = 30 * time.Second
	idleTimeout   = 30 * time.Second
	maxRedirects  = 10
)

// bound ends a fetch after its timeout.
func (a *Access) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	timeout := Deadline(a.Timeout)
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("timed out after %s", timeout))
}

// transport makes connections as the options say. The caller closes its idle connections.
func (a *Access) transport() (*http.Transport, error) {
	t := reach(a.Egress)
	t.TLSHandshakeTimeout, t.ResponseHeaderTimeout, t.IdleConnTimeout = dialTimeout, answerTimeout, idleTimeout
	if a.Proxy != "" {
		u, err := url.Parse(a.Proxy)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
			return nil, fmt.Errorf("%w: the proxy URL must be http, https or socks5 and name a host", ErrURL)
		}
		behind(t, a.Egress, u)
	}
	if len(a.CAFile) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(a.CAFile) {
			return nil, fmt.Errorf("%w: the CA certificates contain no certificate in PEM form", ErrAuth)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	if len(a.ClientCert) > 0 || len(a.ClientKey) > 0 {
		pair, err := tls.X509KeyPair(a.ClientCert, a.ClientKey)
		if err != nil {
			// The library's error may quote the key.
			return nil, fmt.Errorf("%w: the client certificate and its key cannot be read, or do not match", ErrAuth)
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// reach is a transport that goes by the rules, and by the proxies of the environment.
func reach(given egress.Rules) *http.Transport {
	t := given.OrAnywhere().Transport()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	t.DialContext = soon(t.DialContext)
	return t
}

// behind has a transport use a proxy that a source names, which is an address as any other.
func behind(t *http.Transport, given egress.Rules, proxy *url.URL) {
	given.OrAnywhere().Restrict(t)
	t.Proxy, t.DialContext = http.ProxyURL(proxy), soon(t.DialContext)
}

// soon gives up a host that cannot be reached.
func soon(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		return dial(ctx, network, address)
	}
}

// secrets are the values that no error may show.
func (a *Access) secrets(more ...string) redactor {
	r := redactor{}
	r.hide(more...)
	r.hide(a.Password)
	if a.Password == "" {
		// A token instead of the user's name.
		r.hide(a.Username)
	}
	if u, err := url.Parse(a.Proxy); err == nil && u.User != nil {
		password, _ := u.User.Password()
		r.hide(password)
	}
	return r
}

// redactor takes secrets out of the errors of libraries.
type redactor struct{ values []string }

func (r *redactor) hide(secrets ...string) {
	for _, secret := range secrets {
		if secret != "" {
			r.values = append(r.values, secret)
		}
	}
}

// text is what an error says, without secrets and without the queries of URLs: those of storage that
// a registry sends its callers to are signed.
func (r *redactor) text(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return context.Cause(ctx).Error()
	}
	var about *url.Error
	if errors.As(err, &about) {
		host := "the server"
		if u, parsed := url.Parse(about.URL); parsed == nil {
			host = u.Host
		}
		return r.clean(fmt.Sprintf("requesting %s: %v", host, about.Err))
	}
	return r.clean(err.Error())
}

func (r *redactor) clean(text string) string {
	text = redaction.NewValues(r.values...).Text(text)
	return unresolved(strings.Join(strings.Fields(text), " "), "")
}
