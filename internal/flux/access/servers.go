// Package access is how servers and clusters are reached that objects of Flux name: logins, certificates, proxies, kubeconfigs and
// tokens from the Secrets that they refer to, and the failures of that in the words of Flux.
//
// It sends no requests but to read these Secrets, and shows no value of one.
package access

import (
	"context"
	"fmt"
	"net/url"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/source"
)

// Reach is what it takes to reach the servers of sources, with a cluster or without one: where URLs lead,
// and who reads the Secrets that sources refer to.
type Reach struct {
	Rules func() source.Rewrites
	// Egress is where servers may be: anywhere by default.
	Egress egress.Rules
	// Spill is a directory for files that are too large for memory; when it is empty nothing is kept there.
	Spill   string
	Held    func(ctx context.Context, namespace, name string) (map[string][]byte, error)
	Account func(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error)
}

// Rewritten is where a URL is fetched from.
func (s *Reach) Rewritten(url string) string { return s.Rules().Apply(url) }

// Secret reads the Secret that a field names.
func (s *Reach) Secret(ctx context.Context, namespace, field, name string) (map[string][]byte, error) {
	data, err := s.Held(ctx, namespace, name)
	if err != nil {
		return nil, fmt.Errorf("%s: reading Secret %q: %w", field, namespace+"/"+name, err)
	}
	return data, nil
}

// Proxy reads the proxy of a source as a URL with its credentials.
func (s *Reach) Proxy(ctx context.Context, namespace, name string) (string, error) {
	const field = "spec.proxySecretRef"
	data, err := s.Secret(ctx, namespace, field, name)
	if err != nil {
		return "", err
	}
	address, err := url.Parse(string(data["address"]))
	if err != nil || address.Host == "" {
		return "", fmt.Errorf("%s: Secret %q: address must be a URL", field, namespace+"/"+name)
	}
	if user := string(data["username"]); user != "" {
		address.User = url.UserPassword(user, string(data["password"]))
	}
	return address.String(), nil
}
