package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/lint"
	"github.com/headgate-dev/headgate/internal/argo/offline"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/source"
)

// place is where a repository begins, with the objects of its root where these are applied as they are.
type place struct {
	flux.Layout
	objects []*unstructured.Unstructured
}

// argo tells whether the root is one of Argo CD.
func (p place) argo() bool { return offline.IsRoot(p.objects) }

// ours tells which URLs name the working copy, which has these remotes: theirs, and those that the root names it by.
func (p place) ours(remotes []string) func(url string) bool {
	urls := append(slices.Clone(remotes), adopted(p.objects, p.Repository, remotes)...)
	return func(url string) bool {
		return slices.ContainsFunc(urls, func(own string) bool { return gitserver.SameRepository(own, url) })
	}
}

// locate finds where the repository in the directory begins.
func (o offlineOptions) locate() (place, error) {
	layout, err := flux.FindLayout(o.dir, o.root, offline.Layouts{})
	if err != nil {
		return place{}, helpful(err)
	}
	objects, err := rootObjects(layout)
	return place{layout, objects}, err
}

// locateArgo finds the repository of an Argo CD. It is false when the directory is of another dialect, and no Application is
// requested.
func (o offlineOptions) locateArgo() (place, bool, error) {
	p, err := o.locate()
	if o.only == "" || err == nil && p.argo() {
		return p, err == nil && p.argo(), err
	}
	ref, asked := o.parseReference(o.only, o.namespace)
	if asked != nil || ref.groupKind() != applicationKind || err != nil && !errors.Is(err, flux.ErrNoRoot) {
		return p, false, err
	}
	// Nothing leads to the Application for certain, but it can be rendered all the same.
	found, err := offline.Scan(o.dir)
	if err != nil {
		return p, false, err
	}
	if p.Repository == "" {
		p.Repository = o.dir
	}
	p.objects = nil
	for _, d := range found {
		p.objects = append(p.objects, d.Object)
	}
	if !p.argo() {
		return p, false, hint(fmt.Errorf("%s contains no Applications", o.dir), "headgate render PATH app/NAME")
	}
	return p, true, nil
}

// repository reads a repository of an Argo CD.
func (o offlineOptions) repository(ctx context.Context, p place) (*offline.Repository, error) {
	found, err := offline.FindSettings(p.Repository)
	if err != nil {
		fmt.Fprintf(o.io.Err, "· settings: %s\n", err)
	}
	return o.walk(ctx, p, found)
}

func (o offlineOptions) walk(ctx context.Context, p place, s settings.Settings) (*offline.Repository, error) {
	options, err := o.options()
	if err != nil {
		return nil, err
	}
	if options.Rewrites, err = o.local.start(ctx, options.Rewrites); err != nil {
		return nil, err
	}
	defer func() { _ = o.local.stop(ctx) }()
	w := offline.Options{
		Settings: s, KubeVersion: options.KubeVersion, APIVersions: options.APIVersions, Alone: o.alone, Fetch: options.Releases,
		Ours: func(string) bool { return false },
	}
	if p.Repository != "" {
		shown, err := gitserver.Look(ctx, p.Repository)
		if err != nil {
			return nil, err
		}
		if w.Tree, err = (source.Directory{Path: p.Repository, Only: shown.Files}).Tree(source.Selection{}); err != nil {
			return nil, err
		}
		w.Ours = p.ours(shown.Remotes)
	}
	if w.Decrypt, err = o.keys(); err != nil {
		return nil, err
	}
	if o.charts || o.only != "" {
		spill, err := os.MkdirTemp("", "headgate-")
		if err != nil {
			return nil, fmt.Errorf("creating a directory for fetched content: %w", err)
		}
		defer func() { _ = os.RemoveAll(spill) }()
		network := offline.NewNetwork(ctx, s, options.Rewrites, spill)
		defer network.Close()
		w.Elsewhere = network
	}
	return offline.Walk(ctx, p.objects, w)
}

// keys are those by which Applications are decrypted; nil without a file of them.
func (o offlineOptions) keys() (*decrypt.Keys, error) {
	if o.ageKeyFile == "" {
		return nil, nil
	}
	data, err := os.ReadFile(o.ageKeyFile)
	if err != nil {
		return nil, fmt.Errorf("reading the age key: %w", err)
	}
	keys, err := decrypt.NewKeys(map[string][]byte{"age.agekey": data})
	if err != nil {
		return nil, fmt.Errorf("--age-key-file: %w", err)
	}
	return keys, nil
}

// chosen are the requested Applications, or all of them.
func (o offlineOptions) chosen(r *offline.Repository) ([]offline.App, error) {
	if o.only == "" {
		return r.Apps, nil
	}
	ref, err := o.parseReference(o.only, o.namespace)
	if err != nil {
		return nil, err
	}
	if ref.groupKind() != applicationKind {
		return nil, hint(fmt.Errorf("%s is not in the repository, which is one of Argo CD", ref), "headgate graph PATH")
	}
	app, found := r.Find(ref.id())
	if !found {
		return nil, hint(fmt.Errorf("the repository declares no %s%s", ref, brokenSets(r)), "headgate graph PATH")
	}
	return []offline.App{*app}, nil
}

// brokenSets names the ApplicationSets that generate nothing.
func brokenSets(r *offline.Repository) string {
	var texts []string
	for _, s := range r.Sets {
		if s.Err != nil {
			texts = append(texts, fmt.Sprintf("; %s generates nothing: %s", s.ID, s.Err))
		}
	}
	return strings.Join(texts, "")
}

// renderArgo prints what Applications would apply.
func (o offlineOptions) renderArgo(ctx context.Context, p place, secrets bool) error {
	r, err := o.repository(ctx, p)
	if err != nil {
		return err
	}
	apps, err := o.chosen(r)
	if err != nil {
		return err
	}
	failed := o.tellSets(r)
	for _, a := range apps {
		switch {
		case a.Err != nil:
			failed = true
			fmt.Fprintf(o.io.Err, "✗ %s: %v\n", a.ID, a.Err)
		case a.Skipped != "":
			fmt.Fprintf(o.io.Err, "· %s: %s; --charts fetches it\n", a.ID, a.Skipped)
		}
		for _, problem := range a.Problems {
			fmt.Fprintf(o.io.Err, "· %s: %s\n", a.ID, problem)
		}
		for _, object := range a.Objects {
			if err := renderObject(o.io, a.ID.String()+role(object), object, secrets); err != nil {
				return err
			}
		}
	}
	if failed {
		return errNo
	}
	return nil
}

// tellSets prints the problems of ApplicationSets, and reports whether there are any, unless an Application is requested.
func (o offlineOptions) tellSets(r *offline.Repository) bool {
	failed := false
	for _, s := range r.Sets {
		if o.only != "" {
			break
		}
		if s.Err != nil {
			failed = true
			fmt.Fprintf(o.io.Err, "✗ %s: %v\n", s.ID, s.Err)
		}
		for _, problem := range s.Problems {
			failed = true
			fmt.Fprintf(o.io.Err, "✗ %s: %s\n", s.ID, problem)
		}
	}
	return failed
}

// role is what an object is in a sync, when it is something else than an object.
func role(o *unstructured.Unstructured) string {
	hook := operation.HookOf(o)
	switch {
	case hook.Skip:
		return ", never applied"
	case !hook.Is:
		return ""
	}
	var phases []string
	for _, phase := range hook.Phases {
		phases = append(phases, string(phase))
	}
	return ", hook of " + orWord(strings.Join(phases, ", "), "no phase")
}

// scopes tell which kinds have namespaces.
type scopes interface {
	Scope(gvk schema.GroupVersionKind) (namespaced, known bool)
}

// findings are what is wrong with a repository of an Argo CD. Without scopes, nothing is said of namespaces.
func findings(r *offline.Repository, kinds scopes) []lint.Finding {
	var apps []lint.App
	for i := range r.Apps {
		apps = append(apps, lintApp(&r.Apps[i], kinds))
	}
	return lint.Check(apps)
}

func lintApp(a *offline.App, kinds scopes) lint.App {
	out := lint.App{ID: a.ID, Parent: a.Parent, Wave: a.Wave}
	cluster := ""
	if a.Spec != nil {
		cluster = clusterOf(a.Spec.Spec.Destination)
		if name := a.Spec.Spec.Destination.Namespace; name != "" && policy.OptionsOf(a.Spec, nil).CreateNamespace {
			out.Namespace = engine.ObjectID{Kind: "Namespace", Name: name, Cluster: cluster}
		}
	}
	out.Depends, _ = engine.ParseDependsOn(a.Object.GetAnnotations()["headgate.dev/depends-on"], a.ID.Namespace)
	for _, o := range a.Objects {
		hook := operation.HookOf(o)
		if hook.Skip {
			continue
		}
		object := lint.Object{ID: engine.IDOf(o), Hook: hook.Is, Phase: hook.Order(), Wave: operation.WaveOf(o.GetAnnotations())}
		object.Defines, _ = engine.DefinedKind(o)
		object.ID = object.ID.In(cluster)
		namespaced, known := true, false
		if kinds != nil {
			namespaced, known = kinds.Scope(o.GroupVersionKind())
		}
		if object.ID.Namespace == "" && a.Spec != nil && (namespaced || !known) && object.ID.Kind != "Namespace" {
			// Of kinds without namespaces it does no harm: the same object gets the same one within one destination.
			object.ID.Namespace = a.Spec.Spec.Destination.Namespace
		}
		if known && namespaced && object.ID.Namespace != "" {
			object.Needs = engine.ObjectID{Kind: "Namespace", Name: object.ID.Namespace, Cluster: cluster}
		}
		out.Objects = append(out.Objects, object)
	}
	return out
}

// clusterOf is the cluster of a destination, empty for that of the Argo CD itself.
func clusterOf(d v1alpha1.ApplicationDestination) string {
	if d.Server == settings.InClusterServer || d.Name == settings.InClusterName {
		return ""
	}
	return d.Server + d.Name
}
