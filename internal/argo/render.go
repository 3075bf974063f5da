package argo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/virtual/builtin"
)

// buildEnvironment reports whether a source may have its revision in what it renders to.
func buildEnvironment(s v1alpha1.ApplicationSource) bool {
	return strings.Contains(encoded(s), "ARGOCD_APP_REVISION")
}

// asked is what an Application is rendered from.
type asked struct {
	manifests.Request
	charts *feeds.Charts
	// origins are the sources, as they can be verified again.
	origins []origin
}

// request gathers what an Application is rendered from. One that cannot be followed, such as one that its project does not
// permit, is rendered from nothing: no source of it is read, and no Secret. Nor is one with commits that no one signed who had to.
func (d *driver) request(ctx context.Context, a *app, fresh bool) (*asked, error) {
	s, declared := d.settings.Now(), a.snapshot()
	if len(declared.invalid) > 0 {
		return nil, &failure{
			condition: v1alpha1.ApplicationConditionInvalidSpecError, err: errors.New(messages(declared.invalid)), lasting: true,
		}
	}
	obj, sources, keys := declared.obj, declared.sources, declared.keys
	r := &asked{Request: manifests.Request{
		App: manifests.App{
			Name: obj.Name, Namespace: obj.Spec.Destination.Namespace, Project: obj.Spec.Project,
			KubeVersion: d.version, APIVersions: d.served.Versions(),
		},
		Multiple: len(obj.Spec.Sources) > 0, Options: manifests.OptionsOf(s), Sandbox: d.Sandbox.For(obj.Spec.Project, a.id.String()),
		Egress: d.Egress.Fetches,
	}}
	for i, k := range keys {
		state, made := d.feeds.Get(k), manifests.BuiltIn(nil)
		if k.Kind == feeds.BuiltIn {
			made = builtin.Object
		}
		if !state.Has() {
			return nil, fmt.Errorf("%s: not fetched", sourceName(keys, i))
		}
		r.origins = append(r.origins, d.origin(k, state, nameAmong(sources, i)))
		r.Sources = append(r.Sources, manifests.Source{
			Spec: sources[i], Tree: state.Tree, Chart: state.Chart, BuiltIn: made, Revision: state.Revision,
		})
	}
	if err := d.signed(a, r.origins); err != nil {
		return nil, err
	}
	r.Options.NoRemoteBases = d.options.NoRemoteBases
	if d.Substitutes != nil {
		r.Options.LeaveOut, r.Options.StandIns = d.Substitutes.LeaveOut(a.id), true
	}
	r.Elsewhere = render.NewElsewhere(d.remotes(a), fresh)
	var err error
	r.Decrypt, err = d.keys(ctx, a.id, obj)
	r.Decrypt = r.Decrypt.Within(d.Egress.Fetches)
	r.charts = d.feeds.Charts(obj.Spec.Project, declared.project).For(a.id.String())
	r.Charts = r.charts
	return r, err
}

// render renders, unless the sources would give the same again.
func (d *driver) render(ctx context.Context, a *app, r *asked) (*manifests.Result, error) {
	options := optionsDigest(r.Request)
	was := a.job.rendered
	if was != nil && a.job.options == options && !was.Volatile && was.Unchanged(r.Sources) {
		return was, nil
	}
	if was != nil {
		// What was read elsewhere is likely to be read again.
		if _, err := r.Elsewhere.Before(ctx, was.Elsewhere); err != nil {
			return nil, err
		}
	}
	var result *manifests.Result
	err := r.Elsewhere.Complete(ctx, func() (err error) {
		result, err = d.renderCharted(ctx, a, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	a.job.rendered, a.job.options = result, options
	return result, nil
}

// renderCharted renders, and again when the charts that it requested have arrived.
func (d *driver) renderCharted(ctx context.Context, a *app, r *asked) (*manifests.Result, error) {
	defer d.keepCharts(a, r.charts)
	for {
		result, err := d.renderOnce(ctx, r.Request)
		if !errors.Is(err, feeds.ErrPending) {
			return result, err
		}
		if err := r.charts.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// keepCharts keeps the charts of the last render alone, and none for an Application that is gone.
func (d *driver) keepCharts(a *app, charts *feeds.Charts) {
	charts.Keep()
	if d.apps.get(a.id) == nil {
		charts.For(a.id.String()).Keep()
	}
}

// renderOnce renders, when a processor is free. Projects share them.
func (d *driver) renderOnce(ctx context.Context, r manifests.Request) (*manifests.Result, error) {
	turn, free := d.renders.Take(ctx, r.App.Project)
	if !free {
		return nil, context.Cause(ctx)
	}
	defer turn.End()
	return d.renderer.Render(ctx, r)
}

// objects are those that are declared, with what stands for them: of a request that brings objects of its own, those.
func (d *driver) objects(a *app, result *manifests.Result) ([]*unstructured.Unstructured, string, error) {
	if sync := operationOf(a.now()); sync != nil && len(sync.Manifests) > 0 {
		objects, err := parseManifests(sync.Manifests)
		return objects, digest(encoded(sync.Manifests)), err
	}
	// An empty list is an answer, none would be none.
	return slices.Concat([]*unstructured.Unstructured{}, result.Objects), result.Digest, nil
}

func parseManifests(texts []string) ([]*unstructured.Unstructured, error) {
	objects := []*unstructured.Unstructured{}
	for i, text := range texts {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(text)); err != nil {
			return nil, &failure{condition: v1alpha1.ApplicationConditionSyncError, err: fmt.Errorf("operation.sync.manifests[%d]: %w", i, err), lasting: true}
		}
		objects = append(objects, u)
	}
	return objects, nil
}

// optionsDigest stands for everything of a request but its sources' content.
func optionsDigest(r manifests.Request) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%+v %v %+v %v", r.App, r.Multiple, r.Options.Kustomize, r.Options.Jsonnet)
	for _, s := range r.Sources {
		text.WriteString(encoded(s.Spec))
		if s.BuiltIn != nil {
			text.WriteString(string(feeds.BuiltIn))
		}
		if buildEnvironment(s.Spec) {
			text.WriteString(s.Revision)
		}
	}
	if r.Decrypt != nil {
		text.WriteString("decrypted")
	}
	return digest(text.String())
}
