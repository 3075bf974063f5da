package flux

import (
	"context"
	"fmt"
	"net/url"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/internal/source"
)

// reach is what it takes to reach the servers of sources, with a cluster or without one: where URLs lead,
// and who reads the Secrets that sources refer to.
type reach struct {
	rules func() source.Rewrites
	// spill is a directory for files that are too large for memory; when it is empty nothing is kept there.
	spill   string
	held    func(ctx context.Context, namespace, name string) (map[string][]byte, error)
	account func(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error)
}

// rewritten is where a URL is fetched from.
func (s *reach) rewritten(url string) string { return s.rules().Apply(url) }

// secret reads the Secret that a field names.
func (s *reach) secret(ctx context.Context, namespace, field, name string) (map[string][]byte, error) {
	data, err := s.held(ctx, namespace, name)
	if err != nil {
		return nil, fmt.Errorf("%s: reading Secret %q: %w", field, namespace+"/"+name, err)
	}
	return data, nil
}

// proxy reads the proxy of a source as a URL with its credentials.
func (s *reach) proxy(ctx context.Context, namespace, name string) (string, error) {
	const field = "spec.proxySecretRef"
	data, err := s.secret(ctx, namespace, field, name)
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
