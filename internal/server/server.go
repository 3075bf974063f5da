// Package server answers over HTTP for a running engine: its metrics, whether it lives and leads, and
// whatever else it is given.
//
// It serves what it is given and knows no engine. On the loopback interface it refuses requests under the name of another machine, but for those from
// anywhere, which are verified one by one and forwarded under any name.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/loopback"
)

// Bounds of what a client may take.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = 5 * time.Minute
	idleTimeout   = 2 * time.Minute
)

// Metrics serves /metrics.
func Metrics(h http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", h)
	return mux
}

// Health serves /healthz and /readyz, which answer 503 with the error that alive and ready return.
func Health(alive func(ctx context.Context) error, ready func() error) http.Handler {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { answer(w, alive(r.Context())) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, ready()) })
	return mux
}

// Server serves until it is stopped.
type Server struct {
	http *http.Server
	addr string
}

// Start listens at an address, of which port 0 takes a free one, and serves. It fails when the address
// cannot be bound.
func Start(addr string, h http.Handler) (*Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", addr, err)
	}
	s := &Server{
		http: &http.Server{Handler: loopback.Only(listener, h), ReadHeaderTimeout: headerTimeout, ReadTimeout: bodyTimeout, IdleTimeout: idleTimeout},
		addr: listener.Addr().String(),
	}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

// Addr is the address that is listened on.
func (s *Server) Addr() string { return s.addr }

// Stop ends the server when its requests are answered, or when ctx ends.
func (s *Server) Stop(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("stopping the server at %s: %w", s.addr, err)
	}
	return nil
}
