package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The cluster of the installation, which is there without being declared.
const (
	InClusterServer = "https://kubernetes.default.svc"
	InClusterName   = "in-cluster"
)

// Cluster is a destination.
type Cluster struct {
	// Secret is its name. It is empty for the cluster of the installation if it was not declared.
	Secret string
	Name   string
	// Server is the URL of the API server.
	Server string
	// Project is the AppProject that the cluster is for, any by default.
	Project string
	// Namespaces are the only ones that are watched; then ClusterResources permits cluster-scoped kinds.
	Namespaces       []string
	ClusterResources bool
	Shard            *int64
	Connection       Connection
	// Labels and Annotations are those of the Secret, for generators, but for what kubectl keeps of its content.
	Labels, Annotations map[string]string
	// Unserved are fields of the configuration that are not supported: they cannot be used to log in.
	Unserved []string
}

// Connection is how a cluster is reached.
type Connection struct {
	Username, Password, BearerToken Secret
	// Insecure does not verify the certificate, ServerName is the name in it.
	Insecure     bool
	ServerName   string
	Authorities  []byte
	Certificate  []byte
	Key          Secret
	Proxy        Secret
	Uncompressed bool
}

// configuration is the document in the Secret of a cluster.
type configuration struct {
	Username        string `json:"username"`
	Password        string `json:"password"`
	BearerToken     string `json:"bearerToken"`
	TLSClientConfig struct {
		Insecure   bool   `json:"insecure"`
		ServerName string `json:"serverName"`
		CAData     []byte `json:"caData"`
		CertData   []byte `json:"certData"`
		KeyData    []byte `json:"keyData"`
	} `json:"tlsClientConfig"`
	AWSAuthConfig      json.RawMessage `json:"awsAuthConfig"`
	ExecProviderConfig json.RawMessage `json:"execProviderConfig"`
	ProxyURL           string          `json:"proxyUrl"`
	DisableCompression bool            `json:"disableCompression"`
}

func (r *reader) cluster(secret *corev1.Secret) {
	c := Cluster{Secret: secret.Name, Labels: maps.Clone(secret.Labels), Annotations: maps.Clone(secret.Annotations)}
	delete(c.Annotations, corev1.LastAppliedConfigAnnotation)
	r.text("server", &c.Server)
	if c.Server == "" {
		r.bad("server", "is missing")
		return
	}
	c.Server = strings.TrimRight(c.Server, "/")
	r.text("name", &c.Name)
	if c.Name == "" {
		c.Name = c.Server
	}
	r.text("project", &c.Project)
	r.list("namespaces", &c.Namespaces)
	r.flag("clusterResources", &c.ClusterResources)
	var shard int64
	if r.number("shard", &shard) {
		c.Shard = &shard
	}
	if !r.connection(&c) {
		return
	}
	r.unknown()
	r.settings.Clusters = append(r.settings.Clusters, c)
}

// connection reads the document, of which no error quotes anything: passwords and tokens are in it.
func (r *reader) connection(c *Cluster) bool {
	const key = "config"
	text, ok := r.take(key)
	if !ok {
		return true
	}
	var said configuration
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		r.bad(key, whereNot(err))
		return false
	}
	tls := said.TLSClientConfig
	c.Connection = Connection{
		Username: NewSecret(said.Username), Password: NewSecret(said.Password), BearerToken: NewSecret(said.BearerToken),
		Insecure: tls.Insecure, ServerName: tls.ServerName, Authorities: tls.CAData, Certificate: tls.CertData, Key: NewSecret(string(tls.KeyData)),
		Proxy: NewSecret(said.ProxyURL), Uncompressed: said.DisableCompression,
	}
	for field, value := range map[string]json.RawMessage{"awsAuthConfig": said.AWSAuthConfig, "execProviderConfig": said.ExecProviderConfig} {
		if len(value) > 0 && string(value) != "null" {
			c.Unserved = append(c.Unserved, field)
		}
	}
	slices.Sort(c.Unserved)
	for _, field := range c.Unserved {
		r.settings.Unserved = append(r.settings.Unserved, Unserved{r.object, key + "." + field, ConcernEngine})
	}
	return true
}

// whereNot says where a document of JSON is bad, without a word of it.
func whereNot(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("is not JSON from byte %d on", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Sprintf("has a field %q that is not a %s", kind.Field, kind.Type)
	}
	return "is not a JSON configuration; caData, certData and keyData must be base64"
}

// UnknownClusterError reports whether no cluster has a name.
type UnknownClusterError struct{ Name string }

// Error names it.
func (e *UnknownClusterError) Error() string {
	return fmt.Sprintf("there is no cluster named %q", e.Name)
}

// Destination finds a cluster by the URL of its server or by its name, one of which has to be given.
func (s Settings) Destination(server, name string) (Cluster, error) {
	var matches func(Cluster) bool
	switch server = strings.TrimRight(server, "/"); {
	case server != "" && name != "":
		return Cluster{}, fmt.Errorf("the destination sets both server %q and name %q; remove one", server, name)
	case server != "":
		matches = func(c Cluster) bool { return c.Server == server }
	case name != "":
		matches = func(c Cluster) bool { return c.Name == name }
	default:
		return Cluster{}, errors.New("the destination sets neither server nor name")
	}
	var found []Cluster
	for _, c := range s.everyCluster() {
		if matches(c) {
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 0 && server == InClusterServer:
		return Cluster{}, fmt.Errorf("cluster %q is disabled", server)
	case len(found) == 0 && server != "":
		return Cluster{}, fmt.Errorf("cluster %q not found", server)
	case len(found) == 0:
		return Cluster{}, &UnknownClusterError{Name: name}
	case len(found) > 1 && name != "":
		return Cluster{}, fmt.Errorf("there are %d clusters named %q", len(found), name)
	}
	return found[0], nil
}

// Every are the clusters that are declared, and that of the installation unless it is switched off.
func (s Settings) Every() []Cluster { return s.everyCluster() }

// everyCluster are the clusters that are declared, and that of the installation unless it is switched off.
func (s Settings) everyCluster() []Cluster {
	own := func(c Cluster) bool { return c.Server == InClusterServer }
	if !s.InCluster {
		return slices.DeleteFunc(slices.Clone(s.Clusters), own)
	}
	if slices.ContainsFunc(s.Clusters, own) {
		return s.Clusters
	}
	return append(slices.Clone(s.Clusters), Cluster{Name: InClusterName, Server: InClusterServer})
}
