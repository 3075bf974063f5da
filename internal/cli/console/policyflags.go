package console

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/flux/policies"
)

// strictGate is the gate of the upstream by which variables have to be defined.
const strictGate = "StrictPostBuildSubstitutions"

// PolicyFlags say what holds for every unit, whether it is applied or rendered without a cluster. The flags have the
// names of the upstream's.
type PolicyFlags struct {
	policy policies.Policy
	gates  map[string]string
}

// Bind adds the flags.
func (p *PolicyFlags) Bind(f *pflag.FlagSet) {
	f.StringVar(&p.policy.DefaultServiceAccount, "default-service-account", "", "ServiceAccount of Kustomizations that name none")
	f.BoolVar(&p.policy.NoCrossNamespaceRefs, "no-cross-namespace-refs", false, "refuse references to sources of other namespaces")
	f.BoolVar(&p.policy.NoRemoteBases, "no-remote-bases", false, "refuse kustomizations that refer to something outside their source")
	f.StringVar(&p.policy.AgeSecret, "sops-age-secret", "", "Secret in flux-system with age keys for every Kustomization with decryption")
	f.StringToStringVar(&p.gates, "feature-gates", nil, "feature gates of Flux: "+strictGate+"=false substitutes undefined variables with nothing")
}

// Check reports what is wrong with the flags.
func (p *PolicyFlags) Check() error {
	for gate, value := range p.gates {
		on, err := strconv.ParseBool(value)
		if gate != strictGate || err != nil {
			return fmt.Errorf("--feature-gates: unknown gate %s=%s; use %s=true or false", gate, value, strictGate)
		}
		p.policy.LaxSubstitution = !on
	}
	return nil
}

// Given reports whether one of the flags was.
func (p *PolicyFlags) Given() bool { return p.policy != (policies.Policy{}) || len(p.gates) > 0 }

// Configure enters the flags into the dialects.
func (p *PolicyFlags) Configure(catalogue dialect.Catalogue) {
	for _, d := range catalogue {
		if of, is := d.(*flux.Dialect); is {
			of.Policy = p.policy
		}
		if of, is := d.(dialect.Confined); is && p.policy.NoRemoteBases {
			of.ForbidRemoteBases()
		}
		if of, is := d.(dialect.Tenanted); is {
			of.LockTenants(dialect.Tenancy{Account: p.policy.DefaultServiceAccount, Isolated: p.policy.NoCrossNamespaceRefs})
		}
	}
}
