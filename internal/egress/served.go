package egress

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
)

// Served are servers by host and port that may be reached whatever else the rules say: those that this process runs, such as its Git server, and
// those that its user names. They may be added to while requests are sent. A nil one has none.
type Served struct {
	mu sync.RWMutex
	at map[string]bool
}

// Add adds the servers of URLs. What is none is left out.
func (s *Served) Add(urls ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at = map[string]bool{}
	}
	for _, text := range urls {
		if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
			s.at[place(u.Hostname(), PortOf(u))] = true
			if u.Scheme == "oci" && u.Port() == "" {
				// A registry may speak without encryption.
				s.at[place(u.Hostname(), "80")] = true
			}
		}
	}
}

func (s *Served) has(host, port string) bool {
	if s == nil || port == "" {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.at[place(host, port)]
}

// place is a server as Served has it: addresses have one form.
func place(host, port string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		host = addr.Unmap().String()
	}
	return strings.ToLower(net.JoinHostPort(host, port))
}

// PortOf is the port of a URL, or that of its scheme.
func PortOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	switch u.Scheme {
	case "http":
		return "80"
	case "ssh":
		return "22"
	case "socks5", "socks5h":
		return "1080"
	default:
		return "443"
	}
}
