package policy

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/redaction"
)

// Object is what a project judges an object by.
type Object struct {
	Group, Kind, Namespace, Name string
	// Namespaced is true for a kind whose objects are in namespaces.
	Namespaced bool
}

// sourcePattern reads a pattern of repositories: addresses are made alike, and a star stops at a slash.
func sourcePattern(text string) (pattern, error) {
	rest, denies := strings.CutPrefix(text, denial)
	normal := settings.NormalURL(rest)
	if normal == "" {
		normal = rest
	}
	if denies {
		normal = denial + normal
	}
	return newPattern(normal, '/')
}

// PermitsSource is an error unless a pattern of spec.sourceRepos lets a repository through and none denies it. A
// pattern with "!" lets through what it does not deny.
func (p *Project) PermitsSource(address string) error {
	return p.permitsSource(address, "application repo")
}

func (p *Project) permitsSource(address, what string) error {
	normal := settings.NormalURL(address)
	if permitted(p.sources, normal) && !denied(p.sources, withoutUser(normal)) {
		return nil
	}
	return fmt.Errorf("%s %s is not permitted in project '%s'", what, redaction.Text(address), p.Name)
}

// withoutUser is an address without what is before its host: a login in it makes it no other repository, for a denial.
func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	u.User = nil
	return u.String()
}

// destination is an item of spec.destinations.
type destination struct {
	server, name, namespace pattern
}

func newDestination(d v1alpha1.ApplicationDestination) (destination, error) {
	server, ofServer := newPattern(d.Server)
	name, ofName := newPattern(d.Name)
	namespace, ofNamespace := newPattern(d.Namespace)
	return destination{server: server, name: name, namespace: namespace}, errors.Join(ofServer, ofName, ofNamespace)
}

// verdict says whether the item permits a place, and whether it forbids it.
func (d destination) verdict(cluster settings.Cluster, namespace string) (permits, forbids bool) {
	server := cluster.Server != "" && d.server.matches(cluster.Server)
	name := cluster.Name != "" && d.name.matches(cluster.Name)
	within := d.namespace.matches(namespace)
	switch {
	case (server || name) && within:
		return true, false
	case !name && d.name.denies, !server && d.server.denies && within:
		return false, true
	}
	// A namespace that is denied is so in the clusters of the item, by whatever they are named.
	return false, !within && d.namespace.denies && (server || name)
}

// PermitsDestination is an error unless an item of spec.destinations permits the namespace of the cluster and none
// forbids it, and unless the cluster is the project's own where only those are permitted.
func (p *Project) PermitsDestination(cluster settings.Cluster, namespace string) error {
	return p.permitsDestination(cluster, namespace, cluster.Server)
}

// permitsDestination names the cluster as the destination does.
func (p *Project) permitsDestination(cluster settings.Cluster, namespace, shown string) error {
	permitted := false
	for _, d := range p.destinations {
		permits, forbids := d.verdict(cluster, namespace)
		if forbids {
			permitted = false
			break
		}
		permitted = permitted || permits
	}
	if permitted && p.Spec.PermitOnlyProjectScopedClusters {
		permitted = cluster.Project == p.Name
	}
	if permitted {
		return nil
	}
	return fmt.Errorf("application destination server '%s' and namespace '%s' do not match any of the allowed destinations in project '%s'",
		shown, namespace, p.Name)
}

// PermitsKind returns an error if the project does not permit objects of a kind. Of cluster-scoped kinds those are
// permitted that spec.clusterResourceWhitelist lists; of kinds in namespaces all are, unless
// spec.namespaceResourceWhitelist is there. What is in a blacklist never is.
func (p *Project) PermitsKind(o Object) error {
	s := p.Spec
	var permitted bool
	if o.Namespaced {
		permitted = (s.NamespaceResourceWhitelist == nil || p.Lists(o)) && p.Bars(o) == nil
	} else {
		permitted = anyKind(named(s.ClusterResourceWhitelist), o) && !anyKind(named(s.ClusterResourceBlacklist), o)
	}
	if permitted {
		return nil
	}
	return p.refuses(o)
}

// Lists reports whether spec.namespaceResourceWhitelist lists the kind of an object in a namespace.
func (p *Project) Lists(o Object) bool { return anyKind(kinds(p.Spec.NamespaceResourceWhitelist), o) }

// Bars returns an error if spec.namespaceResourceBlacklist lists the kind of an object in a namespace.
func (p *Project) Bars(o Object) error {
	if anyKind(kinds(p.Spec.NamespaceResourceBlacklist), o) {
		return p.refuses(o)
	}
	return nil
}

func (p *Project) refuses(o Object) error {
	return &kindError{fmt.Sprintf("resource %s:%s is not permitted in project %s", o.Group, o.Kind, p.Name)}
}

// ErrKind is what an error is that says that a project does not permit objects of a kind, wherever they are.
var ErrKind = errors.New("the kind is not permitted")

type kindError struct{ text string }

func (e *kindError) Error() string        { return e.text }
func (e *kindError) Is(target error) bool { return target == ErrKind }

// PermitsObject is an error where the project does not permit an object of a cluster: by its kind, or by its namespace.
// What is not permitted is neither applied nor deleted, and counts as not there.
func (p *Project) PermitsObject(cluster settings.Cluster, o Object) error {
	if err := p.PermitsKind(o); err != nil {
		return err
	}
	if o.Namespaced && p.PermitsDestination(cluster, o.Namespace) != nil {
		return fmt.Errorf("namespace %s is not permitted in project '%s'", o.Namespace, p.Name)
	}
	return nil
}
