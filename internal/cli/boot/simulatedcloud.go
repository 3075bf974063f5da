package boot

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/provision"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean"
)

// simulatedWord is the only value of --cloud.
const simulatedWord = "simulated"

// checkCloud reports what is wrong with --cloud.
func (o upOptions) checkCloud() error {
	if o.cloud != "" && o.cloud != simulatedWord {
		return fmt.Errorf("--cloud %q: use %s, or leave the flag out for the real API", o.cloud, simulatedWord)
	}
	return nil
}

// startCloud serves the simulated account of the cluster, which outlives this process as the cluster does.
func (s *system) startCloud(ctx context.Context) error {
	if s.options.cloud == "" {
		return nil
	}
	var err error
	// It ends last: the engine that uses it outlives the interrupt for a moment.
	ctx, s.endCloud = context.WithCancel(context.WithoutCancel(ctx))
	if s.cloud, err = cloud.Start(ctx, cloud.Options{Dir: filepath.Join(s.state, console.CloudDir), Egress: s.options.serving.egress.Requests}); err != nil {
		return fmt.Errorf("--cloud: %w", err)
	}
	for _, d := range s.options.Catalogue {
		if of, is := d.(*provision.Dialect); is {
			of.DigitalOcean.Simulated = &digitalocean.Simulated{URL: s.cloud.URL, Token: s.cloud.Token()}
		}
	}
	s.say.Done("cloud", "simulated DigitalOcean at "+s.cloud.URL+"; headgate cloud get lists what it has")
	return nil
}

// stopCloud ends the simulated account, once the requests in progress are answered.
func (s *system) stopCloud(ctx context.Context) error {
	if s.cloud == nil {
		return nil
	}
	defer s.endCloud()
	return s.cloud.Stop(ctx)
}
