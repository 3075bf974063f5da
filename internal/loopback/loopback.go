// Package loopback guards servers that listen on the loopback interface: they answer requests for this machine alone.
//
// A page of a browser reaches such a server under the name of its own site, once the name server of the site says that it is at 127.0.0.1
// (DNS rebinding), and reads what it answers. The name is in the header Host, which a page cannot choose. The package refuses to authenticate anyone, and
// leaves servers of other interfaces alone, whose names it does not know.
package loopback

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Only has a handler answer the requests that a listener accepts for this machine: by an address of the loopback interface or as localhost. Others get 421.
// One that listens elsewhere answers all.
func Only(listener net.Listener, handler http.Handler) http.Handler {
	at, err := netip.ParseAddrPort(listener.Addr().String())
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !names(r.Host) {
			http.Error(w, "this server is reached as "+listener.Addr().String()+", and not by another name", http.StatusMisdirectedRequest)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// names reports whether the header Host names this machine, at whatever port: what forwards one has another. A request without the header is not one of
// a browser.
func names(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if host == "" || strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
