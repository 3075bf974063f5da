// Package rest sends the requests of stores that are reached over HTTP: once each, with a time limit, answers of bounded
// size, and failures that say what they mean for a store. It refuses to show bodies and URLs in errors.
package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/secrets/store"
)

// Timeout bounds one request with its answer.
const Timeout = 30 * time.Second

// hops bounds the redirects of one request, which lead to the same server alone.
const hops = 3

// Request is what is sent. Of says in errors what is requested of what.
type Request struct {
	Of, Method, URL string
	Header          http.Header
	Body            []byte
	// Accept are statuses outside 200 to 299 that are no failure.
	Accept []int
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request once. Failures are those of the package store.
func Do(ctx context.Context, client *http.Client, r Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return Answer{}, fmt.Errorf("%s: the URL or the method of the request is invalid", r.Of)
	}
	if r.Header != nil {
		request.Header = r.Header.Clone()
	}
	own := *client
	own.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		// Headers with credentials would follow to any server.
		if first := via[0].URL; len(via) > hops || next.URL.Scheme != first.Scheme || next.URL.Host != first.Host {
			return http.ErrUseLastResponse
		}
		return nil
	}
	response, err := own.Do(request)
	if err != nil {
		return Answer{}, store.Unreachable(r.Of, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, store.MaxBody+1))
	if err != nil {
		return Answer{}, store.Unreachable(r.Of, err)
	}
	if err := store.Fetched(ctx, len(body)); err != nil {
		return Answer{}, fmt.Errorf("%s: %w", r.Of, err)
	}
	answer := Answer{Status: response.StatusCode, Header: response.Header, Body: body}
	if len(body) > store.MaxBody {
		return answer, fmt.Errorf("%s: %w: it exceeds %d bytes", r.Of, store.ErrTooLarge, store.MaxBody)
	}
	for _, status := range r.Accept {
		if answer.Status == status {
			return answer, nil
		}
	}
	if answer.Status < 200 || answer.Status > 299 {
		return answer, store.StatusError(r.Of, answer.Status, answer.Header)
	}
	return answer, nil
}

// JSON sends a request and decodes the answer into a value, which may be nil.
func JSON(ctx context.Context, client *http.Client, r Request, into any) (Answer, error) {
	answer, err := Do(ctx, client, r)
	if err != nil || into == nil {
		return answer, err
	}
	return answer, Decode(r.Of, answer.Body, into)
}

// Decode reads JSON. What the decoder says is not shown, since it may quote a value.
func Decode(of string, body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: %w: it is not the JSON that was expected", of, store.ErrMalformed)
	}
	return nil
}

// TLS is what a connection trusts and presents besides what the client does.
type TLS struct {
	// CA has certificates of authorities in PEM, which are the only ones that are trusted.
	CA []byte
	// Certificate and Key are the client's in PEM.
	Certificate, Key []byte
}

// Trusting returns a client that reaches what the given one does, with a configuration of TLS of its own.
func Trusting(client *http.Client, config TLS) (*http.Client, error) {
	if len(config.CA) == 0 && len(config.Certificate) == 0 && len(config.Key) == 0 {
		return client, nil
	}
	base, ok := client.Transport.(*http.Transport)
	if client.Transport == nil {
		base, ok = http.DefaultTransport.(*http.Transport)
	}
	if !ok {
		return nil, errors.New("the HTTP client does not permit certificate authorities of its users")
	}
	transport := base.Clone()
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if len(config.CA) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(config.CA) {
			return nil, errors.New("the certificate authority has no certificate in PEM")
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	if len(config.Certificate) > 0 || len(config.Key) > 0 {
		pair, err := tls.X509KeyPair(config.Certificate, config.Key)
		if err != nil {
			return nil, errors.New("the client certificate and its key are not a pair in PEM")
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	own := *client
	own.Transport = transport
	return &own, nil
}
