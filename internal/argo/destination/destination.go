// Package destination says how the clusters of an Argo CD installation are reached: by what their Secrets declare.
//
// It takes what internal/argo/settings has read and returns configurations of clients. It refuses to read Secrets, to send requests, and to
// put anything secret into an error.
package destination

import (
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// Config is how a cluster is reached. It fails, naming the Secret and the field, where that is declared in a way that is not supported.
func Config(c settings.Cluster) (*rest.Config, error) {
	if len(c.Unserved) > 0 {
		return nil, fmt.Errorf("Secret %s: config.%s: not supported; use a token, a password or a certificate", c.Secret, c.Unserved[0])
	}
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
