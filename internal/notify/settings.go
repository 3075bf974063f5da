package notify

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/egress"
)

// Settings are what it takes to reach the receiver of a Provider. They hold secrets: they are made for one
// delivery, and written nowhere.
type Settings struct {
	// Type is that of the Provider, such as slack.
	Type              string
	Address           string
	Channel, Username string
	Password, Token   string
	Headers           map[string]string
	// Proxy is a URL, with the login if one is needed.
	Proxy         string
	CA, Cert, Key []byte
	// Egress is where the receiver may be: anywhere by default.
	Egress  egress.Rules
	Timeout time.Duration
	// Context is what a status of a commit is filed under.
	Context string
}

// the names of the types that are served.
const (
	typeGeneric      = "generic"
	typeHMAC         = "generic-hmac"
	typeSlack        = "slack"
	typeDiscord      = "discord"
	typeTeams        = "msteams"
	typeRocket       = "rocket"
	typeGoogleChat   = "googlechat"
	typeTelegram     = "telegram"
	typeMatrix       = "matrix"
	typeAlertmanager = "alertmanager"
	typePagerDuty    = "pagerduty"
	typeGrafana      = "grafana"
	typeGitHub       = "github"
	typeGitLab       = "gitlab"
	typeGitea        = "gitea"
)

// Types are the types of Providers that are served, in order.
func Types() []string {
	return []string{
		typeAlertmanager, typeDiscord, typeGeneric, typeHMAC, typeGitea, typeGitHub, typeGitLab, typeGoogleChat, typeGrafana,
		typeMatrix, typeTeams, typePagerDuty, typeRocket, typeSlack, typeTelegram,
	}
}

// Serves reports whether a type is served.
func Serves(kind string) bool { return slices.Contains(Types(), kind) }

// Forge reports whether a type takes the status of commits.
func Forge(kind string) bool {
	return slices.Contains([]string{typeGitHub, typeGitLab, typeGitea}, kind)
}

// Check reports what the settings lack, by the field or the entry of the Secret.
func (s *Settings) Check() error {
	if !Serves(s.Type) {
		return fmt.Errorf("spec.type: type %q is not supported; use one of %s", s.Type, strings.Join(Types(), ", "))
	}
	if err := s.checkAddress(); err != nil {
		return err
	}
	need := func(value, what string) error {
		if value == "" {
			return fmt.Errorf("%s: required for type %s", what, s.Type)
		}
		return nil
	}
	const token = "spec.secretRef: entry token"
	switch s.Type {
	case typeHMAC, typeGitHub, typeGitLab, typeGitea:
		return need(s.Token, token)
	case typeTelegram:
		return errors.Join(need(s.Channel, "spec.channel"), need(s.Token, token))
	case typeMatrix:
		return errors.Join(need(s.Channel, "spec.channel"), need(s.Token, token))
	case typePagerDuty:
		return need(s.Channel, "spec.channel")
	}
	return nil
}

// checkAddress names no part of the address: it may be a secret.
func (s *Settings) checkAddress() error {
	const field = "spec.address"
	if s.Address == "" {
		if s.Type == typeTelegram {
			return nil
		}
		return fmt.Errorf("%s: it is empty, and the Secret of spec.secretRef has no entry address", field)
	}
	if Forge(s.Type) {
		_, err := parseRepository(s.Address)
		if err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
		return nil
	}
	u, err := url.Parse(s.Address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%s: not an http or https URL", field)
	}
	return nil
}

// transport is how the receiver is reached.
func (s *Settings) transport() (*http.Transport, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(s.CA) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(s.CA) {
			return nil, permanent("spec.certSecretRef: ca.crt contains no certificate")
		}
	}
	if len(s.Cert) > 0 || len(s.Key) > 0 {
		pair, err := tls.X509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, permanent("spec.certSecretRef: tls.crt and tls.key do not match")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	t := s.Egress.OrAnywhere().Transport()
	t.TLSClientConfig, t.DisableKeepAlives, t.ForceAttemptHTTP2 = config, true, false
	t.TLSHandshakeTimeout, t.ResponseHeaderTimeout, t.MaxResponseHeaderBytes = s.Timeout, s.Timeout, maxAnswer
	if s.Proxy != "" {
		proxy, err := url.Parse(s.Proxy)
		if err != nil || proxy.Host == "" {
			return nil, permanent("spec.proxySecretRef: address is not a URL")
		}
		s.Egress.OrAnywhere().Restrict(t)
		t.Proxy = http.ProxyURL(proxy)
	}
	return t, nil
}

// masked stands for what is a secret.
const masked = "*****"

// Scrub removes possible secrets from a text: the address, which authenticates senders at many receivers,
// write to them, logins and headers.
func (s *Settings) Scrub(text string) string {
	for _, secret := range s.secrets() {
		text = strings.ReplaceAll(text, secret, masked)
	}
	return text
}

// secrets are the longest first, so that none is left of which another is a part.
func (s *Settings) secrets() []string {
	list := []string{s.Token, s.Password, s.Address, s.Proxy}
	for _, v := range s.Headers {
		list = append(list, v)
	}
	for _, address := range []string{s.Address, s.Proxy} {
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		list = append(list, u.RequestURI(), u.EscapedPath(), u.Path, u.RawQuery, u.String(), u.Redacted())
		if u.User != nil {
			password, _ := u.User.Password()
			list = append(list, password, u.User.String())
		}
		for _, values := range u.Query() {
			list = append(list, values...)
		}
		list = append(list, strings.Split(u.Path, "/")...)
	}
	list = append(list, url.QueryEscape(s.Token), url.PathEscape(s.Token))
	// What is so short would take harmless words apart.
	const least = 4
	list = slices.DeleteFunc(list, func(v string) bool { return len(v) < least })
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(list)
}
