package controller

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// retryAfter, in seconds, is when to ask again while no replica serves.
const retryAfter = "2"

// passedOn marks a request that another replica forwarded: it is not forwarded again.
const passedOn = "X-Headgate-Passed-On"

// standby serves what local gives, and passes requests on to the replica that serves while that is nothing.
type standby struct {
	local func() http.Handler
	peer  func() string
	port  string
}

// ServeHTTP serves, or forwards.
func (s standby) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s.local(); h != nil {
		h.ServeHTTP(w, r)
		return
	}
	peer := s.peer()
	if peer == "" || s.port == "" || r.Header.Get(passedOn) != "" {
		nobody(w, r, nil)
		return
	}
	to := &url.URL{Scheme: "http", Host: net.JoinHostPort(peer, s.port)}
	proxy := httputil.ReverseProxy{ErrorHandler: nobody, Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(to)
		p.SetXForwarded()
		p.Out.Header.Set(passedOn, "1")
	}}
	proxy.ServeHTTP(w, r)
}

// no one responds while no replica serves, or the one that does cannot be reached.
func nobody(w http.ResponseWriter, _ *http.Request, _ error) {
	w.Header().Set("Retry-After", retryAfter)
	http.Error(w, "no replica serves", http.StatusServiceUnavailable)
}

// portOf is the port of an address; it is empty when there is none.
func portOf(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return port
}
