// Package manifests makes the objects of an Application of Argo CD from its sources: charts, kustomizations, and
// directories of YAML, JSON and Jsonnet. It is given trees and packed charts, and what was fetched from elsewhere, and asks for no more than further charts.
//
// A render is a function of the request; it records what it read, so that a commit that touches none of that need not
// be rendered again. It refuses programs (config-management plugins, plugins of kustomize), URLs of files, paths that
// leave a tree, and it writes nothing. What an object is for, such as a hook, is not its concern.
package manifests

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/source"
)

// Request are the sources of one Application at their revisions.
type Request struct {
	App App
	// Sources are spec.sources, or spec.source alone.
	Sources []Source
	// Multiple is set when the Application has spec.sources; errors name fields by it.
	Multiple bool
	Options  Options
	// Charts fetches charts that are in none of the sources; without it they are an error.
	Charts Charts
	// Elsewhere is what kustomizations name outside their source. Without it nothing is read there.
	Elsewhere *render.Elsewhere
	// Decrypt are keys for what SOPS encrypted. Without them, something encrypted is an error.
	Decrypt *decrypt.Keys
	// Sandbox is where charts and Jsonnet are evaluated; in this process without it.
	Sandbox *sandbox.Client
	// Egress is where schemas may be that charts refer to: anywhere by default.
	Egress egress.Rules
}

// App is what the sources know of their Application and its cluster.
type App struct {
	// Name is that of the Application, Namespace that of its destination, and Project that of its AppProject.
	Name, Namespace, Project string
	// KubeVersion is the version of the cluster, such as v1.36.3; Helm's own default when it is empty.
	KubeVersion string
	// APIVersions are what the cluster serves: "group/version" and "group/version/Kind".
	APIVersions []string
}

// Options are settings of the installation that affect renders.
type Options struct {
	Kustomize settings.Kustomize
	Helm      settings.Helm
	// Jsonnet is false where files of Jsonnet are not evaluated.
	Jsonnet bool
	// NoRemoteBases refuses kustomizations that read outside their tree, and LeaveOut, when set, leaves such
	// entries out and is called with them.
	NoRemoteBases bool
	LeaveOut      func(what, entry string)
	// StandIns is set where charts may be stand-ins, which are completed after patches.
	StandIns bool
}

// OptionsOf takes the options from the settings of an installation.
func OptionsOf(s settings.Settings) Options {
	return Options{Kustomize: s.Kustomize, Helm: s.Helm, Jsonnet: s.Jsonnet}
}

// Source is one source at its revision.
type Source struct {
	Spec v1alpha1.ApplicationSource
	// Tree is that of the repository or of the OCI artifact; nil for a chart.
	Tree *source.Tree
	// Chart is a packed chart, for a source that is one.
	Chart []byte
	// BuiltIn, when set, makes the object of a source that is a chart, instead of the chart.
	BuiltIn BuiltIn
	// Revision is what the target revision stands for: a commit, the version of a chart, a digest.
	Revision string
}

// Charts fetches packed charts.
type Charts interface {
	// Chart returns the chart of a name in a repository, http, https or oci, and the version that it has. version may be
	// a range, or empty for the newest. Its errors can be found with errors.Is in those of a render. It should answer at
	// once, with an error that says that the chart is on its way if need be: other builds may wait for this one.
	Chart(ctx context.Context, repo, name, version string) (data []byte, resolved string, err error)
}

// Result is what an Application renders to. Its objects must not be changed.
type Result struct {
	// Objects are those of all sources in their order. Of duplicates the last one is among them.
	Objects []*unstructured.Unstructured
	// Duplicates are the objects that were there more than once, by how many there were.
	Duplicates map[engine.ObjectID]int
	// Types are Helm, Kustomize or Directory for each source, and empty for one that others only refer to.
	Types []v1alpha1.ApplicationSourceType
	// Reads are what was read of each source's tree.
	Reads []render.ReadSet
	// Digest is "sha256:" and the hex digest of the objects.
	Digest string
	// Inputs is "sha256:" and the hex digest of everything that the objects were made of: the request but for what was
	// not read of its trees, and fetched charts.
	Inputs string
	// Volatile is set when something was read that may change without a source doing so: a remote base, or a chart by a
	// range of versions.
	Volatile bool
	// Elsewhere is what kustomizations read outside their source.
	Elsewhere map[render.Remote]*render.Fetched
	// Images are those of the containers of the objects, sorted.
	Images []string
	// Problems are what was requested and is not done, by the field that requests it; sorted.
	Problems []string
	// Charts are the charts that were rendered, in their order.
	Charts []Chart
	// BuiltIn are the objects that were made instead of charts.
	BuiltIn []*unstructured.Unstructured

	sources []seen
}

// Chart is a chart that was rendered, as a source or in a kustomization.
type Chart struct {
	Name string
	// Namespace is that of the release.
	Namespace string
	// Values are those that it was given beyond its own. They may hold what was decrypted.
	Values map[string]any
}

// Renderer renders. It is safe for concurrent use.
type Renderer struct{ kustomize *render.Renderer }

// New returns a Renderer.
func New() *Renderer { return &Renderer{kustomize: render.New()} }

// With returns a Renderer that shares the builds of kustomize with another dialect: a schema that a kustomization
// brings is kept for the process, and the builds of one render.Renderer know of each other.
func With(kustomize *render.Renderer) *Renderer { return &Renderer{kustomize: kustomize} }

// Error is a failure of one source.
type Error struct {
	// Source is what it is called in the Application: spec.source or spec.sources[1].
	Source string
	// Field is that of the source that is to blame, such as helm.valueFiles[0]; it may be empty.
	Field string
	// Types are what builds the sources, as far as that was found out; empty for those after the one that failed.
	Types []v1alpha1.ApplicationSourceType
	Err   error
}

// Error names the source and its field.
func (e *Error) Error() string {
	at := e.Source
	if e.Field != "" && at != "" {
		at += "."
	}
	return at + e.Field + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fieldError is an Error that gets its source later.
func fieldError(field, format string, args ...any) error {
	return &Error{Field: field, Err: fmt.Errorf(format, args...)}
}

// Render renders the sources one after the other. The error is an *Error that names the source, its field and the file.
func (r *Renderer) Render(ctx context.Context, request Request) (*Result, error) {
	run := &run{renderer: r, request: &request, readers: make([]*render.Reader, len(request.Sources))}
	for i, s := range request.Sources {
		if s.Tree != nil {
			run.readers[i] = render.NewReader(s.Tree)
		}
	}
	out := &Result{Types: make([]v1alpha1.ApplicationSourceType, len(request.Sources))}
	for i := range request.Sources {
		j := run.job(i)
		objects, kind, err := j.render(ctx)
		out.Types[i] = kind
		if err != nil {
			located := run.located(i, err)
			located.Types = out.Types
			return nil, located
		}
		out.Objects = append(out.Objects, objects...)
		out.sources = append(out.sources, j.seen())
	}
	for i := range out.sources {
		reads := render.ReadSet{}
		if run.readers[i] != nil {
			reads = run.readers[i].Reads()
		}
		out.Reads = append(out.Reads, reads)
	}
	out.Volatile, out.Charts, out.BuiltIn, out.Elsewhere = run.volatile, run.charts, run.builtIns, run.elsewhere
	slices.Sort(run.problems)
	out.Problems = slices.Compact(run.problems)
	return out, out.finish(run)
}

// run is the render of one request.
type run struct {
	renderer *Renderer
	request  *Request
	readers  []*render.Reader
	// volatile, problems and fetched are gathered on the way; fetched are the digests of charts.
	volatile bool
	problems []string
	fetched  []string
	charts   []Chart
	builtIns []*unstructured.Unstructured
	// elsewhere is what was read outside the sources.
	elsewhere map[render.Remote]*render.Fetched
}

// name is what a source is called in its Application.
func (r *run) name(i int) string {
	if r.request.Multiple || len(r.request.Sources) > 1 {
		return fmt.Sprintf("spec.sources[%d]", i)
	}
	return "spec.source"
}

// located is an error that names its source.
func (r *run) located(i int, err error) *Error {
	var known *Error
	if errors.As(err, &known) && known.Source == "" && err == error(known) { //nolint:errorlint // only the outermost error gets the name
		return &Error{Source: r.name(i), Field: known.Field, Err: known.Err}
	}
	return &Error{Source: r.name(i), Err: err}
}
