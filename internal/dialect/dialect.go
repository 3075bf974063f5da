// Package dialect is the port through which an API joins Headgate, such as those of Flux and of Argo CD: everything that
// a dialect has to know of the house, and everything that the house knows of a dialect.
//
// A dialect names its API groups and kinds, and serves them with what a Host gives it: one runner, one graph and one
// registry of owners span all dialects. What only some dialects can do is an optional interface of this package. The
// package decides nothing and sends no requests.
package dialect

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Dialect is an API that can be served. Its methods but Serve ask no cluster.
type Dialect interface {
	// Name is the word of --serve for all groups of the dialect, such as "flux".
	Name() string
	// Groups are the API groups, in the order in which data passes through them.
	Groups() []Group
	// Kinds are the kinds that commands know by name, in the order in which they are listed.
	Kinds() []Kind
	// Definitions are the CustomResourceDefinitions of the groups that are served, and the namespaces that an
	// installation needs.
	Definitions(Groups) (definitions []*unstructured.Unstructured, namespaces []string, err error)
	// Serve puts together what serves the groups of the host. It makes no requests; Part.Start does.
	Serve(ctx context.Context, host *Host) (Part, error)
}

// Part is a dialect that is served in one cluster.
type Part interface {
	// Joins is what the part brings to the runner: its kinds of units, their drivers, its sources.
	Joins() runner.Part
	// Start begins to read what is declared, and returns when everything has been read that there is. It runs until ctx
	// ends, which Wait waits for.
	Start(ctx context.Context) error
	// Nudge fetches every source at once whose URL matches.
	Nudge(matches func(url string) bool)
	// Wait waits until everything that was started has ended.
	Wait()
}

// Marking is a Dialect by whose names the objects of units are marked that name no way of their own. There is one at
// most in a catalogue.
type Marking interface {
	Names() apply.Names
}

// Connected is a Part that is notified of each cluster that units are applied to, the home of the engine included. It must not
// block.
type Connected interface {
	Connected(c *cluster.Cluster)
}

// Generating is a Part with objects that are no units, and that units are generated from: how all of these stand. The units of one that is settled
// are known to the runner.
type Generating interface {
	Generators() []runner.State
}

// Idling is a Part with units that are ready although they are not what they declare: a user has to request it. Idle says what of each.
type Idling interface {
	Idle() map[engine.UnitID]string
}

// Hooked is a Part that takes requests by which others report changes.
type Hooked interface {
	// HookPath is what the paths of the requests begin with, such as /hook/.
	HookPath() string
	Hooks() http.Handler
}

// EventTaker is a Part that takes events of other controllers.
type EventTaker interface{ EventHandler() http.Handler }

// Upstreamed is a Dialect with an upstream whose controllers may serve a cluster, too.
type Upstreamed interface {
	Upstream() Upstream
}

// Upstream says how the controllers of an upstream are known in a cluster.
type Upstream struct {
	// Name is what commands call it, such as "argocd"; Title is what people do.
	Name, Title string
	// PartOf is the value of the label app.kubernetes.io/part-of of its objects.
	PartOf string
	// Kinds are those of its workloads: Deployment, StatefulSet.
	Kinds []string
	// Renamed is set when an installation may give controllers other names, or other labels: they are searched for by name
	// too, and are recognized by "<part-of>-<component>" of their labels.
	Renamed bool
	// Migrates is set when `headgate migrate` pauses the controllers and takes over.
	Migrates bool
	// PodLabel, when not empty, is the label of pods whose value is the name of the controller, or one that a person chose: then the
	// images of these pods have its name. Workloads are known by it alone: their names follow from what they were installed by.
	PodLabel string
	// LeaseNamespace is where each controller holds the lease "<controller>-leader-election"; empty when they hold none.
	LeaseNamespace string
	// Replaced are kinds of objects that are not applied, beside the workloads of controllers, when they have the
	// label and a group of the dialect is served.
	Replaced []schema.GroupKind
}
