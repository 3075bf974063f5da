package plan

import (
	"net/url"
	"slices"
	"strings"
)

// Registration is what a Secret says by which Argo CD knows a cluster.
type Registration struct {
	// Name and Server are those of the cluster.
	Name, Server string
}

// Of reports whether it is of a virtual cluster, by what someone registers who believes it to run in pods: by the name of its
// namespace, at the address of its Service.
func (r Registration) Of(cluster Name) bool {
	u, err := url.Parse(r.Server)
	if err != nil || u.Scheme != "https" || u.User != nil || r.Name != cluster.Namespace {
		return false
	}
	service := cluster.Name + "." + cluster.Namespace
	return slices.Contains([]string{service, service + ".svc", service + ".svc.cluster.local"}, u.Hostname())
}

// Clashes reports by which key a registration and a Secret that is to be written are of clusters that Argo CD cannot tell apart.
func (r Registration) Clashes(with Secret) (key string, clashes bool) {
	switch {
	case r.Name == string(with.Data["name"]):
		return "name", true
	case strings.TrimSuffix(r.Server, "/") == string(with.Data["server"]):
		return "server", true
	}
	return "", false
}
