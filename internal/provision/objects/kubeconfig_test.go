package objects

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"

	"github.com/headgate-dev/headgate/internal/egress"
)

// TestServers has kubeconfigs name a server, and a proxy, of this machine: they are reached where the person who runs this is their author.
func TestServers(t *testing.T) {
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached++
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"gitVersion": "v1.0.0"}`))
	}))
	defer server.Close()
	const file = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: 'SERVER'PROXY}}]\n"
	for name, c := range map[string]struct {
		reason, server, proxy string
		of                    egress.Run
		want                  bool
	}{
		"Own":         {"a directory of one's own", server.URL, "", egress.Run{}, true},
		"OwnProxy":    {"a proxy of one's own", "http://cluster.invalid", ", proxy-url: '" + server.URL + "'", egress.Run{}, true},
		"Remote":      {"a server that others name", server.URL, "", egress.Run{Remote: true}, false},
		"RemoteProxy": {"a proxy that others name", "http://cluster.invalid", ", proxy-url: '" + server.URL + "'", egress.Run{Remote: true}, false},
		"Metadata":    {"the metadata of a cloud", "http://169.254.169.254", "", egress.Run{Shared: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := c.of.Policy()
			if err != nil {
				t.Fatal(err)
			}
			config, err := kubeconfig([]byte(strings.NewReplacer("SERVER", c.server, "PROXY", c.proxy).Replace(file)), policy.Fetches)
			if err != nil {
				t.Fatal(err)
			}
			client, err := discovery.NewDiscoveryClientForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			before := reached
			_, err = client.ServerVersion()
			if (err == nil) != c.want || (reached > before) != c.want || err != nil && !errors.Is(err, egress.ErrRefused) {
				t.Errorf("%s: %v", c.reason, err)
			}
		})
	}
}
