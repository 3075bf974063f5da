package access

import (
	"strings"
	"testing"
)

func TestKubeconfigRefersToNothingOutside(t *testing.T) {
	const file = `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://k.example"CLUSTER}}]
users: [{name: u, user: {USER}}]
`
	cases := map[string]struct{ reason, cluster, user, want string }{
		"token":        {"a token is all it takes", "", "token: t", ""},
		"certificates": {"so are certificates", ", certificate-authority-data: eA==", "client-certificate-data: eA==, client-key-data: eA==", ""},
		"ca file":      {"a file would be the engine's", ", certificate-authority: /etc/ca", "token: t", "certificate-authority names a file"},
		"cert file":    {"a file would be the engine's", "", "client-certificate: /c", "client-certificate names a file"},
		"key file":     {"a file would be the engine's", "", "client-certificate-data: eA==, client-key: /k", "client-key names a file"},
		"token file":   {"a file would be the engine's", "", "tokenFile: /var/run/secrets/token", "tokenFile names a file"},
		"program":      {"a program would run as the engine", "", "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never}", "exec runs a program"},
		"plugin":       {"plugins are gone", "", "auth-provider: {name: gcp}", "auth-provider is not supported"},
		"no TLS check": {"nobody would know who answers", ", insecure-skip-tls-verify: true", "token: t", "insecure-skip-tls-verify is not allowed"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("CLUSTER", c.cluster, "USER", c.user).Replace(file)
			config, err := kubeconfig([]byte(text), false)
			switch {
			case c.want == "" && (err != nil || config.Host != "https://k.example"):
				t.Errorf("%s: got %v, error %v", c.reason, config, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: error %v, want %q", c.reason, err, c.want)
			}
		})
	}
	for name, text := range map[string]string{
		"no YAML": "a: b: c", "no context": "apiVersion: v1\nkind: Config\n", "empty": "",
		"no cluster": "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n",
	} {
		if _, err := kubeconfig([]byte(text), false); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := kubeconfig([]byte(strings.NewReplacer("CLUSTER", ", insecure-skip-tls-verify: true", "USER", "token: t").Replace(file)), true); err != nil {
		t.Errorf("what the operator permits is refused: %v", err)
	}
}
