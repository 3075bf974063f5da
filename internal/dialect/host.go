package dialect

import (
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/bases"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/meter"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/source"
)

// Confined is a dialect whose kustomizations can be kept from naming anything outside their source.
type Confined interface{ ForbidRemoteBases() }

// Host is what every dialect is given to serve its groups with. It is not changed after Serve.
type Host struct {
	// Config is how the cluster is reached, Home its records and watches. Home starts before the parts do.
	Config *rest.Config
	Home   *cluster.Cluster
	Runner *runner.Runner
	// Serve are the API groups that are served; objects of others are left to their controllers.
	Serve Groups
	// Selector, when not empty, is the label selector of the objects that are served: a shard.
	Selector string
	// Store keeps artifacts.
	Store *source.Store
	// Dir is a directory for what is to outlive the process, empty when nothing does.
	Dir string
	// Local, when set, answers with the repository served by this process that stands in for a URL.
	Local func(url string) (source.Local, bool)
	// Rewrites send fetches elsewhere.
	Rewrites source.Rewrites
	// Egress is where requests may go whose addresses are declared.
	Egress egress.Policy
	// Feed fetches repositories, each once for all dialects.
	Feed *feed.Feed
	// Bases fetches what kustomizations name elsewhere.
	Bases *bases.Store
	// Sandbox is where charts and Jsonnet are rendered; nil renders them in this process.
	Sandbox *sandbox.Pool
	// Reserved are objects that no unit may touch.
	Reserved map[engine.ObjectID]bool
	// Substitutes, when set, stand in for what units cannot read.
	Substitutes Substitutes
	// Yields tells, of an object of a group that is served, whether a simulation decides about it. It is for when all dialects are served.
	Yields func(engine.ObjectID) bool
	// Grants are what units permit the objects that they declare.
	Grants *Grants
	// Tenants are how namespaces are locked down.
	Tenants *Tenants
	// Metrics counts what is done.
	Metrics *meter.Metrics
	// Problem is called with problems beside units, such as of a source. It must not block.
	Problem func(subject, text string)
	Log     logr.Logger
	// Guard logs and counts panics, which end what they happened in and nothing else.
	Guard guard.Guard
}

// Substitutes stand in, in a simulation, for what units cannot read. They are safe for concurrent use.
type Substitutes interface {
	// LeaveOut is called with entries of kustomizations that are remote, and are left out; Marks makes values for
	// those that cannot be decrypted. Both are nil for a unit that has all it needs.
	LeaveOut(unit engine.UnitID) func(what, entry string)
	Marks(unit engine.UnitID) func(key string) string
	// Chart makes a stub of a chart that cannot be fetched; false where charts have to be real.
	Chart(repo, name, version string, cause error) (data []byte, resolved string, made bool)
}

// Yielding is a Part that leaves some objects of its groups to a simulation: those that it cannot serve for want of something real.
type Yielding interface {
	Yields(id engine.ObjectID) bool
}

// RewritesName is the ConfigMap in the namespace of Headgate that sends fetches elsewhere.
const RewritesName = "headgate-rewrites"
