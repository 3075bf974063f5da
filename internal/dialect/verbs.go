package dialect

import (
	"context"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Explain is a Dialect that reads what its objects declare, for commands such as why, tree and graph. Of other dialects they
// know the conventions of the field alone: a Ready condition, spec.suspend, status.inventory, labels that name the owner.
type Explain interface {
	// Declared is the unit that an object declares: its source, and what it depends on.
	Declared(u *unstructured.Unstructured) (engine.Unit, error)
}

// Charted is a Dialect whose units may be releases of charts.
type Charted interface {
	// ChartOf is where the chart of an object comes from; zero for any that has none.
	ChartOf(u *unstructured.Unstructured) Origin
}

// Sourced is a Dialect whose objects read sources.
type Sourced interface {
	// SourceOf is the source that an object reads; zero when it reads none.
	SourceOf(u *unstructured.Unstructured) (engine.SourceID, error)
}

// Owning is a Dialect that marks objects in its own way.
type Owning interface {
	// OwnerOf is what declares an object; false when the dialect does not.
	OwnerOf(u *unstructured.Unstructured) (engine.UnitID, bool)
}

// Stating is a Dialect whose objects say in their own way how they stand. For others it is Conventional.
type Stating interface {
	State(u *unstructured.Unstructured) State
}

// Tabular is a Dialect with columns of its own in tables.
type Tabular interface {
	// Columns are the titles of those between the name of an object of a kind and whether it is ready; whole ones stand for
	// that, too. No titles are those of any dialect. Row are the values.
	Columns(gk schema.GroupKind) (titles []string, whole bool)
	Row(u *unstructured.Unstructured) []string
}

// Causing is a Dialect that knows more of why a unit is not ready than what the unit waits for.
type Causing interface {
	// Causes are the reasons, one after the other, each requested when it is needed.
	Causes(ctx context.Context, s Session, u *unstructured.Unstructured) iter.Seq[Cause]
}

// Cause is a reason why a unit is not ready: a line, or another unit that may not be. Object is what the line is about, where the cluster
// may say more of what is below it.
type Cause struct {
	Text   string
	Unit   engine.UnitID
	Object engine.ObjectID
}

// Touching is a Dialect whose units work on objects that they do not hold, such as hooks.
type Touching interface {
	// Touched are the objects that the last operation of a unit was about, held or not.
	Touched(u *unstructured.Unstructured) []engine.ObjectID
}

// Destined is a Dialect whose units may deploy to other clusters than the one that declares them.
type Destined interface {
	// Clusters are those that units can deploy to, with the one that declares them first. With an error, they are those that are known in
	// spite of it.
	Clusters(ctx context.Context, s Session) ([]Cluster, error)
	// ClusterOf is the name of the one among clusters that the unit of an object deploys to, or what the object says where it is not one of
	// them; empty for objects that say nothing.
	ClusterOf(u *unstructured.Unstructured, clusters []Cluster) string
}

// Cluster is one that units deploy to.
type Cluster struct {
	// Name is that of no other. Home is set for the cluster that declares the units.
	Name string
	Home bool
	// Server is the URL of its API server, as it is declared.
	Server string
	// Config is how it is reached, Err why it cannot be; neither for Home.
	Config *rest.Config
	Err    error
}

// Waved is a Dialect whose units are ordered by waves below the unit that declares them.
type Waved interface {
	// WaveOf is the wave of the unit that an object declares; false for objects that have none.
	WaveOf(u *unstructured.Unstructured) (wave int, has bool)
}

// Switching is a Dialect that suspends objects by something else than spec.suspend.
type Switching interface {
	// Switch is the change by which an object is suspended, or moves again; nil for kinds without such a thing.
	Switch(gk schema.GroupKind, suspend bool) map[string]any
}

// Answers reports whether a request was handled, or a later one: an object has room for one request, so that one which comes before the
// other was handled takes its place.
func Answers(handled, token string) bool {
	if handled == token {
		return true
	}
	was, err := time.Parse(time.RFC3339Nano, handled)
	wanted, wrong := time.Parse(time.RFC3339Nano, token)
	return err == nil && wrong == nil && was.After(wanted)
}

// Requested is a Dialect whose objects make a pass at request.
type Requested interface {
	// Request is the change that requests one. The token is that of no other request.
	Request(token string, o RequestOptions) map[string]any
	// Handled reports whether the last pass of an object answered a request, and has ended.
	Handled(u *unstructured.Unstructured, token string) bool
	// Forces reports whether objects of a kind can be forced and reset.
	Forces(gk schema.GroupKind) bool
}

// RequestOptions are those of one request.
type RequestOptions struct{ Force, Reset bool }

// Syncing is a Dialect with kinds whose objects are synced by operations, which have results of their own.
type Syncing interface {
	// Syncs reports whether objects of a kind are.
	Syncs(gk schema.GroupKind) bool
	// Sync syncs an object, and follows that to its end.
	Sync(ctx context.Context, s Session, u *unstructured.Unstructured, o SyncOptions) (reached bool, err error)
}

// Promoting is a Dialect with kinds to whose objects something is promoted.
type Promoting interface {
	// Promotes reports whether something is promoted to objects of a kind.
	Promotes(gk schema.GroupKind) bool
	// Promote promotes something to an object, and follows that to its end.
	Promote(ctx context.Context, s Session, u *unstructured.Unstructured, o PromoteOptions) (reached bool, err error)
	// Pipelines are those of a namespace, or of all, each place after those that it takes from.
	Pipelines(ctx context.Context, s Session, namespace string) ([]Environment, error)
}

// Environment is a place of a pipeline: where something is found, or where it is promoted to.
type Environment struct {
	Unit engine.UnitID
	// From are those that it takes from.
	From []engine.UnitID
	// Has is what it has, in a few words each, State its health.
	Has   []string
	State string
	// Waits say what has to happen until it has what is newest.
	Waits []string
}

// PromoteOptions are those of a promotion.
type PromoteOptions struct {
	// What is the name of what is promoted, in one of its forms.
	What string
	// Approve permits it, also where other environments come first. Abort ends the promotion in progress instead. Wait follows it to its end.
	Approve, Abort, Wait bool
}

// SyncOptions are those of an operation.
type SyncOptions struct {
	Revision                                      string
	Prune, DryRun, Replace, Force, Wait, Selected bool
	// Compare fetches and compares first, Only does nothing else, and Hard discards what is kept of rendering.
	Compare, Only, Hard bool
	// Resources are the objects that are synced: GROUP:KIND:[NAMESPACE/]NAME; none are all.
	Resources []string
}

// Historic is a Dialect whose objects remember what was synced.
type Historic interface {
	Syncing
	// History are the entries, oldest first, and what else there is to say.
	History(u *unstructured.Unstructured) (entries []Entry, note string, err error)
}

// Entry is one of a history.
type Entry struct {
	ID       string `json:"id"`
	Date     string `json:"date"`
	Revision string `json:"revision"`
	By       string `json:"by"`
}

// Releasing is a Dialect with kinds whose objects remember what they released, and are not synced by operations.
type Releasing interface {
	// Releases are those that an object remembers, oldest first; false for kinds that have none.
	Releases(u *unstructured.Unstructured) (releases []Release, has bool)
}

// Release is one that an object remembers.
type Release struct {
	Version string `json:"version"`
	Date    string `json:"date"`
	Chart   string `json:"chart"`
	Status  string `json:"status"`
}

// Reverting is a Dialect whose objects go back to an entry of their history.
type Reverting interface {
	Historic
	// Rollback goes back, and follows that to its end.
	Rollback(ctx context.Context, s Session, u *unstructured.Unstructured, o RollbackOptions) (reached bool, err error)
	// Unpin is the change by which an object moves again after a rollback.
	Unpin() map[string]any
}

// RollbackOptions say what to go back to.
type RollbackOptions struct {
	// ID is that of the entry, empty for the one before the last.
	ID string
	// Hold is how long the object is held there.
	Hold  time.Duration
	Prune bool
}

// Terminating is a Dialect whose operations can be ended.
type Terminating interface {
	Syncing
	// Terminate ends the running operation of an object, and returns what became of it; false when none was running.
	Terminate(ctx context.Context, s Session, u *unstructured.Unstructured) (text string, ran bool, err error)
}

// Session is what a command gives a dialect that acts for it.
type Session interface {
	Client() dynamic.Interface
	// At is a session in another cluster.
	At(c Cluster) (Session, error)
	// Mapping is how objects of a kind are reached.
	Mapping(gk schema.GroupKind, version string) (*meta.RESTMapping, error)
	// Change merges a change into an object.
	Change(ctx context.Context, id engine.UnitID, change map[string]any) error
	// Until watches an object until it is as it should be, and returns it.
	Until(ctx context.Context, id engine.UnitID, done Done) (*unstructured.Unstructured, error)
	// Say prints a line of the result, good or not, Note what goes on, Table lines of columns.
	Say(good bool, text string) error
	Note(text string)
	Table(rows [][]string) error
}

// Done reports whether an object is as it should be.
type Done interface {
	Done(u *unstructured.Unstructured) bool
}

// HintError is an error with the next command to try.
type HintError struct {
	Err  error
	Next string
}

// Error is that of the cause.
func (e *HintError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *HintError) Unwrap() error { return e.Err }
