package boot

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/provision"
	"github.com/headgate-dev/headgate/internal/provision/managed"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/workflow"
	"github.com/headgate-dev/headgate/internal/workflow/execute/pods"
)

// serving is how the objects of a cluster are served, whatever the cluster. The flags have the
// names of the upstream's.
type serving struct {
	console.PolicyFlags
	limits      console.SandboxFlags
	selector    string
	insecureTLS bool
	metricsAddr string
	// receiverAddr is where the hooks of Receivers are served; empty serves none.
	receiverAddr string
	rewrite      []string
	rewrites     source.Rewrites
	serve        []string
	groups       dialect.Groups
	// poll is how often what managed resources stand for is observed.
	poll time.Duration
	// allowEgress are addresses that a person permits, egress is where requests may go.
	allowEgress string
	egress      egress.Policy
	// clearText permits the credentials of promotions for addresses without encryption.
	clearText bool
	// deletionHold is how long deletions wait at most for other units.
	deletionHold time.Duration
	// argoNamespace is that of the installation of Argo CD.
	argoNamespace string
	// executorImage is what pods of workflows are run with; empty runs none.
	executorImage string
}

func (s *serving) bind(f *pflag.FlagSet) {
	s.PolicyFlags.Bind(f)
	s.limits.Bind(f)
	f.StringSliceVar(&s.serve, "serve", nil, "API groups to serve on a cluster that is not embedded: flux for all of Flux's, argocd for that of Argo CD, workflows for those of Argo Workflows, crossplane for managed resources, build for Builds, external-secrets for External Secrets, kargo for promotions, or single groups, such as kustomize.toolkit.fluxcd.io")
	f.StringVar(&s.argoNamespace, "argo-namespace", argo.DefaultNamespace, "namespace of the Applications of Argo CD, and of its settings")
	f.StringVar(&s.executorImage, "executor-image", "", "image of Headgate with which containers of Workflows are run as pods, on a cluster that is not embedded")
	f.DurationVar(&s.poll, "poll", managed.DefaultPoll, "how often what managed resources stand for is observed, where it cannot be watched; the annotation crossplane.io/poll-interval sets it for one")
	f.DurationVar(&s.deletionHold, "deletion-hold", engine.HoldFor, "how long the deletion of an object waits at most for other units that may be about to declare it, 0 for not at all; the annotation "+engine.DeletionHold+" sets it for one unit")
	f.StringVar(&s.selector, "watch-label-selector", "", "serve only the objects with these labels, such as sharding.fluxcd.io/key=shard1")
	f.BoolVar(&s.insecureTLS, "insecure-kubeconfig-tls", false, "allow kubeconfigs of other clusters that do not verify the server's certificate")
	f.StringArrayVar(&s.rewrite, "rewrite", nil, "redirect fetches: FROM=TO, both URL prefixes, such as oci://ghcr.io/x/=oci://mirror/x/ (repeatable)")
	f.BoolVar(&s.clearText, "allow-credentials-over-http", false, "send the credentials of promotions to addresses that begin with http://, too")
	f.StringVar(&s.allowEgress, egress.Flag, "", "addresses that requests of the repository and of tenants may reach besides those that are permitted anyhow: "+
		"external, private, loopback, addresses, networks and hosts, such as private,10.0.0.7,*.example.com")
	f.StringVar(&s.metricsAddr, "metrics-addr", "", "serve /metrics, /healthz and /readyz at this address, such as :8080")
	f.StringVar(&s.receiverAddr, "receiver-addr", "", "accept requests for Receivers at this address, such as :9292")
}

// check reports what is wrong with the flags.
func (s *serving) check(catalogue dialect.Catalogue) error {
	if of := secretsOf(catalogue); of != nil && len(s.serve) > 0 {
		// A list of groups may have those of External Secrets, and of Kargo.
		of.Told = true
	}
	if of := promotionsOf(catalogue); of != nil {
		of.Told = of.Told || len(s.serve) > 0
		of.ClearText = s.clearText
	}
	var err error
	if s.groups, err = catalogue.Parse(s.serve); err != nil {
		return fmt.Errorf("--serve: %w", err)
	}
	if _, err := labels.Parse(s.selector); err != nil {
		return fmt.Errorf("--watch-label-selector: %w", err)
	}
	if err := s.PolicyFlags.Check(); err != nil {
		return err
	}
	if s.deletionHold < 0 {
		return fmt.Errorf("--deletion-hold %s: the least is 0", s.deletionHold)
	}
	if s.poll < time.Second {
		return fmt.Errorf("--poll %s: the least is 1s", s.poll)
	}
	if s.argoNamespace == "" {
		return errors.New("--argo-namespace is empty: set the namespace of the Applications")
	}
	if s.rewrites, err = source.ParseRewrites(s.rewrite); err != nil {
		return fmt.Errorf("--rewrite: %w", err)
	}
	s.configure(catalogue)
	return nil
}

// named is the error if no group is named on a cluster that is not embedded.
func (s *serving) named() error {
	if len(s.serve) == 0 {
		return errors.New("--serve is missing: set the API groups to serve on this cluster: flux for all of Flux's, argocd for that of Argo CD, workflows, crossplane, build, external-secrets, kargo")
	}
	return nil
}

// configure enters the flags into the dialects.
func (s *serving) configure(catalogue dialect.Catalogue) {
	s.PolicyFlags.Configure(catalogue)
	for _, d := range catalogue {
		switch d := d.(type) {
		case *flux.Dialect:
			d.InsecureKubeconfigTLS = s.insecureTLS
		case *argo.Dialect:
			d.Namespace = s.argoNamespace
		case *provision.Dialect:
			d.Poll = s.poll
		case *workflow.Dialect:
			if s.executorImage != "" {
				d.Containers = pods.Containers{Image: s.executorImage}
			}
		}
	}
}

// apply enters the flags into the configuration of an engine.
func (s *serving) apply(c *host.Config) {
	c.Selector, c.Rewrites, c.Serve, c.Egress = s.selector, s.rewrites, s.groups, s.egress
	if c.DeletionHold = s.deletionHold; c.DeletionHold == 0 {
		c.DeletionHold = -1
	}
}
