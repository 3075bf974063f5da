package destination_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/argo/destination"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

func TestConfig(t *testing.T) {
	c := settings.Cluster{Secret: "one", Name: "one", Server: "https://one.example.com", Connection: settings.Connection{
		Username: settings.NewSecret("user"), Password: settings.NewSecret("word"), BearerToken: settings.NewSecret("token"), ServerName: "name",
		Authorities: []byte("ca"), Certificate: []byte("cert"), Key: settings.NewSecret("key"), Proxy: settings.NewSecret("http://proxy.example.com"), Uncompressed: true,
	}}
	config, err := destination.Config(c)
	if err != nil {
		t.Fatal(err)
	}
	tls := config.TLSClientConfig
	got := []string{config.Host, config.Username, config.Password, config.BearerToken, tls.ServerName, string(tls.CAData), string(tls.CertData), string(tls.KeyData)}
	if want := "https://one.example.com user word token name ca cert key"; strings.Join(got, " ") != want || tls.Insecure || !config.DisableCompression {
		t.Errorf("got %v, insecure %v, uncompressed %v; want %s", got, tls.Insecure, config.DisableCompression, want)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.Server, nil)
	if err != nil {
		t.Fatal(err)
	}
	if proxy, err := config.Proxy(request); err != nil || proxy.String() != "http://proxy.example.com" {
		t.Errorf("the proxy is %v: %v", proxy, err)
	}

	// A client takes authorities, or none: it refuses both.
	c.Connection.Insecure = true
	if config, err = destination.Config(c); err != nil || !config.Insecure || config.CAData != nil {
		t.Errorf("got authorities %q beside insecure %v: %v", config.CAData, config.Insecure, err)
	}
}

func TestConfigRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		cluster settings.Cluster
		want    string
	}{
		"Program": {settings.Cluster{Secret: "one", Unserved: []string{"execProviderConfig"}}, "Secret one: config.execProviderConfig: not supported"},
		"Proxy":   {settings.Cluster{Secret: "two", Connection: settings.Connection{Proxy: settings.NewSecret("http://user:hunter2@[")}}, "Secret two: config.proxyUrl is not a URL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := destination.Config(tc.cluster)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
