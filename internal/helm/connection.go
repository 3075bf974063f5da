package helm

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/validation"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

const (
	// capabilitiesAge bounds how old the kinds and versions are that a chart is shown.
	capabilitiesAge = 10 * time.Second
	// storageTimeout bounds one request to the storage of releases.
	storageTimeout = 30 * time.Second
)

// connection is what the actions of one account in one cluster share, so that many releases do not
// ask for the same discovery.
type connection struct {
	config    *rest.Config
	storage   kubernetes.Interface
	dynamic   dynamic.Interface
	mapper    meta.RESTMapper
	discovery discovery.CachedDiscoveryInterface

	mu     sync.Mutex
	ledger *ledger
	closed bool
	caps   *common.Capabilities
	capsAt time.Time
}

// connect asks the cluster nothing yet.
func connect(given *rest.Config) (*connection, error) {
	config, err := plain(given)
	if err != nil {
		return nil, err
	}
	c := &connection{config: config}
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	if c.mapper, err = apiutil.NewDynamicRESTMapper(config, web); err != nil {
		return nil, err
	}
	asking, err := discovery.NewDiscoveryClientForConfigAndClient(config, web)
	if err != nil {
		return nil, err
	}
	c.discovery = memory.NewMemCacheClient(asking)
	if c.dynamic, err = dynamic.NewForConfigAndClient(config, web); err != nil {
		return nil, err
	}
	bounded := rest.CopyConfig(config)
	bounded.Timeout = storageTimeout
	c.storage, err = kubernetes.NewForConfig(bounded)
	return c, err
}

// plain is a configuration whose one transport does all that the given one says: TLS, login,
// impersonation. Clients made from copies of it share connections.
func plain(given *rest.Config) (*rest.Config, error) {
	given = rest.CopyConfig(given)
	transport, err := rest.TransportFor(given)
	if err != nil {
		return nil, err
	}
	url, _, err := rest.DefaultServerUrlFor(given)
	if err != nil {
		return nil, err
	}
	return &rest.Config{Host: url.String(), Transport: transport, UserAgent: given.UserAgent, QPS: -1, Burst: -1}, nil
}

// capabilities are what the cluster serves, as charts see it.
func (c *connection) capabilities() (*common.Capabilities, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.caps != nil && time.Since(c.capsAt) < capabilitiesAge {
		return c.caps, nil
	}
	c.discovery.Invalidate()
	version, err := c.discovery.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("getting the version of the cluster: %w", err)
	}
	apis, err := action.GetVersionSet(c.discovery)
	if err != nil {
		return nil, fmt.Errorf("discovering the kinds of the cluster: %w", err)
	}
	c.caps = &common.Capabilities{
		APIVersions: apis, HelmVersion: common.DefaultCapabilities.HelmVersion,
		KubeVersion: common.KubeVersion{Version: version.GitVersion, Major: version.Major, Minor: version.Minor},
	}
	c.capsAt = time.Now()
	return c.caps, nil
}

// mark is what the ledger has of a release. The first question opens it.
func (c *connection) mark(namespace, name string) (string, bool) {
	c.mu.Lock()
	if c.ledger == nil && !c.closed {
		l, err := newLedger(c)
		c.ledger, c.closed = l, err != nil
	}
	l := c.ledger
	c.mu.Unlock()
	if l == nil {
		return "", false
	}
	return l.mark(namespace, name)
}

func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ledger != nil {
		c.ledger.close()
	}
	c.closed = true
}

func (c *connection) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.caps = nil
}

// getter is how the Helm SDK reaches the cluster in one action. Requests end with the action's
// context, which Helm itself does not heed.
type getter struct {
	*connection
	ctx       context.Context
	namespace string
}

// ToRESTConfig is part of what Helm asks for.
func (g *getter) ToRESTConfig() (*rest.Config, error) {
	config := rest.CopyConfig(g.config)
	config.Transport = bound{ctx: g.ctx, next: config.Transport}
	return config, nil
}

// ToDiscoveryClient is part of what Helm asks for.
func (g *getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.discovery, nil
}

// ToRESTMapper is part of what Helm asks for.
func (g *getter) ToRESTMapper() (meta.RESTMapper, error) { return g.mapper, nil }

// ToRawKubeConfigLoader tells Helm the namespace of objects that name none.
func (g *getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(clientcmdapi.Config{},
		&clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: g.namespace}})
}

// bound ends requests with a context of its own as well as with that of the request.
type bound struct {
	ctx  context.Context
	next http.RoundTripper
}

// RoundTrip does one request. What it ties to the context is released when the context ends.
func (b bound) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	context.AfterFunc(b.ctx, func() { cancel(context.Cause(b.ctx)) })
	return b.next.RoundTrip(req.WithContext(ctx))
}

// factory is kubectl's, without a validation on this side: every server that Kubernetes maintains
// validates fields itself, and kubectl downloads its OpenAPI for nothing but to find that out.
type factory struct{ cmdutil.Factory }

// Validator lets everything pass.
func (factory) Validator(string) (validation.Schema, error) { return validation.NullSchema{}, nil }
