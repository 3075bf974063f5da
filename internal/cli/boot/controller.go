package boot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/controller"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/memory"
	"github.com/headgate-dev/headgate/internal/tracing"
)

type controllerOptions struct {
	*console.Globals
	serving       serving
	listen        controller.Addresses
	dir, url      string
	leaseDuration time.Duration
	patience      time.Duration
	install       bool
	collector     string
	logLevel      string
	logEncoding   string
}

// NewController is the command that serves a cluster from within.
func NewController(g *console.Globals) *cobra.Command {
	o := controllerOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "controller",
		Short: "Run the controller: what the pods of an installation run",
		Long: `Serve a cluster while the process runs, in these steps:

  1. connect to the cluster that this pod runs in, or that of --kubeconfig
  2. wait, and report it, while a controller of Flux or Argo CD serves a group of --serve
  3. apply the definitions of the groups of --serve
  4. take the lease, or stay on standby until its holder releases it
  5. serve; on SIGTERM, finish work in progress and hand over

Each shard (--watch-label-selector) has its own lease. "headgate install" creates such an installation.`,
		Example: `  headgate controller --serve flux
  headgate controller --serve flux,argocd
  headgate controller --serve kustomize.toolkit.fluxcd.io,helm.toolkit.fluxcd.io   beside Flux's source-controller
  headgate controller --serve flux --watch-label-selector 'sharding.fluxcd.io/key=shard1'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(o.serving.named(), o.serving.check(o.Catalogue), o.serving.decide(egress.Run{Shared: true})); err != nil {
				return err
			}
			return runController(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.listen.Health, "health-addr", ":9440", "address of /healthz and /readyz")
	f.StringVar(&o.listen.Storage, "storage-addr", ":9790", "address to serve artifacts on")
	f.StringVar(&o.listen.Events, "events-addr", "", "address for events that other controllers send for Alerts, such as :9690")
	f.StringVar(&o.dir, "storage-path", "/data", "directory of artifacts and pending notifications")
	f.StringVar(&o.url, "storage-adv-url", "http://headgate.flux-system.svc.cluster.local.", "URL at which clients reach the artifacts")
	f.DurationVar(&o.leaseDuration, "lease-duration", 15*time.Second, "how long the lease of a killed replica blocks the next one")
	f.DurationVar(&o.patience, "graceful-shutdown-timeout", 20*time.Second, "how long work in progress may take on shutdown")
	f.BoolVar(&o.install, "install-crds", true, "apply the definitions of the served kinds at start")
	f.StringVar(&o.collector, "otlp-endpoint", os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "send a trace of each pass to this OpenTelemetry collector (OTLP over gRPC), such as http://collector:4317")
	f.StringVar(&o.logLevel, "log-level", "info", "debug, info or error")
	f.StringVar(&o.logEncoding, "log-encoding", "json", "json or console")
	o.serving.bind(f)
	return cmd
}

func runController(ctx context.Context, o controllerOptions) error {
	log, err := startLog(o.IO.Err, o.logLevel, o.logEncoding)
	if err != nil {
		return err
	}
	ctx = logr.NewContext(ctx, log)
	container := memory.Limit()
	if container > 0 {
		log.Info("memory limit set", "bytes", container)
	}
	limits, err := o.serving.limits.Limits(container)
	if err != nil {
		return err
	}
	cfg := controller.Config{
		Dir: o.dir, StorageURL: strings.TrimSuffix(o.url, "/"), Listen: o.listen, Address: os.Getenv("POD_IP"),
		LeaseDuration: o.leaseDuration, Patience: o.patience, Install: o.install, Log: log,
	}
	cfg.Listen.Metrics, cfg.Listen.Receivers = o.serving.metricsAddr, o.serving.receiverAddr
	if cfg.Cluster, err = o.ownCluster(); err != nil {
		return err
	}
	if cfg.Name, err = os.Hostname(); err != nil {
		return fmt.Errorf("getting the host name: %w", err)
	}
	if o.collector != "" {
		if cfg.Tracer, err = tracing.New(ctx, o.collector); err != nil {
			return fmt.Errorf("--otlp-endpoint: %w", err)
		}
	}
	o.serving.apply(&cfg.Engine)
	cfg.Engine.Sandbox = o.IO.Sandbox(ctx, limits, o.dir, func(text string) { log.Info("rendering", "problem", text) })
	return controller.Run(ctx, cfg)
}

// ownCluster is the cluster that this process runs on, unless another one is named.
func (o controllerOptions) ownCluster() (*rest.Config, error) {
	if o.Real() {
		return o.RestConfig()
	}
	config, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return nil, console.Hint(errors.New("this process does not run in a cluster"), "headgate controller --kubeconfig FILE, or headgate up PATH")
	}
	if err != nil {
		return nil, fmt.Errorf("finding the cluster of this pod: %w", err)
	}
	return console.Dressed(config), nil
}
