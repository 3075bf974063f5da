package access

import "testing"

// FuzzKubeconfig reads kubeconfigs of tenants: no program is run and no file is read for one that is accepted.
func FuzzKubeconfig(f *testing.F) {
	const head = "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
	for _, seed := range []string{
		head + "clusters: [{name: k, cluster: {server: 'https://x'}}]\nusers: [{name: u, user: {token: t}}]\n",
		head + "clusters: [{name: k, cluster: {server: 'https://x', certificate-authority: /etc/passwd}}]\nusers: [{name: u, user: {tokenFile: /token}}]\n",
		head + "clusters: [{name: k, cluster: {server: 'https://x', insecure-skip-tls-verify: true, proxy-url: 'socks5://y'}}]\nusers: [{name: u, user: {exec: {command: sh, apiVersion: client.authentication.k8s.io/v1}}}]\n",
		head + "clusters: [{name: k, cluster: {server: 'https://x'}}]\nusers: [{name: u, user: {auth-provider: {name: gcp, config: {cmd-path: /bin/sh}}, client-key: /key, client-certificate: /cert}}]\n",
		`{"current-context":"c"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := kubeconfig(data, false)
		if err != nil {
			return
		}
		if c.ExecProvider != nil || c.AuthProvider != nil || c.BearerTokenFile != "" || c.CAFile != "" || c.CertFile != "" || c.KeyFile != "" || c.Insecure {
			t.Errorf("%s\nis accepted with %+v", data, c.TLSClientConfig)
		}
	})
}
