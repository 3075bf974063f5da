package server

import (
	"fmt"
	"net"
	"net/http"
	"time"
)

// Bounds of a request from anywhere, as the upstream has them.
const (
	hookHeader  = 256 << 10
	hookTimeout = 30 * time.Second
	hookIdle    = 2 * time.Minute
)

// StartHooks serves requests that may come from anywhere; it bounds how long each may take, and how much its
// header may hold. It fails if the address cannot be bound.
func StartHooks(addr string, hooks http.Handler) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", addr, err)
	}
	s := &Server{addr: listener.Addr().String(), http: &http.Server{
		Handler: hooks, ReadHeaderTimeout: headerTimeout, ReadTimeout: hookTimeout, WriteTimeout: 2 * hookTimeout, IdleTimeout: hookIdle,
		MaxHeaderBytes: hookHeader,
	}}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}
