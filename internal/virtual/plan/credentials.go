package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// The Secrets of a virtual cluster, by the names that scripts know.
const (
	// secretPrefix begins the name of the Secret with the credentials, before that of the release.
	secretPrefix = "vc-"
	// clusterPrefix begins the name of the Secret by which Argo CD knows the cluster.
	clusterPrefix = "cluster-"
	// secretTypeLabel and clusterType mark that Secret.
	secretTypeLabel = "argocd.argoproj.io/secret-type"
	clusterType     = "cluster"
)

// Credentials are how an administrator reaches a virtual cluster.
type Credentials struct {
	// Server is its address, with https.
	Server string
	// Kubeconfig is a whole kubeconfig.
	Kubeconfig []byte
	// CA, Certificate and Key are in the form of PEM.
	CA, Certificate, Key []byte
	// Token is a bearer token, or "".
	Token string
}

// Secret is a Secret as it is to be.
type Secret struct {
	Name   string
	Labels map[string]string
	Data   map[string][]byte
}

// Access is the Secret that the vcluster of a release leaves in its namespace: config, certificate-authority, client-certificate,
// client-key and token.
func Access(release string, c Credentials) Secret {
	return Secret{Name: secretPrefix + release, Data: map[string][]byte{
		"config": c.Kubeconfig, "certificate-authority": c.CA, "client-certificate": c.Certificate, "client-key": c.Key, "token": []byte(c.Token),
	}}
}

// cluster is the config of a cluster as Argo CD reads it. Bytes are base64 there.
type cluster struct {
	BearerToken string `json:"bearerToken,omitempty"`
	TLS         tls    `json:"tlsClientConfig"`
}

// tls is how the server is verified and the client is known.
type tls struct {
	Insecure    bool   `json:"insecure"`
	CA          []byte `json:"caData,omitempty"`
	Certificate []byte `json:"certData,omitempty"`
	Key         []byte `json:"keyData,omitempty"`
}

// Registered is the Secret by which Argo CD knows a virtual cluster under a name, with labels for the cluster generator. A server
// whose certificate cannot be verified is refused, and so are credentials without a client.
func Registered(name string, labels map[string]string, c Credentials) (Secret, error) {
	switch {
	case !strings.HasPrefix(c.Server, "https://"):
		return Secret{}, fmt.Errorf("virtual cluster %q: its address is not one of https", name)
	case len(c.CA) == 0:
		return Secret{}, fmt.Errorf("virtual cluster %q: no certificate authority to verify it with", name)
	case c.Token == "" && (len(c.Certificate) == 0 || len(c.Key) == 0):
		return Secret{}, fmt.Errorf("virtual cluster %q: neither a client certificate with its key nor a token", name)
	}
	config, err := json.Marshal(cluster{BearerToken: c.Token, TLS: tls{CA: c.CA, Certificate: c.Certificate, Key: c.Key}})
	if err != nil {
		// The error of JSON would have values.
		return Secret{}, errors.New("the config of a cluster cannot be written as JSON")
	}
	all := maps.Clone(labels)
	if all == nil {
		all = map[string]string{}
	}
	all[secretTypeLabel] = clusterType
	return Secret{Name: clusterPrefix + name, Labels: all, Data: map[string][]byte{
		"name": []byte(name), "server": []byte(strings.TrimSuffix(c.Server, "/")), "config": config,
	}}, nil
}
