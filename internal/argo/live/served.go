package live

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// ServerVersion asks a cluster for its version, for charts; empty when it does not answer.
func ServerVersion(kube kubernetes.Interface) string {
	v, err := kube.Discovery().ServerVersion()
	if err != nil {
		return ""
	}
	return v.GitVersion
}

// Served is what a cluster serves, for charts. It is safe for concurrent use.
type Served struct {
	kinds *cluster.Kinds

	mu sync.Mutex
	// versions are those of a revision of the kinds.
	revision uint64
	versions []string
}

// NewServed returns what is served of the kinds of a cluster.
func NewServed(kinds *cluster.Kinds) *Served { return &Served{kinds: kinds} }

// Versions are the API versions, each alone and with each of its kinds.
func (s *Served) Versions() []string {
	revision := s.kinds.Revision()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.versions == nil || s.revision != revision {
		s.revision, s.versions = revision, s.list()
	}
	return s.versions
}

func (s *Served) list() []string {
	seen := map[string]bool{}
	// A kind that is about to be served counts: a chart is not rendered again when it comes.
	for _, gvk := range s.kinds.Announced() {
		version := gvk.GroupVersion().String()
		seen[version], seen[version+"/"+gvk.Kind] = true, true
	}
	return slices.Sorted(maps.Keys(seen))
}

// UnknownKind says, in the upstream's words, that a cluster does not serve the kind of an object, and what it
// serves instead: another version of the kind, or a kind of that name in another group. One that came in the meantime is neither: the next attempt learns
// whether its objects have a namespace.
func UnknownKind(kinds *cluster.Kinds, id engine.ObjectID, version string) string {
	at := id.Namespace + "/" + id.Name
	if _, came := kinds.Lookup(id.GroupKind().WithVersion(version)); came {
		return fmt.Sprintf("The Kubernetes API could not find %s/%s for requested resource %s. It has been installed since, and the next attempt finds it.", id.Group, id.Kind, at)
	}
	other, served := servedInstead(kinds, id.GroupKind())
	if !served {
		return fmt.Sprintf("The Kubernetes API could not find %s/%s for requested resource %s. Make sure the %q CRD is installed on the destination cluster.",
			id.Group, id.Kind, at, id.Kind)
	}
	return fmt.Sprintf("The Kubernetes API could not find version %q of %s/%s for requested resource %s. Version %q of %s/%s is installed on the destination cluster.",
		version, id.Group, id.Kind, at, other.Version, other.Group, other.Kind)
}

// servedInstead is what a cluster serves of a kind, or of one that has its name in the first group that has one.
func servedInstead(kinds *cluster.Kinds, gk schema.GroupKind) (schema.GroupVersionKind, bool) {
	if r, ok := kinds.Lookup(gk.WithVersion("")); ok {
		return gk.WithVersion(r.Version), true
	}
	var found []schema.GroupVersionKind
	for other, r := range kinds.All() {
		if other.Kind == gk.Kind {
			found = append(found, other.WithVersion(r.Version))
		}
	}
	if len(found) == 0 {
		return schema.GroupVersionKind{}, false
	}
	return slices.MinFunc(found, func(a, b schema.GroupVersionKind) int { return cmp.Compare(a.Group, b.Group) }), true
}
