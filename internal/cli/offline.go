package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/offline"
	"github.com/headgate-dev/headgate/internal/source"
)

// offlineOptions are those of commands that read a directory.
type offlineOptions struct {
	*globals
	dir, root, ageKeyFile string
	// charts renders every HelmRelease; only is KIND/NAME of the one requested unit, in namespace.
	charts          bool
	only, namespace string
	rewrite         []string
	local           localCharts
	rules           policyFlags
	// cluster is what is known of the cluster that is compared with.
	cluster dialect.Seen
	// masks hides values of Secrets, marks replaces those that cannot be decrypted.
	masks, marks bool
	// alone leaves out what an Application leads to.
	alone bool
	// folder is the directory where only a unit is named.
	folder string
}

// aim reads [PATH] [KIND/NAME]: what names a unit, and is no directory, stands alone.
func (o *offlineOptions) aim(args []string) {
	o.dir = orWord(o.folder, ".")
	if len(args) == 1 {
		if _, err := os.Stat(args[0]); err != nil && strings.Contains(args[0], "/") {
			if _, err := o.parseReference(args[0], o.namespace); err == nil {
				o.only = args[0]
				return
			}
		}
	}
	if len(args) > 0 {
		o.dir = args[0]
	}
	if len(args) > 1 {
		o.only = args[1]
	}
}

func bindOffline(cmd *cobra.Command, o *offlineOptions) {
	cmd.Flags().StringVar(&o.root, "path", "", "directory of the root, or a file of root objects (default: search for it)")
	cmd.Flags().StringVar(&o.ageKeyFile, "age-key-file", "", "file with age identities to decrypt with")
	o.rules.bind(cmd.Flags())
}

// bindCharts adds the flags of commands that render HelmReleases, or one of them.
func bindCharts(cmd *cobra.Command, o *offlineOptions) {
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", defaultNamespace, "namespace of the unit")
	bindFetches(cmd, o)
}

// bindFetches adds the flags that say which charts are fetched, and from where.
func bindFetches(cmd *cobra.Command, o *offlineOptions) {
	cmd.Flags().BoolVar(&o.charts, "charts", false, "fetch the charts of all HelmReleases and render them too")
	o.local.bind(cmd.Flags())
	cmd.Flags().StringArrayVar(&o.rewrite, "rewrite", nil, "redirect fetches of charts: FROM=TO, both URL prefixes (repeatable)")
}

// walk walks the repository in the directory, or what can be found in it of the requested unit. The caller closes it.
func (o offlineOptions) walk(ctx context.Context) (*offline.Walk, error) {
	if err := o.rules.check(); err != nil {
		return nil, err
	}
	o.rules.configure(o.catalogue)
	p, err := o.locate()
	var missing error
	if errors.Is(err, offline.ErrNoRoot) && o.only != "" {
		missing, err = err, nil
		p = place{layout: offline.Layout{Repository: o.dir}}
	}
	if err != nil {
		return nil, err
	}
	var w *offline.Walk
	if missing == nil {
		if w, err = o.walkFrom(ctx, p); err != nil || o.only == "" || o.declares(w) {
			return w, err
		}
	}
	scanned, err := o.scan(p)
	switch {
	case err != nil || len(scanned) == 0 && missing != nil:
		return nil, cmp.Or(err, missing)
	case len(scanned) == 0:
		return w, nil
	}
	// Nothing leads to the unit for certain, but it can be rendered all the same.
	if w != nil {
		w.Close()
	}
	p.objects = scanned
	return o.walkFrom(ctx, p)
}

// declares tells whether the requested unit was found.
func (o offlineOptions) declares(w *offline.Walk) bool {
	ref, err := o.parseReference(o.only, o.namespace)
	_, found := w.Find(ref.id())
	return err != nil || found
}

// scan are the objects of the dialect of the requested unit, wherever in the directory they are declared.
func (o offlineOptions) scan(p place) ([]*unstructured.Unstructured, error) {
	ref, err := o.parseReference(o.only, o.namespace)
	if err != nil {
		return nil, err
	}
	of, _ := o.catalogue.Of(ref.resource.Group)
	scans, can := of.(dialect.Scans)
	if !can {
		return nil, nil
	}
	return scans.Scan(p.layout.Repository)
}

// walkFrom walks from a root.
func (o offlineOptions) walkFrom(ctx context.Context, p place) (*offline.Walk, error) {
	r, err := o.repository(ctx, p)
	if err != nil {
		return nil, err
	}
	if r.Rewrites, err = o.local.start(ctx, r.Rewrites); err != nil {
		return nil, err
	}
	defer func() { _ = o.local.stop(ctx) }()
	return offline.New(ctx, o.catalogue, r)
}

// repository says what is walked, and how far.
func (o offlineOptions) repository(ctx context.Context, p place) (*dialect.Repository, error) {
	r := &dialect.Repository{
		Dir: p.layout.Repository, Root: p.layout.Root, Objects: p.objects, Masks: o.masks, Marks: o.marks, Cluster: o.cluster, Alone: o.alone,
		Network: o.charts || o.only != "", Warn: func(text string) { fmt.Fprintf(o.io.Err, "· %s\n", text) },
	}
	var err error
	if r.Replaced, err = o.catalogue.All().Replaced(); err != nil {
		return nil, err
	}
	if r.Rewrites, err = source.ParseRewrites(o.rewrite); err != nil {
		return nil, fmt.Errorf("--rewrite: %w", err)
	}
	if o.ageKeyFile != "" {
		if r.AgeKey, err = os.ReadFile(o.ageKeyFile); err != nil {
			return nil, fmt.Errorf("reading the age key: %w", err)
		}
	}
	r.Fetch = func(engine.UnitID) bool { return o.charts }
	if o.only != "" {
		ref, err := o.parseReference(o.only, o.namespace)
		if err != nil {
			return nil, err
		}
		r.Fetch = func(id engine.UnitID) bool { return o.charts || id == ref.id() }
	}
	if r.Dir == "" {
		return r, nil
	}
	shown, err := gitserver.Look(ctx, r.Dir)
	if err != nil {
		return nil, err
	}
	r.Files, r.Branch, r.Ours = source.Directory{Path: r.Dir, Only: shown.Files}, shown.Branch, p.ours(o.catalogue, shown.Remotes)
	return r, nil
}

// selected is the requested unit, or all of them.
func (o offlineOptions) selected(w *offline.Walk) ([]dialect.OfflineUnit, error) {
	if o.only == "" {
		return w.Units, nil
	}
	ref, err := o.parseReference(o.only, o.namespace)
	if err != nil {
		return nil, err
	}
	unit, found := w.Find(ref.id())
	if !found {
		return nil, hint(fmt.Errorf("the repository declares no %s%s", ref, barren(w)), "headgate graph PATH")
	}
	if unit.Err == nil || unit.Tree {
		return []dialect.OfflineUnit{*unit}, nil
	}
	// What it refers to may be declared by another one that failed.
	return slices.DeleteFunc(slices.Clone(w.Units), func(u dialect.OfflineUnit) bool { return u.Err == nil }), nil
}

// barren names the objects that declare no units and should.
func barren(w *offline.Walk) string {
	var texts []string
	for _, b := range w.Broken() {
		if b.Err != nil {
			texts = append(texts, fmt.Sprintf("; %s generates nothing: %s", b.ID, b.Err))
		}
	}
	return strings.Join(texts, "")
}

// tellBroken prints what fails to give what it should, and reports whether there is any, unless a unit is requested.
func (o offlineOptions) tellBroken(w *offline.Walk) bool {
	if o.only != "" {
		return false
	}
	failed := false
	for _, b := range w.Broken() {
		failed = true
		if b.Err != nil {
			fmt.Fprintf(o.io.Err, "✗ %s: %v\n", b.ID, b.Err)
		}
		for _, problem := range b.Problems {
			fmt.Fprintf(o.io.Err, "✗ %s: %s\n", b.ID, problem)
		}
	}
	return failed
}

// advised is what to try when a unit cannot be rendered, on a line of its own, or nothing.
func advised(u *dialect.OfflineUnit) string {
	if u.Advice == "" {
		return ""
	}
	return "\n  try: " + u.Advice
}

// skipped is why a unit was not rendered, where that is no failure.
func skipped(u *dialect.OfflineUnit) string {
	if u.Skipped && u.Elsewhere != "" {
		return u.Elsewhere + "; --charts fetches it"
	}
	return u.Elsewhere
}
