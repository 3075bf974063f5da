package gitserver

import (
	"net/url"
	"path"
	"strings"
)

// address is where a repository is, however it is written.
type address struct {
	host, path string
	// port is that of http and https; the ports of other protocols say nothing about the repository.
	port string
}

// SameRepository reports whether two URLs name one repository, by whatever protocol and credentials.
func SameRepository(a, b string) bool {
	x, ok := parseAddress(a)
	if !ok {
		return false
	}
	y, ok := parseAddress(b)
	if !ok || x.host != y.host || x.path != y.path {
		return false
	}
	return x.port == y.port || x.port == "" || y.port == ""
}

// parseAddress reads https://host/path, ssh://user@host:22/path and user@host:path.
func parseAddress(text string) (address, bool) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		text = fromSCP(text)
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return address{}, false
	}
	a := address{host: strings.ToLower(u.Hostname()), path: strings.TrimSuffix(path.Clean("/"+u.Path), ".git")}
	switch strings.ToLower(u.Scheme) {
	case "http":
		a.port = portOr(u, "80")
	case "https":
		a.port = portOr(u, "443")
	}
	// One host serves the same repositories in clear and encrypted.
	if a.port == "80" {
		a.port = "443"
	}
	return a, a.path != "/"
}

func portOr(u *url.URL, fallback string) string {
	if port := u.Port(); port != "" {
		return port
	}
	return fallback
}

// fromSCP turns the form [user@]host:path into a URL.
func fromSCP(text string) string {
	end := strings.IndexByte(text, ':')
	if strings.Contains(text, "]:") {
		// An address of IPv6 in brackets.
		end = strings.Index(text, "]:") + 1
	}
	if end < 1 || strings.Contains(text[:end], "/") {
		return ""
	}
	return "ssh://" + text[:end] + "/" + strings.TrimPrefix(text[end+1:], "/")
}

// withoutCredentials leaves the user and the password out of a URL.
func withoutCredentials(text string) (string, bool) {
	if !strings.Contains(text, "://") {
		return text, true
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", false
	}
	u.User = nil
	return u.String(), true
}
