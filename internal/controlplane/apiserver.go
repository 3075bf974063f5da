package controlplane

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	genericapiserver "k8s.io/apiserver/pkg/server"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
)

// serviceRange gives every Service an address; a smaller range is soon full.
const serviceRange = "10.96.0.0/16"

var serviceIP = net.IPv4(10, 96, 0, 1)

// apiServer is the API server of one plane, ready to run.
type apiServer struct {
	prepared interface {
		Run(ctx context.Context) error
	}
	url  string
	port int
}

// newAPIServer climbs the ladder from options to a server that can run.
func newAPIServer(ctx context.Context, cfg Config, keys *pki, etcd string, listener net.Listener, machines *kubelet) (*apiServer, error) {
	o, err := apiOptions(cfg, keys, etcd, listener)
	if err != nil {
		return nil, err
	}
	completed, err := o.Complete(ctx)
	if err != nil {
		return nil, fmt.Errorf("completing the options of the API server: %w", err)
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return nil, fmt.Errorf("checking the options of the API server: %w", utilerrors.NewAggregate(errs))
	}
	config, err := app.NewConfig(completed)
	if err != nil {
		return nil, fmt.Errorf("configuring the API server: %w", err)
	}
	config.KubeAPIs.Extra.KubeletClientConfig.Lookup = machines.lookup
	told := newTeller(cfg)
	if err := skipServiceWebhooks(config.KubeAPIs.ControlPlane.VersionedInformers, told); err != nil {
		return nil, err
	}
	if err := leaveBootstraps(config.KubeAPIs.ControlPlane.Generic); err != nil {
		return nil, err
	}
	config.KubeAPIs.ControlPlane.VersionedInformers = countedRarely{config.KubeAPIs.ControlPlane.VersionedInformers}
	dead := newDeadServices(told)
	build := config.Aggregator.GenericConfig.BuildHandlerChainFunc
	config.Aggregator.GenericConfig.BuildHandlerChainFunc = func(h http.Handler, c *genericapiserver.Config) http.Handler {
		if cfg.Isolated {
			h = isolated(h)
		}
		return build(withVersion(dead.filter(h)), c)
	}
	var shared *documents
	if cfg.Light {
		shared = theProcess.documents
	}
	shared.before(config.KubeAPIs.ControlPlane.Generic)
	ready, err := config.Complete()
	if err != nil {
		return nil, fmt.Errorf("configuring the API server: %w", err)
	}
	chain, kube, err := serverChain(ready, told)
	if err != nil {
		return nil, err
	}
	if err := shared.register(kube); err != nil {
		return nil, err
	}
	if err := dead.watch(chain.APIRegistrationInformers); err != nil {
		return nil, err
	}
	prepared, err := chain.PrepareRun()
	if err != nil {
		return nil, fmt.Errorf("preparing the API server: %w", err)
	}
	if theProcess.documents == nil {
		theProcess.documents = documentsOf(config.KubeAPIs.ControlPlane.Generic, kube)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return &apiServer{prepared: prepared, port: port, url: "https://127.0.0.1:" + strconv.Itoa(port)}, nil
}

// serverChain builds the three servers, one delegating to the next, with CRD conversions that
// cannot be called taken out of sight of the one that serves custom resources. It returns the outermost and the one of the
// built-in kinds.
func serverChain(config app.CompletedConfig, told *teller) (*aggregatorapiserver.APIAggregator, *genericapiserver.GenericAPIServer, error) {
	extensions, err := config.ApiExtensions.New(genericapiserver.NewEmptyDelegate())
	if err != nil {
		return nil, nil, fmt.Errorf("creating the apiextensions server: %w", err)
	}
	if err := skipServiceConversions(extensions.Informers, told); err != nil {
		return nil, nil, err
	}
	kube, err := config.KubeAPIs.New(extensions.GenericAPIServer)
	if err != nil {
		return nil, nil, fmt.Errorf("creating the API server: %w", err)
	}
	aggregator, err := controlplaneapiserver.CreateAggregatorServer(config.Aggregator, kube.ControlPlane.GenericAPIServer,
		extensions.Informers.Apiextensions().V1().CustomResourceDefinitions(), true, priorities())
	if err != nil {
		return nil, nil, fmt.Errorf("creating the aggregator: %w", err)
	}
	return aggregator, kube.ControlPlane.GenericAPIServer, nil
}

func apiOptions(cfg Config, keys *pki, etcd string, listener net.Listener) (*options.ServerRunOptions, error) {
	o := options.NewServerRunOptions()
	if err := o.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return nil, fmt.Errorf("setting feature gates: %w", err)
	}
	if err := setGates(cfg.FeatureGates); err != nil {
		return nil, err
	}
	o.SecureServing.Listener = listener
	o.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	o.SecureServing.BindAddress = net.IPv4(127, 0, 0, 1)
	o.SecureServing.ExternalAddress = net.IPv4(127, 0, 0, 1)
	o.GenericServerRunOptions.AdvertiseAddress = net.IPv4(127, 0, 0, 1)
	o.SecureServing.ServerCert.CertKey.CertFile = keys.path("apiserver.crt")
	o.SecureServing.ServerCert.CertKey.KeyFile = keys.path("apiserver.key")
	o.SecureServing.ServerCert.CertDirectory = keys.dir
	o.Authentication.ClientCert.ClientCA = keys.path("ca.crt")
	o.Authentication.Anonymous.Allow = false
	o.Authentication.RequestHeader.ClientCAFile = keys.path("front-proxy-ca.crt")
	o.Authentication.RequestHeader.AllowedNames = []string{proxyUser}
	o.Authentication.RequestHeader.UsernameHeaders = []string{"X-Remote-User"}
	o.Authentication.RequestHeader.GroupHeaders = []string{"X-Remote-Group"}
	o.Authentication.RequestHeader.ExtraHeaderPrefixes = []string{"X-Remote-Extra-"}
	o.Authentication.ServiceAccounts.Issuers = []string{"https://kubernetes.default.svc.cluster.local"}
	o.Authentication.ServiceAccounts.KeyFiles = []string{keys.path("service-account.key")}
	o.ServiceAccountSigningKeyFile = keys.path("service-account.key")
	o.ProxyClientCertFile = keys.path("front-proxy.crt")
	o.ProxyClientKeyFile = keys.path("front-proxy.key")
	o.Authorization.Modes = []string{"RBAC"}
	o.ServiceClusterIPRanges = serviceRange
	o.AllowPrivileged = true
	o.Etcd.StorageConfig.Transport.ServerList = []string{etcd}
	o.Etcd.EncryptionProviderConfigFilepath = filepath.Join(cfg.Dir, "encryption.yaml")
	o.Etcd.StorageConfig.CountMetricPollPeriod = 0
	o.Etcd.StorageConfig.CompactionInterval = 5 * time.Minute
	o.EndpointReconcilerType = "none"
	o.Features.EnablePriorityAndFairness = false
	o.GenericServerRunOptions.MaxRequestsInFlight = 0
	o.GenericServerRunOptions.MaxMutatingRequestsInFlight = 0
	o.Admission.GenericAdmission.DisablePlugins = []string{"TaintNodesByCondition"}
	finalizers(cfg.Finalizers).enable(o)
	if cfg.AuditLog != "" {
		o.Audit.LogOptions.Path = cfg.AuditLog
		o.Audit.PolicyFile = filepath.Join(cfg.Dir, "audit-policy.yaml")
	}
	return o, nil
}

func priorities() map[schemaGroupVersion]controlplaneapiserver.APIServicePriority {
	p := controlplaneapiserver.DefaultGenericAPIServicePriorities()
	for i, group := range []string{
		"apps", "autoscaling", "batch", "networking.k8s.io", "policy", "storage.k8s.io", "scheduling.k8s.io",
		"node.k8s.io", "resource.k8s.io", "storagemigration.k8s.io", "internal.apiserver.k8s.io",
	} {
		weight := int32(17800 - 100*i)
		for j, version := range []string{"v1", "v2", "v1beta2", "v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"} {
			gv := schemaGroupVersion{Group: group, Version: version}
			if _, known := p[gv]; !known {
				p[gv] = controlplaneapiserver.APIServicePriority{Group: weight, Version: int32(20 - 2*j)}
			}
		}
	}
	return p
}
