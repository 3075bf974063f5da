// Package server answers over HTTP for a running engine: its metrics, whether it lives and leads, and its hooks.
//
// It serves what it is given and knows no engine.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Config says what is served.
type Config struct {
	// Addr is the address to listen on; port 0 takes a free one.
	Addr string
	// Metrics serves /metrics.
	Metrics http.Handler
	// Ready tells whether the engine is at work; /readyz answers 503 with the error while it is not.
	Ready func() error
}

// headerTimeout bounds how long a client may take for its request.
const headerTimeout = 10 * time.Second

// Server serves until it is stopped.
type Server struct {
	http *http.Server
	addr string
}

// Start listens and serves. It fails when the address cannot be had.
func Start(cfg Config) (*Server, error) {
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %q: %w", cfg.Addr, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", cfg.Metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := cfg.Ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	s := &Server{http: &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout}, addr: listener.Addr().String()}
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
