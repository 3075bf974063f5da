package offline

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/appset"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/source"
)

// decryption is the annotation by which an Application asks for decryption.
const decryption = "headgate.dev/decryption"

// render makes the objects of an Application.
func (w *walk) render(ctx context.Context, a *App) {
	project := a.Spec.Spec.Project
	fetches := w.options.Elsewhere != nil && w.options.Fetch != nil && w.options.Fetch(a.ID)
	r := manifests.Request{
		App: manifests.App{
			Name: a.ID.Name, Namespace: a.Spec.Spec.Destination.Namespace, Project: project,
			KubeVersion: w.options.KubeVersion, APIVersions: w.options.APIVersions,
		},
		Multiple: len(a.Spec.Spec.Sources) > 0, Options: manifests.OptionsOf(w.options.Settings), Charts: noCharts{},
	}
	if fetches {
		r.Charts = w.options.Elsewhere.Charts(project)
	}
	if a.Spec.Annotations[decryption] != "" {
		r.Decrypt = w.options.Decrypt
	}
	var ours []int
	for i, spec := range sourcesOf(a.Spec) {
		from, own, err := w.source(ctx, spec, project, fetches)
		if err != nil {
			a.fail(fmt.Errorf("%s: %w", named(a.Spec, i, spec), err))
			return
		}
		if own {
			ours = append(ours, i)
		}
		r.Sources = append(r.Sources, from)
	}
	result, err := w.renderer.Render(ctx, r)
	if err != nil {
		a.fail(err)
		return
	}
	a.Objects, a.Problems = result.Objects, result.Problems
	for _, i := range ours {
		for _, file := range result.Reads[i].Paths() {
			w.out.read[file] = true
		}
	}
}

// named is what errors call a source.
func named(app *v1alpha1.Application, i int, spec v1alpha1.ApplicationSource) string {
	if len(app.Spec.Sources) == 0 {
		return "spec.source (" + spec.RepoURL + ")"
	}
	return fmt.Sprintf("spec.sources[%d] (%s)", i, spec.RepoURL)
}

// fail notes why an Application has no objects.
func (a *App) fail(err error) {
	if errors.Is(err, ErrNotFetched) {
		a.Skipped = err.Error()
		return
	}
	a.Err = err
}

// source finds what a source names: in the working copy, or elsewhere.
func (w *walk) source(ctx context.Context, spec v1alpha1.ApplicationSource, project string, fetches bool) (from manifests.Source, own bool, err error) {
	if spec.Chart == "" && w.options.Ours(spec.RepoURL) {
		return manifests.Source{Spec: spec, Tree: w.options.Tree, Revision: "HEAD"}, true, nil
	}
	if !fetches {
		return manifests.Source{}, false, ErrNotFetched
	}
	from, err = w.options.Elsewhere.Source(ctx, spec, project)
	return from, false, err
}

// noCharts has none.
type noCharts struct{}

// Chart says that nothing is fetched.
func (noCharts) Chart(_ context.Context, repo, name, version string) (data []byte, resolved string, err error) {
	return nil, "", fmt.Errorf("chart %s %s of %s: %w", name, version, repo, ErrNotFetched)
}

// generate makes the Applications of an ApplicationSet.
func (w *walk) generate(ctx context.Context, o *unstructured.Unstructured, from App) {
	out := Set{ID: engine.IDOf(o)}
	defer func() { w.out.Sets = append(w.out.Sets, out) }()
	set, err := appset.Read(o)
	if err != nil {
		out.Err = err
		return
	}
	s := w.options.Settings
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
		a.Set = o.GetName()
		w.enter(app, a)
	}
}

// facts are what generators read.
type facts struct{ w *walk }

// Clusters are those of the settings.
func (f facts) Clusters(context.Context) ([]settings.Cluster, error) {
	return f.w.options.Settings.Every(), nil
}

// Tree is the working copy, or what is fetched from elsewhere.
func (f facts) Tree(ctx context.Context, repoURL, revision, project string) (*source.Tree, string, error) {
	o := f.w.options
	if o.Ours(repoURL) {
		return o.Tree, "HEAD", nil
	}
	if o.Elsewhere == nil {
		return nil, "", fmt.Errorf("%s: %w", repoURL, ErrNotFetched)
	}
	from, err := o.Elsewhere.Source(ctx, v1alpha1.ApplicationSource{RepoURL: repoURL, TargetRevision: revision}, project)
	return from.Tree, from.Revision, err
}
