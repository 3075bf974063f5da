package secrets

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	generators "github.com/headgate-dev/headgate/api/externalsecrets/generators/v1alpha1"
	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/api/externalsecrets/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/secrets/plan"
	"github.com/headgate-dev/headgate/internal/secrets/store/fake"
	"github.com/headgate-dev/headgate/internal/secrets/store/file"
)

// Timeout bounds one request to a store.
const Timeout = 30 * time.Second

const (
	// atOnce bounds the passes that are made at a time.
	atOnce = 8
	// manager is the field manager of statuses.
	manager = "headgate"
	// component names what events are from.
	component = "external-secrets"
)

// part is the dialect as it is served in one cluster.
type part struct {
	*dialect.Host
	options Options
	// http is how stores are reached.
	http      *http.Client
	client    kubernetes.Interface
	events    *declared.Events
	externals *declared.Registry[esv1.ExternalSecret, *esv1.ExternalSecret]
	stores    *declared.Registry[esv1.SecretStore, *esv1.SecretStore]
	clusterly *declared.Registry[esv1.ClusterSecretStore, *esv1.ClusterSecretStore]
	pushes    *declared.Registry[v1alpha1.PushSecret, *v1alpha1.PushSecret]
	spreads   *declared.Registry[esv1.ClusterExternalSecret, *esv1.ClusterExternalSecret]
	passwords *declared.Registry[generators.Password, *generators.Password]
	uuids     *declared.Registry[generators.UUID, *generators.UUID]
	webhooks  *declared.Registry[generators.Webhook, *generators.Webhook]
	githubs   *declared.Registry[generators.GithubAccessToken, *generators.GithubAccessToken]
	anywhere  *declared.Registry[generators.ClusterGenerator, *generators.ClusterGenerator]
	loop      *rounds.Loop[engine.UnitID]
	// pushed is what was written to stores that are in memory.
	pushed *fake.Pushed

	mu sync.Mutex
	// uses are the objects that a pass read, by whom; inputs are the versions of those that the last refresh read.
	uses   map[engine.UnitID]map[engine.UnitID]bool
	inputs map[engine.UnitID]string
	// locals are stores of the local file, given are those that have answered, watched are those whose changes are followed.
	locals  map[string]*file.Client
	given   map[engine.UnitID]bool
	watched map[engine.UnitID]watched
	ctx     context.Context
}

func newPart(host *dialect.Host, o Options) (*part, error) {
	client, err := kubernetes.NewForConfig(host.Config)
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	kind := func(group, name string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: name} }
	g := generators.GroupVersion.Group
	p := &part{
		Host: host, options: o, client: client, pushed: &fake.Pushed{}, http: host.Egress.Requests.Client(Timeout),
		externals: declared.NewRegistry[esv1.ExternalSecret](externalKind().GroupKind),
		stores:    declared.NewRegistry[esv1.SecretStore](storeKind().GroupKind),
		clusterly: declared.NewRegistry[esv1.ClusterSecretStore](clusterStoreKind().GroupKind),
		pushes:    declared.NewRegistry[v1alpha1.PushSecret](pushKind().GroupKind),
		spreads:   declared.NewRegistry[esv1.ClusterExternalSecret](spreadKind().GroupKind),
		passwords: declared.NewRegistry[generators.Password](kind(g, generators.PasswordKind)),
		uuids:     declared.NewRegistry[generators.UUID](kind(g, generators.UUIDKind)),
		webhooks:  declared.NewRegistry[generators.Webhook](kind(g, generators.WebhookKind)),
		githubs:   declared.NewRegistry[generators.GithubAccessToken](kind(g, generators.GithubAccessTokenKind)),
		anywhere:  declared.NewRegistry[generators.ClusterGenerator](kind(g, generators.ClusterGeneratorKind)),
		uses:      map[engine.UnitID]map[engine.UnitID]bool{}, inputs: map[engine.UnitID]string{},
		locals: map[string]*file.Client{}, given: map[engine.UnitID]bool{}, watched: map[engine.UnitID]watched{},
	}
	if o.Told {
		p.events = declared.NewEvents(client, nil)
	}
	p.loop = rounds.New(p, rounds.Options{
		Slots: rounds.NewSlots(atOnce), Backoff: rounds.Backoff{Min: time.Second, Max: 5 * time.Minute}, Log: host.Log, Guard: host.Guard,
	})
	return p, nil
}

// Joins brings nothing to the runner: external secrets are no units of delivery.
func (*part) Joins() runner.Part { return runner.Part{} }

// Nudge has nothing to fetch.
func (*part) Nudge(func(url string) bool) {}

// Share has namespaces share the passes that are made at a time.
func (*part) Share(id engine.UnitID) string { return id.Namespace }

// Wait waits until every pass has ended.
func (p *part) Wait() {
	if !p.options.Told {
		return
	}
	p.loop.Wait()
	p.events.Stop()
}

// Start watches everything that a refresh reads, stores and generators before what names them.
func (p *part) Start(ctx context.Context) error {
	if !p.options.Told {
		return nil
	}
	p.mu.Lock()
	p.ctx = ctx
	p.mu.Unlock()
	v1, g := esv1.GroupVersion, generators.GroupVersion
	for _, one := range []struct {
		resource schema.GroupVersionResource
		selector string
		to       cluster.Sink
	}{
		{g.WithResource("passwords"), "", sink(p, p.passwords, generators.PasswordKind)},
		{g.WithResource("uuids"), "", sink(p, p.uuids, generators.UUIDKind)},
		{g.WithResource("webhooks"), "", sink(p, p.webhooks, generators.WebhookKind)},
		{g.WithResource("githubaccesstokens"), "", sink(p, p.githubs, generators.GithubAccessTokenKind)},
		{g.WithResource("clustergenerators"), "", sink(p, p.anywhere, generators.ClusterGeneratorKind)},
		{v1.WithResource("secretstores"), "", sink(p, p.stores, esv1.SecretStoreKind)},
		{v1.WithResource("clustersecretstores"), "", sink(p, p.clusterly, esv1.ClusterSecretStoreKind)},
		{v1.WithResource("clusterexternalsecrets"), p.Selector, sink(p, p.spreads, esv1.ClusterExternalSecretKind)},
		{v1alpha1.GroupVersion.WithResource("pushsecrets"), p.Selector, sink(p, p.pushes, v1alpha1.PushSecretKind)},
		{v1.WithResource("externalsecrets"), p.Selector, sink(p, p.externals, esv1.ExternalSecretKind)},
	} {
		if err := p.Home.Watch(ctx, one.resource, one.selector, one.to); err != nil {
			return fmt.Errorf("watching %s: %w", one.resource.Resource, err)
		}
	}
	if err := p.follow(ctx); err != nil {
		return err
	}
	p.loop.Start(ctx)
	return nil
}

// sink enters objects of a kind, and wakes what reads them and they themselves.
func sink[T any, P declared.Object[T]](p *part, to *declared.Registry[T, P], kind string) cluster.Sink {
	return cluster.Sink{
		Put: func(u *unstructured.Unstructured) {
			id := idOf(kind, u)
			before, had := to.Get(id)
			after, err := to.Put(u)
			if err != nil {
				p.Problem(kind+" "+u.GetNamespace()+"/"+u.GetName(), err.Error())
				return
			}
			if had && before.GetUID() == after.GetUID() && plan.Version(before) == plan.Version(after) && after.GetDeletionTimestamp() == nil {
				return
			}
			if kind == esv1.ExternalSecretKind && after.GetDeletionTimestamp() != nil {
				// Nothing more comes of a refresh.
				p.loop.Forget(id)
			}
			p.loop.Wake(id)
			p.wakeUsers(id)
		},
		Dropped: func(u *unstructured.Unstructured) {
			id := idOf(kind, u)
			to.Drop(id)
			p.loop.Forget(id)
			p.forget(id)
			p.unwatch(id)
			p.wakeUsers(id)
		},
	}
}

func idOf(kind string, o metav1.Object) engine.UnitID {
	group := esv1.GroupVersion.Group
	switch kind {
	case generators.PasswordKind, generators.UUIDKind, generators.WebhookKind, generators.GithubAccessTokenKind, generators.ClusterGeneratorKind:
		group = generators.GroupVersion.Group
	case secretKind, configMapKind:
		group = ""
	}
	return engine.UnitID{Group: group, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

const (
	secretKind    = "Secret"
	configMapKind = "ConfigMap"
)

// anyOf is what a pass reads that selects objects of a namespace.
func anyOf(kind, namespace string) engine.UnitID {
	return engine.UnitID{Kind: kind, Namespace: namespace}
}

// follow wakes what reads or writes a Secret or reads a ConfigMap when that changes. Only metadata are watched.
func (p *part) follow(ctx context.Context) error {
	client, err := metadata.NewForConfig(p.Config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	for kind, resource := range map[string]string{secretKind: "secrets", configMapKind: "configmaps", everyNamespace.Kind: "namespaces"} {
		informer := metadatainformer.NewFilteredMetadataInformer(client, schema.GroupVersionResource{Version: "v1", Resource: resource}, metav1.NamespaceAll, 0, cache.Indexers{}, nil).Informer()
		wake := func(o any) {
			if gone, is := o.(cache.DeletedFinalStateUnknown); is {
				o = gone.Obj
			}
			switch object, is := o.(metav1.Object); {
			case is && kind == everyNamespace.Kind:
				p.wakeUsers(everyNamespace)
			case is:
				p.wakeUsers(idOf(kind, object))
				p.wakeUsers(anyOf(kind, object.GetNamespace()))
			}
		}
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: wake, UpdateFunc: func(_, o any) { wake(o) }, DeleteFunc: wake}); err != nil {
			return fmt.Errorf("watching %s: %w", resource, err)
		}
		p.Guard.Go("watch of "+resource, func() { informer.Run(ctx.Done()) })
	}
	return nil
}

func (p *part) writer(kind dialect.Kind) declared.Writer {
	return declared.Writer{Client: p.Home.Dynamic.Resource(kind.GroupVersionResource()), Manager: manager}
}

// emit tells people what became of an object.
func (p *part) emit(o metav1.Object, gvk schema.GroupVersionKind, kind, reason, message string) {
	ref := &corev1.ObjectReference{
		APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
	}
	p.events.Emit(o, ref, declared.Event{Component: component, Type: kind, Reason: reason, Message: message})
}

// use notes that a pass reads an object, so that a change of that wakes it.
func (p *part) use(by, of engine.UnitID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.uses[of] == nil {
		p.uses[of] = map[engine.UnitID]bool{}
	}
	p.uses[of][by] = true
}

func (p *part) wakeUsers(of engine.UnitID) {
	p.mu.Lock()
	users := make([]engine.UnitID, 0, len(p.uses[of]))
	for by := range p.uses[of] {
		users = append(users, by)
	}
	p.mu.Unlock()
	for _, by := range users {
		p.loop.Wake(by)
	}
}

// forget drops what is known of an object that is gone.
func (p *part) forget(by engine.UnitID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.inputs, by)
	delete(p.given, by)
	for of, users := range p.uses {
		if delete(users, by); len(users) == 0 {
			delete(p.uses, of)
		}
	}
}

var (
	_ dialect.Part               = (*part)(nil)
	_ dialect.Yielding           = (*part)(nil)
	_ rounds.Work[engine.UnitID] = (*part)(nil)
)
