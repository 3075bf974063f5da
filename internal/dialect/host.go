package dialect

import (
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/source"
)

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
	Observer Observer
	Log      logr.Logger
}

// Observer is told what happens. Its methods must not block; they are safe for concurrent use.
type Observer interface {
	// Problem is told what went wrong beside units, such as with a source.
	Problem(subject, text string)
	// Passed is told of each pass over an object that ended, and how long it took.
	Passed(kind, namespace, name string, took time.Duration, ok bool)
	// Gone is told of each object that is no longer there.
	Gone(kind, namespace, name string)
}
