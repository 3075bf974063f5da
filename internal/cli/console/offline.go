package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/offline"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/source"
)

// OfflineOptions are those of commands that read a directory.
type OfflineOptions struct {
	*Globals
	Dir, Root, AgeKeyFile string
	// Charts renders every HelmRelease; only is KIND/NAME of the one requested unit, in namespace.
	Charts          bool
	Only, Namespace string
	// Within is set where Namespace was given, and selects units as long as none is named.
	Within  bool
	Rewrite []string
	Local   LocalCharts
	Rules   PolicyFlags
	// Cluster is what is known of the cluster that is compared with.
	Cluster dialect.Seen
	// Masks hides values of Secrets, marks replaces those that cannot be decrypted.
	Masks, Marks bool
	// Alone leaves out what an Application leads to.
	Alone bool
	// Limits bound what is rendered, in the sandbox of another one where there is one.
	Limits  SandboxFlags
	Sandbox *sandbox.Pool
	// Folder is the directory where only a unit is named.
	Folder string
}

// BindOffline adds the flags of commands that read a directory.
func BindOffline(cmd *cobra.Command, o *OfflineOptions) {
	cmd.Flags().StringVar(&o.Root, "path", "", "directory of the root, or a file of root objects (default: search for it)")
	cmd.Flags().StringVar(&o.AgeKeyFile, "age-key-file", "", "file with age identities to decrypt with (default: SOPS_AGE_KEY, or the file of SOPS_AGE_KEY_FILE)")
	o.Rules.Bind(cmd.Flags())
	o.Limits.Bind(cmd.Flags())
}

// BindCharts adds the flags of commands that render HelmReleases, or one of them.
func BindCharts(cmd *cobra.Command, o *OfflineOptions) {
	cmd.Flags().StringVarP(&o.Namespace, "namespace", "n", DefaultNamespace, "namespace of the unit")
	BindFetches(cmd, o)
}

// BindFetches adds the flags that say which charts are fetched, and from where.
func BindFetches(cmd *cobra.Command, o *OfflineOptions) {
	cmd.Flags().BoolVar(&o.Charts, "charts", false, "fetch the charts of all HelmReleases and render them too")
	o.Local.Bind(cmd.Flags())
	cmd.Flags().StringArrayVar(&o.Rewrite, "rewrite", nil, "redirect fetches of charts: FROM=TO, both URL prefixes (repeatable)")
}

// Walk walks the repository in the directory, or what can be found in it of the requested unit. The caller closes it.
func (o OfflineOptions) Walk(ctx context.Context) (*offline.Walk, error) {
	if err := o.Rules.Check(); err != nil {
		return nil, err
	}
	o.Rules.Configure(o.Catalogue)
	p, err := o.locate()
	var missing error
	if errors.Is(err, offline.ErrNoRoot) && o.Only != "" {
		missing, err = err, nil
		p = Place{Layout: offline.Layout{Repository: o.Dir}}
	}
	if err != nil {
		return nil, err
	}
	var w *offline.Walk
	if missing == nil {
		if w, err = o.WalkFrom(ctx, p); err != nil || o.Only == "" || o.declares(w) {
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
	p.Objects = scanned
	return o.WalkFrom(ctx, p)
}

// declares reports whether the requested unit was found.
func (o OfflineOptions) declares(w *offline.Walk) bool {
	ref, err := o.ParseReference(o.Only, o.Namespace)
	_, found := w.Find(ref.ID())
	return err != nil || found
}

// scan are the objects of the dialect of the requested unit, wherever in the directory they are declared.
func (o OfflineOptions) scan(p Place) ([]*unstructured.Unstructured, error) {
	ref, err := o.ParseReference(o.Only, o.Namespace)
	if err != nil {
		return nil, err
	}
	of, _ := o.Catalogue.Of(ref.GroupKind())
	scans, can := of.(dialect.Scans)
	if !can {
		return nil, nil
	}
	return scans.Scan(p.Layout.Repository)
}

// WalkFrom walks from a root.
func (o OfflineOptions) WalkFrom(ctx context.Context, p Place) (*offline.Walk, error) {
	r, err := o.Repository(ctx, p)
	if err != nil {
		return nil, err
	}
	if r.Rewrites, err = o.Local.Start(ctx, r.Rewrites); err != nil {
		return nil, err
	}
	defer func() { _ = o.Local.Stop(ctx) }()
	return offline.New(ctx, o.Catalogue, r)
}

// Repository says what is walked, and how far.
func (o OfflineOptions) Repository(ctx context.Context, p Place) (*dialect.Repository, error) {
	r := &dialect.Repository{
		Dir: p.Layout.Repository, Root: p.Layout.Root, Objects: p.Objects, Masks: o.Masks, Marks: o.Marks, Cluster: o.Cluster, Alone: o.Alone,
		Network: o.Charts || o.Only != "", Warn: func(text string) { fmt.Fprintf(o.IO.Err, "· %s\n", text) },
		Sandbox: o.Sandbox,
	}
	limits, err := o.Limits.Limits(0)
	if err != nil {
		return nil, err
	}
	if r.Sandbox == nil {
		r.Sandbox = o.IO.Sandbox(ctx, limits, "", r.Warn)
	}
	if r.Replaced, err = o.Catalogue.All().Replaced(); err != nil {
		return nil, err
	}
	if r.Rewrites, err = source.ParseRewrites(o.Rewrite); err != nil {
		return nil, fmt.Errorf("--rewrite: %w", err)
	}
	if r.AgeKey, _, err = GivenKeys(o.AgeKeyFile); err != nil {
		return nil, err
	}
	r.Fetch = func(engine.UnitID) bool { return o.Charts }
	if o.Only != "" {
		ref, err := o.ParseReference(o.Only, o.Namespace)
		if err != nil {
			return nil, err
		}
		r.Fetch = func(id engine.UnitID) bool { return o.Charts || id == ref.ID() }
	}
	if r.Dir == "" {
		return r, nil
	}
	shown, err := gitserver.Look(ctx, r.Dir)
	if err != nil {
		return nil, err
	}
	r.Files, r.Branch, r.Ours = source.Directory{Path: r.Dir, Only: shown.Files}, shown.Branch, p.Ours(o.Catalogue, shown.Remotes)
	if r.Also, err = p.ShownAs(o.Catalogue, shown.References, r.Ours); err != nil {
		return nil, err
	}
	if r.Also != "" && shown.References.Branch == "" {
		r.Branch = r.Also
	}
	r.Others = append(shown.References.Local, shown.References.Tags...)
	return r, nil
}

// Selected is the requested unit, or all of them.
func (o OfflineOptions) Selected(w *offline.Walk) ([]dialect.OfflineUnit, error) {
	if o.Only == "" {
		return o.within(w.Units)
	}
	ref, err := o.ParseReference(o.Only, o.Namespace)
	if err != nil {
		return nil, err
	}
	unit, found := w.Find(ref.ID())
	switch {
	case !found && ref.bare:
		return nil, Hint(fmt.Errorf("the name is missing: %q is a kind, and the repository declares no %s with this name", ref.Name, ref.Kind), "headgate graph PATH")
	case !found:
		return nil, Hint(fmt.Errorf("the repository declares no %s%s", ref, barren(w)), "headgate graph PATH")
	}
	if unit.Err == nil || unit.Tree {
		return []dialect.OfflineUnit{*unit}, nil
	}
	// What it refers to may be declared by another one that failed.
	return slices.DeleteFunc(slices.Clone(w.Units), func(u dialect.OfflineUnit) bool { return u.Err == nil }), nil
}

// within are the units of the namespace that was given.
func (o OfflineOptions) within(units []dialect.OfflineUnit) ([]dialect.OfflineUnit, error) {
	if !o.Within {
		return units, nil
	}
	var in []dialect.OfflineUnit
	var others []string
	for _, u := range units {
		if at := u.Unit.ID.Namespace; at == o.Namespace {
			in = append(in, u)
		} else if !slices.Contains(others, at) {
			others = append(others, at)
		}
	}
	if len(in) > 0 {
		return in, nil
	}
	slices.Sort(others)
	return nil, Hint(fmt.Errorf("the repository declares no unit in namespace %q: its units are in %s", o.Namespace, orWord(strings.Join(others, ", "), "none")), "headgate graph PATH")
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

// TellBroken prints what fails to give what it should, and reports whether there is any, unless a unit is requested.
func (o OfflineOptions) TellBroken(w *offline.Walk) bool {
	if o.Only != "" {
		return false
	}
	failed := false
	for _, b := range w.Broken() {
		failed = true
		if b.Err != nil {
			fmt.Fprintf(o.IO.Err, "✗ %s: %v\n", b.ID, b.Err)
		}
		for _, problem := range b.Problems {
			fmt.Fprintf(o.IO.Err, "✗ %s: %s\n", b.ID, problem)
		}
	}
	return failed
}

// Advised is what to try when a unit cannot be rendered, on a line of its own, or nothing.
func Advised(u *dialect.OfflineUnit) string {
	if u.Advice == "" {
		return ""
	}
	return "\n  try: " + u.Advice
}

// Skipped is why a unit was not rendered, where that is no failure.
func Skipped(u *dialect.OfflineUnit) string {
	if u.Skipped && u.Elsewhere != "" {
		return u.Elsewhere + "; --charts fetches it"
	}
	return u.Elsewhere
}
