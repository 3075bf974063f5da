package acceptance

import (
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/discovery"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"
	admissionregistrationrest "k8s.io/kubernetes/pkg/registry/admissionregistration/rest"
	apiserverinternalrest "k8s.io/kubernetes/pkg/registry/apiserverinternal/rest"
	appsrest "k8s.io/kubernetes/pkg/registry/apps/rest"
	autoscalingrest "k8s.io/kubernetes/pkg/registry/autoscaling/rest"
	batchrest "k8s.io/kubernetes/pkg/registry/batch/rest"
	certificatesrest "k8s.io/kubernetes/pkg/registry/certificates/rest"
	coordinationrest "k8s.io/kubernetes/pkg/registry/coordination/rest"
	corerest "k8s.io/kubernetes/pkg/registry/core/rest"
	discoveryrest "k8s.io/kubernetes/pkg/registry/discovery/rest"
	eventsrest "k8s.io/kubernetes/pkg/registry/events/rest"
	flowcontrolrest "k8s.io/kubernetes/pkg/registry/flowcontrol/rest"
	networkingrest "k8s.io/kubernetes/pkg/registry/networking/rest"
	noderest "k8s.io/kubernetes/pkg/registry/node/rest"
	policyrest "k8s.io/kubernetes/pkg/registry/policy/rest"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	resourcerest "k8s.io/kubernetes/pkg/registry/resource/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
	storagerest "k8s.io/kubernetes/pkg/registry/storage/rest"
	svmrest "k8s.io/kubernetes/pkg/registry/storagemigration/rest"
)

// The groups that are not of kube-apiserver's own part.
const (
	extensionsGroup = "apiextensions.k8s.io"
	aggregatorGroup = "apiregistration.k8s.io"
)

// openAPIConfig is how the server describes its kinds.
func openAPIConfig() *common.OpenAPIV3Config {
	namer := openapi.NewDefinitionNamer(legacyscheme.Scheme, apiserver.Scheme, aggregatorscheme.Scheme)
	return genericapiserver.DefaultOpenAPIV3Config(generatedopenapi.GetOpenAPIDefinitions, namer)
}

// builtinGroups are those that the server has in the versions that it serves by default.
func builtinGroups() ([]*group, error) {
	served, options := controlplane.DefaultAPIResourceConfigSource(), generic.RESTOptions{
		StorageConfig: &storagebackend.ConfigForResource{}, Decorator: storageless, ResourcePrefix: "none",
	}
	all := []*group{extensions(), aggregator()}
	for _, p := range providers() {
		info, err := p.NewRESTStorage(served, options)
		if err != nil {
			return nil, fmt.Errorf("getting what %T serves: %w", p, err)
		}
		name := ""
		if len(info.PrioritizedVersions) > 0 {
			name = info.PrioritizedVersions[0].Group
		}
		g := &group{name: name, scheme: legacyscheme.Scheme, kinds: map[schema.GroupVersionKind]*builtin{}}
		for version, storages := range info.VersionedResourcesStorageMap {
			if err := g.add(version, storages); err != nil {
				return nil, err
			}
		}
		if name == core.GroupName {
			g.addCore()
		}
		all = append(all, g)
	}
	return all, nil
}

// storageless stores nothing, and sends no requests.
func storageless(
	*storagebackend.ConfigForResource, string, func(runtime.Object) (string, error), func() runtime.Object, func() runtime.Object,
	storage.AttrFunc, storage.IndexerFuncs, *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	return nil, func() {}, nil
}

// providers are those of kube-apiserver whose objects are kept. Reviews of tokens and of access are not.
func providers() []controlplaneapiserver.RESTStorageProvider {
	allow := authorizerfactory.NewAlwaysAllowAuthorizer()
	return []controlplaneapiserver.RESTStorageProvider{
		&corerest.GenericConfig{},
		apiserverinternalrest.StorageProvider{},
		autoscalingrest.RESTStorageProvider{},
		batchrest.RESTStorageProvider{},
		certificatesrest.RESTStorageProvider{Authorizer: allow},
		coordinationrest.RESTStorageProvider{},
		discoveryrest.StorageProvider{},
		networkingrest.RESTStorageProvider{},
		noderest.RESTStorageProvider{},
		policyrest.RESTStorageProvider{},
		rbacrest.RESTStorageProvider{Authorizer: allow},
		schedulingrest.RESTStorageProvider{},
		storagerest.RESTStorageProvider{},
		svmrest.RESTStorageProvider{},
		flowcontrolrest.RESTStorageProvider{},
		appsrest.StorageProvider{},
		admissionregistrationrest.RESTStorageProvider{Authorizer: allow, DiscoveryClient: discovery.NewDiscoveryClientForConfigOrDie(nowhere())},
		eventsrest.RESTStorageProvider{},
		resourcerest.RESTStorageProvider{Authorizer: allow, NamespaceClient: typedcorev1.NewForConfigOrDie(nowhere()).Namespaces()},
	}
}

// nowhere leads clients to no server. Those that providers want are asked by writes only.
func nowhere() *restclient.Config { return &restclient.Config{Transport: unreachable{}} }

// unreachable answers no request.
type unreachable struct{}

// RoundTrip refuses every request.
func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no server")
}
