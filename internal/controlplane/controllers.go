package controlplane

import (
	"context"
	"fmt"
	"path/filepath"

	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	controlleroptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// offControllers have nothing to do where nodes are simulated and there is no cloud; several of
// them would work against the simulation.
var offControllers = []string{
	"-node-lifecycle-controller", "-node-ipam-controller", "-node-route-controller", "-service-lb-controller",
	"-cloud-node-lifecycle-controller", "-taint-eviction-controller", "-device-taint-eviction-controller",
	"-horizontal-pod-autoscaler-controller", "-bootstrap-signer-controller", "-token-cleaner-controller",
	"-persistentvolume-attach-detach-controller", "-persistentvolume-expander-controller",
	"-certificatesigningrequest-cleaner-controller", "-legacy-serviceaccount-token-cleaner-controller",
}

// offLight are further controllers that light control planes do without: those of dynamic resources, of migrations of
// stored objects, of attributes of volumes and of warnings, and the one that checks the types of admission policies, which
// has OpenAPI definitions of its own.
var offLight = []string{
	"-resourceclaim-controller", "-resourcepoolstatusrequest-controller", "-podcertificaterequest-cleaner-controller",
	"-storage-version-migrator-controller", "-storageversion-garbage-collector-controller", "-selinux-warning-controller",
	"-volumeattributesclass-protection-controller", "-service-cidr-controller", "-validatingadmissionpolicy-status-controller",
	"-kube-apiserver-serving-clustertrustbundle-publisher-controller", "-podgroup-protection-controller", "-ttl-controller",
}

// Requests a second that the controllers may make: the server is next door.
const (
	controllerQPS   = 2000
	controllerBurst = 4000
)

// controllers returns the controller-manager, ready to run.
func controllers(ctx context.Context, cfg Config, keys *pki) (func(context.Context) error, error) {
	o, err := controlleroptions.NewKubeControllerManagerOptions()
	if err != nil {
		return nil, fmt.Errorf("configuring the controller manager: %w", err)
	}
	o.Generic.LeaderElection.LeaderElect = false
	o.SecureServing.BindPort = 0
	o.Generic.Controllers = append([]string{"*"}, offControllers...)
	if cfg.Light {
		o.Generic.Controllers = append(o.Generic.Controllers, offLight...)
	}
	o.Generic.ClientConnection.Kubeconfig = filepath.Join(cfg.Dir, "controller-manager.kubeconfig")
	o.Generic.ClientConnection.QPS, o.Generic.ClientConnection.Burst = controllerQPS, controllerBurst
	o.SAController.ServiceAccountKeyFile = keys.path("service-account.key")
	o.SAController.RootCAFile = keys.path("ca.crt")
	// The controllers are one administrator: an account for each would be forty accounts, tokens and some two hundred requests at each start.
	o.KubeCloudShared.UseServiceAccountCredentials = false
	o.CSRSigningController.ClusterSigningCertFile = keys.path("ca.crt")
	o.CSRSigningController.ClusterSigningKeyFile = keys.path("ca.key")
	o.DeploymentController.ConcurrentDeploymentSyncs = 10
	o.ReplicaSetController.ConcurrentRSSyncs = 10
	o.NamespaceController.ConcurrentNamespaceSyncs = 10
	o.GarbageCollectorController.ConcurrentGCSyncs = 10
	o.EndpointSliceController.MaxEndpointsPerSlice = 100
	all, off, aliases := controllermanager.KnownControllers(), controllermanager.ControllersDisabledByDefault(),
		controllermanager.ControllerAliases()
	flags := o.Flags(all, off, aliases)
	o.ParsedFlags = &flags
	config, err := o.Config(ctx, all, off, aliases)
	if err != nil {
		return nil, fmt.Errorf("configuring the controller manager: %w", err)
	}
	return func(ctx context.Context) error { return controllermanager.Run(ctx, config.Complete()) }, nil
}

// pods returns the scheduler, ready to run.
func pods(ctx context.Context, dir string) (func(context.Context) error, error) {
	o := scheduleroptions.NewOptions()
	o.SecureServing.BindPort = 0
	config := filepath.Join(dir, "scheduler.yaml")
	if err := writeSchedulerConfig(config, filepath.Join(dir, "scheduler.kubeconfig")); err != nil {
		return nil, err
	}
	o.ConfigFile = config
	completed, sched, err := scheduler.Setup(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("setting up the scheduler: %w", err)
	}
	return func(ctx context.Context) error {
		err := scheduler.Run(ctx, completed, sched)
		if ctx.Err() != nil {
			return errStopped
		}
		return err
	}, nil
}
