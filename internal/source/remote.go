package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/skeema/knownhosts"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/redaction"
)

// remote is a repository on a server, and how to get in there.
type remote struct {
	options GitOptions
	// url holds no credentials: they are in auth.
	url   string
	auth  transport.AuthMethod
	proxy transport.ProxyOptions
	// web sends requests over http(s).
	web *http.Client
	// secrets are never shown.
	secrets []string
	// nesting counts the repositories that this one is a submodule of.
	nesting int
	// quota is shared with submodules.
	quota *quota
}

func newRemote(o GitOptions) (*remote, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: it cannot be parsed", ErrURL)
	}
	if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ssh" {
		return nil, fmt.Errorf("%w: scheme %q is not supported; use https, http or ssh", ErrURL, u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("%w: it names no host", ErrURL)
	}
	if len(o.CAFile) > 0 && !x509.NewCertPool().AppendCertsFromPEM(o.CAFile) {
		return nil, errors.New("reading the CA certificates: no certificate in PEM form")
	}
	r := &remote{options: o, quota: newQuota()}
	u.Fragment = ""
	if u.Scheme == "ssh" {
		if err := r.sshLogin(u); err != nil {
			return nil, err
		}
	} else {
		if err := r.login(u); err != nil {
			return nil, err
		}
		u.User = nil
	}
	r.url = u.String()
	if err := r.useProxy(); err != nil {
		return nil, err
	}
	return r, r.connect(u.Scheme)
}

// connect makes no connection yet.
func (r *remote) connect(scheme string) error {
	o := r.options
	if r.web = o.HTTP; r.web != nil || scheme == "ssh" {
		return nil
	}
	t, err := (&Access{CAFile: o.CAFile, ClientCert: o.ClientCert, ClientKey: o.ClientKey, Proxy: o.Proxy, Egress: o.Egress}).transport()
	if err != nil {
		return err
	}
	// A server may take long to prepare what it sends.
	t.ResponseHeaderTimeout = 0
	r.web = &http.Client{Transport: t}
	return nil
}

// close ends connections that were made for this repository alone.
func (r *remote) close() {
	if r.web != nil && r.options.HTTP == nil {
		r.web.CloseIdleConnections()
	}
}

// permitted refuses a server that may not be reached by ssh, whose library connects by its own means. Over http(s) each connection is checked.
func (r *remote) permitted(ctx context.Context) error {
	at, err := url.Parse(r.url)
	if err != nil || at.Scheme != "ssh" {
		return nil //nolint:nilerr // it was parsed before
	}
	if r.proxy.URL != "" {
		if at, err = url.Parse(r.proxy.URL); err != nil {
			return fmt.Errorf("%w: the proxy URL cannot be parsed", ErrURL)
		}
	}
	if err := r.options.Egress.OrAnywhere().Check(ctx, at.Hostname(), egress.PortOf(at)); err != nil {
		return fmt.Errorf("fetching %q: %w", r.url, err)
	}
	return nil
}

// login takes the credentials from the options, else from the URL.
func (r *remote) login(u *url.URL) error {
	o := &r.options
	if len(o.ClientCert) > 0 || len(o.ClientKey) > 0 {
		if _, err := tls.X509KeyPair(o.ClientCert, o.ClientKey); err != nil {
			// The library's error may quote the key.
			return fmt.Errorf("%w: the client certificate and its key cannot be read, or do not match", ErrAuth)
		}
	}
	if o.Username == "" && o.Password == "" && o.BearerToken == "" && u.User != nil {
		o.Username = u.User.Username()
		o.Password, _ = u.User.Password()
	}
	switch {
	case o.BearerToken != "":
		r.auth = &githttp.TokenAuth{Token: o.BearerToken}
	case o.Username != "" || o.Password != "":
		r.auth = &githttp.BasicAuth{Username: o.Username, Password: o.Password}
	}
	r.hide(o.BearerToken)
	r.hide(o.Password)
	if o.Password == "" {
		// A token instead of the user's name.
		r.hide(o.Username)
	}
	return nil
}

func (r *remote) useProxy() error {
	if r.options.Proxy == "" {
		return nil
	}
	u, err := url.Parse(r.options.Proxy)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
		return fmt.Errorf("%w: the proxy URL must be http, https or socks5 and name a host", ErrURL)
	}
	if u.User != nil {
		r.proxy.Username = u.User.Username()
		r.proxy.Password, _ = u.User.Password()
		r.hide(r.proxy.Password)
		u.User = nil
	}
	r.proxy.URL = u.String()
	return nil
}

func (r *remote) hide(secret string) {
	if secret != "" {
		r.secrets = append(r.secrets, secret, url.QueryEscape(secret), url.PathEscape(secret))
	}
}

// explain words an error of the library, without any credential.
func (r *remote) explain(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("fetching %q: %w", r.url, context.Cause(ctx))
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return fmt.Errorf("fetching %q: %w", r.url, ErrAuth)
	case knownhosts.IsHostUnknown(err), knownhosts.IsHostKeyChanged(err):
		return fmt.Errorf("fetching %q: %w: %w", r.url, ErrAuth, ErrHostKey)
	case strings.Contains(err.Error(), "ssh: unable to authenticate"):
		return fmt.Errorf("fetching %q: %w: the host does not accept the key", r.url, ErrAuth)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fmt.Errorf("fetching %q: the repository does not exist, or the credentials do not permit access to it", r.url)
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return fmt.Errorf("fetching %q: %w", r.url, errEmpty)
	default:
		text := redaction.NewValues(r.secrets...).Text(err.Error())
		return fmt.Errorf("fetching %q: %s", r.url, unresolved(text, r.url))
	}
}
