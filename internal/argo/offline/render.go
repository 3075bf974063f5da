package offline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/appset"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/bases"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/source"
)

// render makes the objects of an Application.
func (w *Walk) render(ctx context.Context, a *app) {
	project := a.spec.Spec.Project
	if w.treeErr != nil {
		a.fail(w.treeErr)
		return
	}
	fetches := w.network != nil && w.repository.Fetch != nil && w.repository.Fetch(a.id)
	r := manifests.Request{
		App: manifests.App{
			Name: a.id.Name, Namespace: a.spec.Spec.Destination.Namespace, Project: project,
			KubeVersion: w.repository.Cluster.KubeVersion, APIVersions: w.repository.Cluster.APIVersions,
		},
		Multiple: len(a.spec.Spec.Sources) > 0, Options: manifests.OptionsOf(w.settings), Charts: noCharts{},
		Sandbox: w.repository.Sandbox.For(project, a.id.String()),
	}
	if fetches {
		r.Charts = w.network.Charts(project, w.permission(a.spec))
	}
	var err error
	if r.Decrypt, err = w.keys(a.spec); err != nil {
		a.fail(err)
		return
	}
	var ours []int
	for i, spec := range sourcesOf(a.spec) {
		from, own, err := w.source(ctx, spec, project, fetches)
		if err != nil {
			a.fail(fmt.Errorf("%s: %w", named(a.spec, i, spec), err))
			return
		}
		if own {
			ours = append(ours, i)
		}
		r.Sources = append(r.Sources, from)
	}
	result, err := w.build(ctx, a, r)
	if err != nil {
		a.fail(err)
		return
	}
	a.objects, a.problems = result.Objects, result.Problems
	for _, i := range ours {
		for _, file := range result.Reads[i].Paths() {
			w.read[file] = true
		}
	}
}

// build renders an Application, with what its kustomizations name elsewhere.
func (w *Walk) build(ctx context.Context, a *app, r manifests.Request) (result *manifests.Result, err error) {
	remotes := w.bases.Reader(bases.Unit{
		Owner: a.id.String(), Share: a.spec.Spec.Project, Reach: bases.Anonymous{Rules: rules{w.repository.Rewrites}},
	})
	r.Options.NoRemoteBases, r.Elsewhere = w.NoRemoteBases, render.NewElsewhere(remotes, false)
	err = r.Elsewhere.Complete(ctx, func() (err error) {
		result, err = w.renderer.Render(ctx, r)
		return err
	})
	return result, err
}

// rules send fetches elsewhere.
type rules struct{ source.Rewrites }

// Rewritten is where a URL is fetched from.
func (r rules) Rewritten(url string) string { return r.Apply(url) }

// keys are those of the user, where the Application requests decryption, and its project permits that as far as it is known.
func (w *Walk) keys(app *v1alpha1.Application) (*decrypt.Keys, error) {
	name, err := policy.DecryptionSecret(app)
	if err != nil || name == "" {
		return nil, err
	}
	if project := w.project(app); project != nil {
		if err := project.PermitsDecryption(app, Namespace); err != nil {
			return nil, err
		}
	}
	return w.decrypt, nil
}

// named is what errors call a source.
func named(app *v1alpha1.Application, i int, spec v1alpha1.ApplicationSource) string {
	if len(app.Spec.Sources) == 0 {
		return "spec.source (" + spec.RepoURL + ")"
	}
	return fmt.Sprintf("spec.sources[%d] (%s)", i, spec.RepoURL)
}

// fail notes why an Application has no objects.
func (a *app) fail(err error) {
	if errors.Is(err, ErrNotFetched) {
		a.skipped = err.Error()
		return
	}
	a.err = err
}

// ours reports whether a URL is that of the working copy.
func (w *Walk) ours(url string) bool {
	return w.tree != nil && w.repository.Ours != nil && w.repository.Ours(url)
}

// shown refuses revisions of the working copy's repository other than those under which it is served. What there is beside it is read by
// nothing here.
func (w *Walk) shown(revision string) error {
	revision = strings.TrimPrefix(revision, "refs/heads/")
	switch is, exists := w.repository.Shows(revision); {
	case is:
		return nil
	case exists:
		return fmt.Errorf("%w: it names %q, and %q is checked out", ErrNotFetched, revision, w.repository.Branch)
	}
	return fmt.Errorf("the repository has no branch or tag %q; the working copy is on %q", revision, w.repository.Branch)
}

// source finds what a source names: in the working copy, or elsewhere.
func (w *Walk) source(ctx context.Context, spec v1alpha1.ApplicationSource, project string, fetches bool) (from manifests.Source, own bool, err error) {
	if spec.Chart == "" && w.ours(spec.RepoURL) {
		if err := w.shown(spec.TargetRevision); err != nil {
			return manifests.Source{}, false, err
		}
		return manifests.Source{Spec: spec, Tree: w.tree, Revision: "HEAD"}, true, nil
	}
	if !fetches {
		return manifests.Source{}, false, ErrNotFetched
	}
	from, err = w.network.Source(ctx, spec, project)
	return from, false, err
}

// noCharts has none.
type noCharts struct{}

// Chart says that nothing is fetched.
func (noCharts) Chart(_ context.Context, repo, name, version string) (data []byte, resolved string, err error) {
	return nil, "", fmt.Errorf("chart %s %s of %s: %w", name, version, repo, ErrNotFetched)
}

// generate makes the Applications of an ApplicationSet.
func (w *Walk) generate(ctx context.Context, o *unstructured.Unstructured, from app) {
	out := dialect.Broken{ID: engine.IDOf(o)}
	defer func() {
		if out.Err != nil || len(out.Problems) > 0 {
			w.sets = append(w.sets, out)
		}
	}()
	set, err := appset.Read(o)
	if err != nil {
		out.Err = err
		return
	}
	s := w.settings
	generated, err := appset.Generate(ctx, set, facts{w}, appset.Options{
		HiddenDirectories: s.Fetching.HiddenDirectories, NewGlobbing: s.AppSets.NewGlobbing,
	})
	if err != nil {
		out.Err = err
		return
	}
	for _, p := range generated.Problems {
		out.Problems = append(out.Problems, p.Message)
	}
	for _, app := range generated.Applications {
		app = app.DeepCopy()
		app.SetNamespace(o.GetNamespace())
		a := from
		a.set = o
		w.enter(app, a)
	}
}

// facts are what generators read.
type facts struct{ w *Walk }

// Clusters are those of the settings.
func (f facts) Clusters(context.Context) ([]settings.Cluster, error) {
	return f.w.settings.Every(), nil
}

// Tree is the working copy, or what is fetched from elsewhere.
func (f facts) Tree(ctx context.Context, repoURL, revision, project string) (*source.Tree, string, error) {
	if f.w.ours(repoURL) {
		if err := f.w.shown(revision); err != nil {
			return nil, "", err
		}
		return f.w.tree, "HEAD", nil
	}
	if f.w.network == nil {
		return nil, "", fmt.Errorf("%s: %w", repoURL, ErrNotFetched)
	}
	from, err := f.w.network.Source(ctx, v1alpha1.ApplicationSource{RepoURL: repoURL, TargetRevision: revision}, project)
	return from.Tree, from.Revision, err
}
