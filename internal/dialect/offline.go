package dialect

import (
	"context"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/source"
)

// Renders is a Dialect whose units are rendered without a cluster from nothing but their object.
type Renders interface {
	// Render gives what an object of a repository declares, and what that would apply.
	Render(ctx context.Context, u *unstructured.Unstructured) OfflineUnit
}

// Offline is a Dialect whose units are rendered without a cluster, from the rest of their repository.
type Offline interface {
	// Walk begins to walk a repository.
	Walk(ctx context.Context, r *Repository) (Walk, error)
}

// Live is a Dialect whose units are rendered as a cluster has them now, to compare that with what the cluster holds.
type Live interface {
	// WalkLive begins to walk the objects of r with the settings that the cluster has.
	WalkLive(ctx context.Context, r *Repository, config *rest.Config) (Walk, error)
}

// Walk is what one dialect does while a repository is walked by all. It is used by one goroutine.
type Walk interface {
	// Begin are the objects that the dialect has a cluster begin with, beside those of the repository.
	Begin() ([]*unstructured.Unstructured, error)
	// Take is given what a unit of any dialect declares; of a unit without an identity it is what the cluster begins with.
	Take(ctx context.Context, of *OfflineUnit)
	// Turn says how soon the next unit of the dialect is to be rendered, and Next renders it.
	Turn() Turn
	Next(ctx context.Context) OfflineUnit
	// Broken are the objects that declare no units and fail to give what they should.
	Broken() []Broken
	// Findings are what is wrong with the units of the dialect, given those of all. Kinds may be nil.
	Findings(all []OfflineUnit, kinds Scopes) []Finding
	// Unread are problems of files that nothing leads to.
	Unread() ([]string, error)
	// Close ends what the walk has begun.
	Close()
}

// Turn says how soon a unit is rendered: everything that may declare what it reads comes first.
type Turn int

// The turns, the last one first.
const (
	// TurnOver is that of a walk without another unit.
	TurnOver Turn = iota
	// TurnLast is that of a unit that reads something which nothing has declared yet.
	TurnLast
	// TurnLate is that of a unit that reads what anything else may declare.
	TurnLate
	// TurnNow is that of all others.
	TurnNow
)

// Repository is what is walked, and how far.
type Repository struct {
	// Dir is the working copy; empty when there is none. Files are what of it is read, Branch is the one it is on, and Also a further
	// one under which it is served. Others are the branches and tags that there are beside these.
	Dir          string
	Files        source.Directory
	Branch, Also string
	Others       []string
	// Root is the directory that the cluster begins with, relative to Dir; Objects are applied instead if there are any.
	Root    string
	Objects []*unstructured.Unstructured
	// Ours reports which URLs of repositories are that of the working copy.
	Ours func(url string) bool
	// AgeKey decrypts, if it is given.
	AgeKey []byte
	// Fetch selects the units whose charts and other repositories are fetched; Network is set if it selects any.
	Fetch    func(engine.UnitID) bool
	Network  bool
	Rewrites source.Rewrites
	// Sandbox is where charts and Jsonnet are rendered; nil renders them in this process.
	Sandbox *sandbox.Pool
	// Replaced are the objects that are left as they are where a cluster is served.
	Replaced Replaced
	// Masks has Shown be filled in for what holds values of Secrets.
	Masks bool
	// Marks replaces values that cannot be decrypted by stand-ins, and leaves out what kustomizations read from elsewhere.
	Marks bool
	// Alone leaves out what the roots lead to.
	Alone bool
	// Cluster is what is known of the cluster that units are rendered for; the zero value is none.
	Cluster Seen
	// Warn is notified of problems that keep nothing from being rendered.
	Warn func(text string)
}

// Shows reports whether a revision is one under which the working copy is served; exists is set for one that there is beside it, or that
// may be one: a commit, or a range of versions.
func (r *Repository) Shows(revision string) (is, exists bool) {
	switch revision {
	case "", "HEAD", r.Branch, r.Also:
		return true, true
	}
	return r.Branch == "", slices.Contains(r.Others, revision) || !BranchName(revision)
}

// branchName is what may be the name of a branch, and not a commit, a version or a range of versions.
var (
	branchName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)
	noBranch   = regexp.MustCompile(`^(HEAD|[0-9a-f]{7,40}|v?\d+(\.(\d+|[xX]))*([-+].*)?)$|\.\.|//|/$|\.$|\.lock$|^refs/`)
)

// BranchName reports whether a revision is more likely the name of a branch than anything else.
func BranchName(revision string) bool {
	return branchName.MatchString(revision) && !noBranch.MatchString(revision)
}

// Seen is what charts and comparisons see of a cluster.
type Seen struct {
	// KubeVersion is its version, and APIVersions what it serves, as charts name it.
	KubeVersion string
	APIVersions []string
	// Has reads objects; nil without a cluster.
	Has Reader
}

// Reader reads what a cluster has.
type Reader interface {
	// Object returns an object of the kind; nil when there is none, or when it cannot be read.
	Object(ctx context.Context, id engine.ObjectID) *unstructured.Unstructured
	// ClusterWide reports whether a kind has no namespaces, if it knows the kind.
	ClusterWide(gvk schema.GroupVersionKind) (is, known bool)
}

// Scopes report which kinds have namespaces.
type Scopes interface {
	Scope(gvk schema.GroupVersionKind) (namespaced, known bool)
}

// Mark is how stand-ins of values begin that cannot be decrypted, and Masked is printed instead of a secret value.
const (
	Mark   = "encrypted-"
	Masked = "**"
)

// OfflineUnit is a unit as a repository declares it.
type OfflineUnit struct {
	Unit engine.Unit
	// Object declares it; Maker is what that was generated from, such as an ApplicationSet, if it was.
	Object, Maker *unstructured.Unstructured
	// Parent is the unit that declares that; zero for what the cluster begins with.
	Parent engine.UnitID
	// Tree is set for units that wait for others by their wave within the parent: they are shown as a tree.
	Tree bool
	Wave int
	// Chart says where its chart comes from, and Note what else made it; both may be empty.
	Chart Origin
	Note  string
	// Skipped is set when it was not rendered because its charts were not requested.
	Skipped bool
	// Elsewhere says, in one line, which source cannot be read without a cluster; it is empty when none is missing.
	Elsewhere string
	// Problems are what it asks for and does not get, Err is why it cannot be rendered, Advice what to try then.
	Problems []string
	Err      error
	Advice   string
	// Written is set if what it declares is in files, but for names and variables: these can be read even where Err is set.
	Written bool
	// Reads are the files of its source that it was rendered from, as far as they are known; Sealed is set if values in them could not be
	// decrypted, and stand-ins are in their places.
	Reads  []string
	Sealed bool
	// Objects are what it declares, Namespace where those are that name none, and Namespaces are created beside them.
	Objects    []*unstructured.Unstructured
	Namespace  string
	Namespaces []string
	// Handled are the objects that are not simply applied.
	Handled map[*unstructured.Unstructured]Handling
	// Shown are those of the objects that hold values of Secrets without being any, with Masked instead of these.
	Shown map[engine.ObjectID]*unstructured.Unstructured
	// Kept are the objects that are left as they are once they exist.
	Kept map[engine.ObjectID]bool
	// Compare is how its objects are compared with those of a cluster; nil for a dry run by the manager of Headgate.
	Compare Comparison
}

// Rendered reports whether Objects are all that there is.
func (u *OfflineUnit) Rendered() bool { return !u.Skipped && u.Elsewhere == "" && u.Err == nil }

// Held are the objects that the unit holds: those that are not hooks.
func (u *OfflineUnit) Held() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, o := range u.Objects {
		if !u.Handled[o].Passing {
			all = append(all, o)
		}
	}
	return all
}

// IDOf is an object of the unit where it is applied. Of an unknown kind it is assumed that it has namespaces.
func (u *OfflineUnit) IDOf(o *unstructured.Unstructured, kinds Scopes) engine.ObjectID {
	id := engine.IDOf(o)
	if id.Namespace != "" || u.Namespace == "" || id.Kind == "Namespace" {
		return id.In(u.Unit.Target.Cluster)
	}
	namespaced, known := false, false
	if kinds != nil {
		namespaced, known = kinds.Scope(o.GroupVersionKind())
	}
	if namespaced || !known {
		id.Namespace = u.Namespace
	}
	return id.In(u.Unit.Target.Cluster)
}

// Placed is an object of the unit where it is applied, as far as that is known without kinds.
func (u *OfflineUnit) Placed(o *unstructured.Unstructured) *unstructured.Unstructured {
	id := u.IDOf(o, nil)
	if id.Namespace == o.GetNamespace() {
		return o
	}
	o = o.DeepCopy()
	o.SetNamespace(id.Namespace)
	return o
}

// Handling says what happens to an object, where that is not simply an apply.
type Handling struct {
	// Role is what people read behind the name of the unit.
	Role string
	// Passing objects come and go: hooks. They are not compared with a cluster.
	Passing bool
	// Never applied objects are not validated.
	Never bool
	// DropUnknown objects are written in a way that drops unknown fields.
	DropUnknown bool
}

// Origin is where a chart comes from.
type Origin struct {
	Source engine.SourceID
	// Text is what people read.
	Text string
}

// Broken is an object that fails to give what it should.
type Broken struct {
	ID engine.ObjectID
	// Err is why it gives nothing, Problems are what is wrong with what it gives.
	Err      error
	Problems []string
}

// Finding is something that is wrong.
type Finding struct {
	// Never is set for a wait that never ends, Note for what is no problem here, though it may be one elsewhere.
	Never, Note bool
	// Declared is set for a wait that never ends because of dependencies alone that units declare on each other: a cycle of the graph.
	Declared bool
	// Steps say what is wrong: for a wait what cannot happen before what.
	Steps []string
	// Unit is the first one that has it, if any, and Field where its object has it.
	Unit  engine.UnitID
	Field string
	// About is what it is about where that is an object of the unit; Field is one of that then.
	About engine.ObjectID
	// Lacks is what no unit declares that is known to the end. Another one may declare it: what is wrong is wrong only if none does.
	Lacks engine.ObjectID
	// Perhaps is set where a controller may make what is lacking: it is worth a look, and no failure.
	Perhaps bool
}

// Comparison compares objects of one unit with those of a cluster.
type Comparison interface {
	// Check is why nothing can be compared, or nil.
	Check() error
	// Manager is the field manager under which they are applied.
	Manager() string
	// Placed is an object as it is applied; kinds without namespaces are not namespaced. A problem with it is printed.
	Placed(o *unstructured.Unstructured, namespaced bool) (placed *unstructured.Unstructured, problem error)
	// Differs reports whether a cluster would have to change an object: after is what a dry run of desired makes of live.
	Differs(ctx context.Context, desired, after, live *unstructured.Unstructured) (bool, error)
}

// Layouts is a Dialect that finds where repositories begin.
type Layouts interface {
	// Roots are those below dir of which one may be what a cluster begins with. Paths of units are relative to base.
	Roots(dir, base string) ([]Root, error)
	// Paths are those that units below dir read, relative to their repository.
	Paths(dir string) ([]string, error)
	// RootWord is what errors call such a root when there is none.
	RootWord() string
	// Top are the objects at the top of a directory that are applied as they are; none where a unit has to render it.
	Top(dir string) ([]*unstructured.Unstructured, error)
	// Repositories are the URLs of the repositories that root objects read and whose paths there are in a directory.
	Repositories(objects []*unstructured.Unstructured, dir string) []string
	// Readers are the objects in files below dir that read repositories, as far as they can be read without being rendered.
	Readers(dir string) ([]*unstructured.Unstructured, error)
	// Revisions are the branches, tags and commits by which objects read the repositories whose URLs are ours, once for each reader.
	Revisions(objects []*unstructured.Unstructured, ours func(url string) bool) []string
}

// Root is a file or a directory that a cluster may begin with.
type Root struct {
	// Path is relative to the directory that was searched.
	Path string
	// Declares are the files, relative to it as well, that declare the units of the root.
	Declares []string
	// Written is set if what it declares is in files, but for names and variables: these can be read even where Err is set.
	Written bool
	// Reads are the files, absolute, that the root leads to, as far as that is known without rendering.
	Reads map[string]bool
}

// Scans is a Dialect whose units can be rendered wherever in a repository they are declared, by which unit or none.
type Scans interface {
	// Scan returns the objects that declare units, as the files below a directory have them.
	Scan(dir string) ([]*unstructured.Unstructured, error)
}
