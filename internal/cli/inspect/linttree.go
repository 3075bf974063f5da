package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/lint"
	"github.com/headgate-dev/headgate/internal/offline"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

// ruleUnit is the rule of what cannot be rendered or read.
const ruleUnit = "lint/unit"

// tree is objects that are judged together.
type tree struct {
	items []item
	// index has the documents of the files that they are rendered from.
	index *lint.Index
	// sources reports whether the objects are files of a repository that are yet to be rendered.
	sources bool
	// findings are those about files and units, notes what the summary says besides.
	findings []lint.Finding
	notes    []string
}

// item is an object: the document that it is, or what renders it.
type item struct {
	object   map[string]any
	document *lint.Document
	unit     string
	// declares is the object of the unit, for what is in no file; at the file of a kustomization, where that is the unit.
	declares map[string]any
	at       string
	// above is what declares the unit where that is in no file either, the nearest first.
	above []map[string]any
	// near is the directory that the unit reads.
	near string
}

// masked reports whether a field of an object that was rendered has a mask instead of what is secret.
func (i item) masked(field string) bool {
	return i.document == nil && i.object["kind"] == "Secret" && (strings.HasPrefix(field, "data.") || strings.Contains(field, dialect.Masked))
}

// where is the file and the line of a field.
func (t tree) where(i item, field string) (string, int) {
	if i.document != nil {
		line, _ := i.document.Line(field)
		return i.document.File, line
	}
	index := t.index
	if i.near != "" {
		index = index.Near(i.near)
	}
	if file, line, found := index.Find(i.object, field); found {
		return file, line
	}
	if i.at != "" {
		return i.at, 1
	}
	for _, declares := range append([]map[string]any{i.declares}, i.above...) {
		if file, line, found := t.index.Find(declares, ""); found {
			return file, line
		}
	}
	return "", 0
}

// trees are the objects at a path.
func (o *lintOptions) trees(ctx context.Context, path string) ([]tree, error) {
	info, err := os.Stat(path)
	if path != "-" && err != nil {
		return nil, err
	}
	if path == "-" || !info.IsDir() {
		t, err := o.plain([]string{path})
		return []tree{t}, err
	}
	// What cannot be decrypted is judged with marks instead of its values.
	o.Dir, o.Masks, o.Marks = path, true, true
	roots := []string{o.Root}
	layout, err := offline.FindLayout(o.Catalogue, path, o.Root)
	var several *offline.AmbiguousRootError
	switch {
	case errors.As(err, &several):
		roots = several.Candidates
		layout.Repository = path
	case errors.Is(err, offline.ErrNoRoot):
		t, err := o.directory(ctx, path)
		return []tree{t}, err
	case err != nil:
		return nil, err
	}
	f, err := filesBelow(shorter(layout.Repository))
	if err != nil {
		return nil, err
	}
	index := lint.NewIndex(documentsOf(f.names, nil))
	var all []tree
	for _, root := range roots {
		one := *o
		one.Root = root
		t, err := one.walked(ctx, index)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// shorter is a path relative to the working directory, if it is below that.
func shorter(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if relative, err := filepath.Rel(here, path); err == nil && filepath.IsAbs(path) && !strings.HasPrefix(relative, "..") {
		return relative
	}
	return path
}

// walked is the objects of the units of a repository.
func (o *lintOptions) walked(ctx context.Context, index *lint.Index) (tree, error) {
	w, err := o.Walk(ctx)
	if err != nil {
		return tree{}, err
	}
	defer w.Close()
	t := tree{index: index}
	for i := range w.Units {
		u := &w.Units[i]
		var declares map[string]any
		if u.Object != nil {
			declares = u.Object.Object
		}
		if u.Object != nil && u.Parent == (engine.UnitID{}) {
			t.items = append(t.items, item{object: declares, declares: declares}) // of the root: no unit renders it
		}
		if u.Err != nil {
			t.fails(w, u.Unit.ID, u.Err)
		} else if !u.Rendered() {
			o.note(u)
		}
		for _, object := range u.Objects {
			if !u.Handled[object].Never {
				t.items = append(t.items, item{object: shown(u, object).Object, unit: u.Unit.ID.String(), declares: declares, above: above(w, u), near: readBy(w, u)})
			}
		}
	}
	for _, b := range w.Broken() {
		if b.Err != nil {
			t.fails(w, engine.UnitOf(b.ID), b.Err)
		}
	}
	if o.waits {
		if err := o.survey(ctx, &t, w); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (o *lintOptions) note(u *dialect.OfflineUnit) {
	if why := console.Skipped(u); why != "" {
		fmt.Fprintf(o.IO.Err, "· %s: %s\n", u.Unit.ID, why)
		return
	}
	fmt.Fprintf(o.IO.Err, "· %s is not rendered; --charts fetches its chart\n", u.Unit.ID)
}

// files are those below a directory.
type files struct {
	// names are files of YAML and JSON, kustomizations the directories with one.
	names, kustomizations []string
}

// filesBelow are the files below a directory, without charts of Helm and what is hidden.
func filesBelow(dir string) (files, error) {
	var found files
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != dir && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir():
			if _, err := os.Stat(filepath.Join(name, "Chart.yaml")); err == nil {
				return filepath.SkipDir
			}
		case isKustomization(entry.Name()):
			found.kustomizations = append(found.kustomizations, filepath.Dir(name))
		case entry.Type().IsRegular() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
			found.names = append(found.names, name)
		}
		return nil
	})
	return found, err
}

func isKustomization(name string) bool {
	return name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization"
}

// kustomizationIn is the file of a kustomization.
func kustomizationIn(dir string) string {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if isFile(dir, name) {
			return filepath.Join(dir, name)
		}
	}
	return dir
}

// documentsOf are the documents of files; what cannot be read goes to broken, unless that is nil.
func documentsOf(names []string, broken *[]lint.Finding) []lint.Document {
	var all []lint.Document
	for _, name := range names {
		data, err := os.ReadFile(name)
		var some []lint.Document
		line := 1
		if err == nil {
			some, line, err = lint.Read(name, data)
		}
		if err != nil && broken != nil {
			*broken = append(*broken, unreadable(name, line, data))
		}
		all = append(all, some...)
	}
	return all
}

// unreadable is the finding about a file that is no YAML; the line is the one that the library gives.
func unreadable(name string, line int, data []byte) lint.Finding {
	f := lint.Finding{File: name, Line: line, Severity: "error", Rule: ruleUnit, Message: "it cannot be read: it is not YAML"}
	if at, wrong := render.Syntax(data); wrong != nil {
		f.Line, f.Message = at, wrong.Error()
	}
	return f
}

// plain is the objects of files.
func (o *lintOptions) plain(names []string) (tree, error) {
	t := tree{sources: true}
	documents := documentsOf(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "-" }), &t.findings)
	if slices.Contains(names, "-") {
		data, err := io.ReadAll(o.IO.In)
		if err != nil {
			return t, err
		}
		some, line, err := lint.Read("-", bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
		if err != nil {
			t.findings = append(t.findings, unreadable("-", line, data))
		}
		documents = append(documents, some...)
	}
	for i := range documents {
		if apiVersion, _ := documents[i].Object["apiVersion"].(string); strings.HasPrefix(apiVersion, "kustomize.config.k8s.io/") {
			continue
		}
		t.items = append(t.items, item{object: documents[i].Object, document: &documents[i]})
	}
	t.index = lint.NewIndex(documents)
	return t, nil
}

// directory is the objects of a directory without units: what its kustomizations build, and files beside them.
func (o *lintOptions) directory(ctx context.Context, dir string) (tree, error) {
	found, err := filesBelow(dir)
	if err != nil {
		return tree{}, err
	}
	inKustomization := func(name string) bool {
		return slices.ContainsFunc(found.kustomizations, func(k string) bool {
			return k == "." || k == filepath.Dir(name) || strings.HasPrefix(name, k+string(filepath.Separator))
		})
	}
	t, err := o.plain(slices.DeleteFunc(slices.Clone(found.names), inKustomization))
	if err != nil || len(found.kustomizations) == 0 {
		return t, err
	}
	t.sources = false
	t.index = lint.NewIndex(documentsOf(found.names, nil))
	built, err := source.Directory{Path: dir}.Tree(source.Selection{})
	if err != nil {
		return t, err
	}
	referred := map[string]bool{}
	for _, k := range found.kustomizations {
		entries, _ := render.Entries(k)
		for _, entry := range entries {
			referred[filepath.Join(k, filepath.FromSlash(entry))] = true
		}
	}
	for _, k := range found.kustomizations {
		if !referred[k] {
			t.build(ctx, built, dir, k)
		}
	}
	return t, nil
}

// build adds what a kustomization builds.
func (t *tree) build(ctx context.Context, from *source.Tree, dir, kustomization string) {
	at := kustomizationIn(kustomization)
	// A component is a part of others, and of nothing else.
	if data, err := os.ReadFile(at); err == nil && bytes.Contains(data, []byte("kind: Component")) {
		return
	}
	path, err := filepath.Rel(dir, kustomization)
	var result *render.Result
	if err == nil {
		result, err = render.New().Build(ctx, from, render.Options{Path: filepath.ToSlash(path), NoRemoteBases: true})
	}
	if err != nil {
		f := lint.Finding{File: at, Line: 1, Severity: "error", Rule: ruleUnit, Message: "it cannot be built: " + err.Error()}
		t.locate(&f, dir, err)
		t.findings = append(t.findings, f)
		return
	}
	for _, o := range result.Objects {
		t.items = append(t.items, item{object: o.Object, unit: kustomization, at: at})
	}
}
