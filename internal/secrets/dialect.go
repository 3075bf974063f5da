// Package secrets is the dialect of External Secrets: it serves ExternalSecrets, the stores that they read and generators, as the
// upstream does, and writes the Secrets that they declare.
//
// What becomes of an ExternalSecret is decided by the pure room plan; values are made by the rooms templates and generate, and come from the
// rooms below store. This room refuses to show a value in a status, an event or a log, to keep one after a pass, to read a Secret of another
// namespace for a tenant, and to serve anything unless it is permitted: by a person, or by a boot of which nothing leaves the process. Where a
// simulation makes stand-ins, it leaves those objects to it whose stores are not given.
package secrets

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	generators "github.com/headgate-dev/headgate/api/externalsecrets/generators/v1alpha1"
	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/api/externalsecrets/v1alpha1"
	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/secrets/plan"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// Options say how external secrets are served.
type Options struct {
	// Told is set where a person says that external secrets are served. Without it the kinds are neither defined nor served.
	Told bool
	// Local, when set, is a file of the person who runs the process that has the values of stores.
	Local *Local
}

// Local is a file with the values of stores by their names.
type Local struct {
	Path string
	// Keys open it if it is encrypted.
	Keys *decrypt.Keys
}

// Dialect is the one of external secrets.
type Dialect struct {
	// Options can be set until Serve.
	Options
}

// New returns the dialect.
func New(o Options) *Dialect { return &Dialect{o} }

// Jobs are what external secrets have done in the sandbox.
func Jobs() []sandbox.Job {
	return []sandbox.Job{templateJob{}, textJob(), propertyJob(), pathJob(), renameJob()}
}

// Name is the word for the groups.
func (*Dialect) Name() string { return "external-secrets" }

// Groups are those of generators and of external secrets, with the controllers of the upstream. There are none unless a person says so.
func (d *Dialect) Groups() []dialect.Group {
	if !d.Told {
		return nil
	}
	controllers := []string{"external-secrets"}
	return []dialect.Group{
		{Name: generators.GroupVersion.Group, Controllers: controllers},
		{Name: esv1.GroupVersion.Group, Controllers: controllers},
	}
}

func kindOf(name, resource string, aliases ...string) dialect.Kind {
	return dialect.Kind{
		GroupKind: schema.GroupKind{Group: esv1.GroupVersion.Group, Kind: name}, Version: esv1.GroupVersion.Version, Resource: resource,
		Aliases: append(aliases, resource), Namespace: "default",
	}
}

func externalKind() dialect.Kind {
	return kindOf(esv1.ExternalSecretKind, "externalsecrets", "es", "externalsecret")
}
func storeKind() dialect.Kind { return kindOf(esv1.SecretStoreKind, "secretstores", "secretstore") }
func clusterStoreKind() dialect.Kind {
	k := kindOf(esv1.ClusterSecretStoreKind, "clustersecretstores", "css", "clustersecretstore")
	k.ClusterScoped, k.Namespace = true, ""
	return k
}

func pushKind() dialect.Kind {
	k := kindOf(v1alpha1.PushSecretKind, "pushsecrets", "ps", "pushsecret")
	k.Version = v1alpha1.GroupVersion.Version
	return k
}

func spreadKind() dialect.Kind {
	k := kindOf(esv1.ClusterExternalSecretKind, "clusterexternalsecrets", "ces", "clusterexternalsecret")
	k.ClusterScoped, k.Namespace = true, ""
	return k
}

// Kinds are those that commands know.
func (*Dialect) Kinds() []dialect.Kind {
	return []dialect.Kind{externalKind(), storeKind(), clusterStoreKind(), pushKind(), spreadKind()}
}

// Definitions are those of all kinds, where they are served.
func (d *Dialect) Definitions(serve dialect.Groups) ([]*unstructured.Unstructured, []string, error) {
	if !d.Told || !serve.Serves(esv1.GroupVersion.Group) {
		return nil, nil, nil
	}
	all, err := deploy.ExternalSecretsCRDs()
	return all, nil, err
}

// Upstream is how the controller of External Secrets is known.
func (*Dialect) Upstream() dialect.Upstream {
	return dialect.Upstream{Name: "external-secrets", Title: "External Secrets", PartOf: "external-secrets", Kinds: []string{"Deployment"}, Renamed: true}
}

// Serve puts together what serves external secrets.
func (d *Dialect) Serve(_ context.Context, host *dialect.Host) (dialect.Part, error) {
	return newPart(host, d.Options)
}

// Request is the change that requests a refresh.
func (*Dialect) Request(token string, _ dialect.RequestOptions) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{plan.AnnotationForce: token}}}
}

// Handled reports whether a request was answered: by a refresh, or by an error since. What is simulated needs no answer.
func (*Dialect) Handled(u *unstructured.Unstructured, token string) bool {
	if u.GetKind() != esv1.ExternalSecretKind {
		return true
	}
	es, err := read(u)
	if err != nil {
		return true
	}
	if plan.Version(es) == es.Status.SyncedResourceVersion || es.Labels[simulate.Label] != "" {
		return true
	}
	requested, err := time.Parse(time.RFC3339Nano, token)
	at, ok := failedAt(es)
	return err == nil && ok && !at.Before(requested.Truncate(time.Second))
}

// Forces reports whether nothing is forced or reset beyond that.
func (*Dialect) Forces(schema.GroupKind) bool { return false }

// State is how an object stands: its Ready condition is about the object as it is if that was refreshed.
func (*Dialect) State(u *unstructured.Unstructured) dialect.State {
	s := dialect.Conventional(u)
	s.Current = s.Said
	return s
}

var (
	_ dialect.Dialect    = (*Dialect)(nil)
	_ dialect.Upstreamed = (*Dialect)(nil)
	_ dialect.Requested  = (*Dialect)(nil)
	_ dialect.Stating    = (*Dialect)(nil)
)
