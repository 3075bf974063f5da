// Package webhook receives the requests by which forges and registries report changes: it finds the hook that
// a request is for, verifies who sent it, and hands on what it says.
//
// It knows no cluster, and reveals nothing to unauthenticated senders: a refused request is
// answered with a status alone.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Hook is an endpoint as it is now.
type Hook struct {
	// Name tells hooks apart in what is said of them; the path of one is a secret.
	Name string
	// Type is that of the sender, Token the secret that is shared with it.
	Type, Token string
	// Events, when there are any, are the only ones that are delivered. A sender that names no events has all
	// of its requests delivered.
	Events []string
	// Closed is set while nothing is taken.
	Closed bool
	// Deliver takes a request that was verified. An ErrMalformed blames the sender.
	Deliver func(ctx context.Context, d Delivery) error
}

// ErrMalformed says that what was sent cannot be read.
var ErrMalformed = errors.New("the body is not in the format of the sender")

// Config is what a Handler needs.
type Config struct {
	// Find returns the hook of a path. It is called for every request, and must be cheap.
	Find func(path string) (Hook, bool)
	// Refused, when set, is called with the reason why a request was refused.
	Refused func(hook string, why error)
	// Patience bounds how long a body may take; zero takes bodyTimeout.
	Patience time.Duration
}

// MaxBody is the longest body that is read, as with Flux.
const MaxBody = 3 << 20

const (
	// bodyTimeout bounds how long a body may take.
	bodyTimeout = 10 * time.Second
	// atOnce bounds the bodies that are held in memory.
	atOnce = 16
	// retryAfter is when a sender may try again, in seconds.
	retryAfter = "10"
)

// Handler serves hooks.
type Handler struct {
	cfg   Config
	slots chan struct{}
}

// New makes a Handler.
func New(cfg Config) *Handler {
	if cfg.Patience == 0 {
		cfg.Patience = bodyTimeout
	}
	return &Handler{cfg: cfg, slots: make(chan struct{}, atOnce)}
}

// ServeHTTP answers 404 for a hook that is not there, 503 for one that is closed, 400 for a request that cannot
// be verified, and 500 for one that was, when not all that it asks for could be done.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	hook, known := h.cfg.Find(r.URL.Path)
	if !known {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if hook.Closed {
		Unavailable(w)
		return
	}
	status, err := h.take(w, r, hook)
	if err != nil && h.cfg.Refused != nil {
		h.cfg.Refused(hook.Name, err)
	}
	if status == http.StatusServiceUnavailable {
		Unavailable(w)
		return
	}
	w.WriteHeader(status)
}

// Unavailable responds that requests are not accepted now, and when to retry.
func Unavailable(w http.ResponseWriter) {
	w.Header().Set("Retry-After", retryAfter)
	w.WriteHeader(http.StatusServiceUnavailable)
}

// take returns how a request to a hook is answered; the error says why it was not let in.
func (h *Handler) take(w http.ResponseWriter, r *http.Request, hook Hook) (int, error) {
	s, served := senders[hook.Type]
	if !served {
		return http.StatusServiceUnavailable, fmt.Errorf("requests of type %q are not supported", hook.Type)
	}
	// What the header alone can decide is checked before the body is read.
	if err := s.announced(r.Header, hook.Token); err != nil {
		return http.StatusBadRequest, err
	}
	wait := time.NewTimer(h.cfg.Patience)
	defer wait.Stop()
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-wait.C:
		return http.StatusServiceUnavailable, errors.New("too many concurrent requests")
	case <-r.Context().Done():
		return http.StatusServiceUnavailable, errors.New("the sender disconnected")
	}
	body, status, err := h.read(w, r)
	if err != nil {
		return status, err
	}
	d := Delivery{Event: s.event(r.Header), header: r.Header, body: body}
	if err := s.verify(d, hook.Token); err != nil {
		return http.StatusBadRequest, err
	}
	if s.named() && len(hook.Events) > 0 && !slices.ContainsFunc(hook.Events, func(e string) bool { return strings.EqualFold(e, d.Event) }) {
		// It is answered well: forges give up on hooks that fail often.
		return http.StatusOK, nil
	}
	switch err := hook.Deliver(r.Context(), d); {
	case errors.Is(err, ErrMalformed):
		return http.StatusBadRequest, err
	case err != nil:
		// The failing caller has reported it.
		return http.StatusInternalServerError, nil
	}
	return http.StatusOK, nil
}

// read reads the body, in bounds of size and time.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) ([]byte, int, error) {
	if r.ContentLength > MaxBody {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("its body has %d bytes, more than %d", r.ContentLength, MaxBody)
	}
	// Where there is no connection there is nothing to wait for either.
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(h.cfg.Patience))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if err == nil {
		_ = connection.SetReadDeadline(time.Time{})
	}
	var long *http.MaxBytesError
	var slow interface{ Timeout() bool }
	switch {
	case errors.As(err, &long):
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("its body has more than %d bytes", MaxBody)
	case errors.As(err, &slow) && slow.Timeout():
		return nil, http.StatusRequestTimeout, fmt.Errorf("its body took longer than %s", h.cfg.Patience)
	case err != nil:
		return nil, http.StatusBadRequest, fmt.Errorf("reading its body: %w", err)
	}
	return body, 0, nil
}
