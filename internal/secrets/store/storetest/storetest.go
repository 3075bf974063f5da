// Package storetest has servers of stores for tests: each speaks the API of its store over real HTTP, refuses what the store refuses,
// and fails on demand. It is no part of an engine.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// Fault is how requests fail: with a status and a header, or with a body that means nothing when the status is 200.
type Fault struct {
	Status     int
	RetryAfter string
}

// server is what all of them have: a lock, a count of requests, a fault.
type server struct {
	URL string

	lock     sync.Mutex
	fault    *Fault
	requests int
	http     *httptest.Server
}

// start serves until the test ends. The handler runs with the lock.
func (s *server) start(t testing.TB, handler http.Handler) { s.serve(t, handler, httptest.NewServer) }

// startTLS does so over TLS.
func (s *server) startTLS(t testing.TB, handler http.Handler) {
	s.serve(t, handler, httptest.NewTLSServer)
}

// Client returns a client that trusts the server.
func (s *server) Client() *http.Client { return s.http.Client() }

func (s *server) serve(t testing.TB, handler http.Handler, start func(http.Handler) *httptest.Server) {
	s.http = start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.requests++
		if s.fault != nil {
			if s.fault.RetryAfter != "" {
				w.Header().Set("Retry-After", s.fault.RetryAfter)
			}
			w.WriteHeader(s.fault.Status)
			_, _ = w.Write([]byte("[s3cret"))
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.http.Close)
	s.URL = s.http.URL
}

// Fail makes all requests fail until it is called with nil.
func (s *server) Fail(fault *Fault) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.fault = fault
}

// Stop ends the server, as when its machine is gone.
func (s *server) Stop() { s.http.Close() }

// Requests is the number of requests so far.
func (s *server) Requests() int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.requests
}

// Lookup returns the values of a map by the names of Secrets.
func Lookup(values map[string]string) store.Lookup {
	return func(_ context.Context, ref store.SecretRef) ([]byte, error) {
		value, has := values[ref.Name]
		if !has {
			return nil, fmt.Errorf("there is no Secret %s/%s", ref.Namespace, ref.Name)
		}
		return []byte(value), nil
	}
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// Plain is a server of the handler that a test has for it.
type Plain struct{ server }

// NewPlain starts a server.
func NewPlain(t testing.TB, handler http.HandlerFunc) *Plain {
	p := &Plain{}
	p.start(t, handler)
	return p
}
