package argo

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// clusterOf is a destination.
type clusterOf = settings.Cluster

// Connect tells how the cluster of an Application is reached.
func (d dialectPort) Connect(_ context.Context, id engine.UnitID) (runner.Connection, error) {
	a := d.apps.get(id)
	if a == nil {
		return runner.Connection{}, fmt.Errorf("reading %s: it was deleted", id)
	}
	c, err := policy.Destination(a.now().Spec.Destination, d.settings.Now())
	if err != nil {
		return runner.Connection{}, err
	}
	if len(c.Unserved) > 0 {
		return runner.Connection{}, fmt.Errorf("Secret %s: config.%s: not supported; use a token, a password or a certificate", c.Secret, c.Unserved[0])
	}
	config, err := configOf(c)
	if err != nil {
		return runner.Connection{}, err
	}
	text := fmt.Sprint(config.Host, config.Username, config.Password, config.BearerToken, config.Insecure, config.ServerName) +
		string(config.CAData) + string(config.CertData) + string(config.KeyData) + c.Connection.Proxy.Reveal()
	return runner.Connection{Config: config, Digest: digest(text), Cluster: clusterName(c)}, nil
}

// configOf is how a cluster is reached.
func configOf(c settings.Cluster) (*rest.Config, error) {
	said := c.Connection
	config := &rest.Config{
		Host: c.Server, Username: said.Username.Reveal(), Password: said.Password.Reveal(), BearerToken: said.BearerToken.Reveal(),
		DisableCompression: said.Uncompressed,
		TLSClientConfig: rest.TLSClientConfig{
			Insecure: said.Insecure, ServerName: said.ServerName, CAData: said.Authorities, CertData: said.Certificate, KeyData: []byte(said.Key.Reveal()),
		},
	}
	if said.Insecure {
		// A client takes one or the other.
		config.CAData = nil
	}
	if said.Proxy.IsSet() {
		proxy, err := url.Parse(said.Proxy.Reveal())
		if err != nil {
			return nil, fmt.Errorf("Secret %s: config.proxyUrl is not a URL", c.Secret)
		}
		config.Proxy = http.ProxyURL(proxy)
	}
	return config, nil
}
