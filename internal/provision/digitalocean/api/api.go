// Package api is the API of DigitalOcean as it is safe to call from a reconciler: by the client of DigitalOcean without its
// own retries, which repeat requests that create.
//
// All that use one token share a budget of requests, in fair shares of kinds. Only requests that can be repeated are, and a
// request that may have been carried out although it failed says so by an AmbiguousError. Tokens are in no error, and are not
// printed. The package refuses to decide what is requested.
package api

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"sync"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/rounds"
)

// Options are what all accounts have in common. The zero value is for the real API.
type Options struct {
	// Transport sends requests; nil is that of net/http.
	Transport http.RoundTripper
	// PerMinute is how many requests are sent in a minute at most, 0 for a little less than DigitalOcean admits.
	PerMinute int
	// UserAgent is added to that of the client.
	UserAgent string
}

// Accounts are the accounts that are used, each of them once: what is requested with one token shares one budget. They are
// safe for concurrent use.
type Accounts struct {
	options Options
	mu      sync.Mutex
	all     map[[sha256.Size]byte]*Account
}

// NewAccounts returns accounts that send requests by the same options.
func NewAccounts(o Options) *Accounts {
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	return &Accounts{options: o, all: map[[sha256.Size]byte]*Account{}}
}

// Of is the account that credentials are for.
func (a *Accounts) Of(c Credentials) *Account {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := c.digest()
	one, known := a.all[key]
	if !known {
		one = &Account{credentials: c, options: a.options, budget: newBudget(a.options.PerMinute)}
		a.all[key] = one
	}
	return one
}

// Account is an account of DigitalOcean, or rather a token for one.
type Account struct {
	credentials Credentials
	options     Options
	budget      *budget
}

// Client calls the API on behalf of a kind, such as "Droplet", to whose share its requests count.
func (a *Account) Client(kind string) *godo.Client {
	c := godo.NewClient(&http.Client{
		Transport: &transport{account: a, kind: kind, backoff: rounds.Backoff{Min: firstRetry, Max: lastRetry}},
		// The API redirects nowhere. A redirect is not followed: it would send the token to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	base := *a.credentials.endpoint
	c.BaseURL = &base
	if a.options.UserAgent != "" {
		c.UserAgent = a.options.UserAgent + " " + c.UserAgent
	}
	return c
}

// Endpoint is the address of the API.
func (a *Account) Endpoint() *url.URL {
	base := *a.credentials.endpoint
	return &base
}
