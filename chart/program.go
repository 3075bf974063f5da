package chart

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Program is what a Command writes: one App (see Describe), or several that are written as packages.
type Program interface {
	// Synth synthesizes everything. The result has the charts, or whatever else is written together, with the findings of checks; each
	// file has the Path of its chart, so that some of them can be written without the others. An error of type Errors is reported line
	// by line.
	Synth(options Options) (*Result, []File, error)
}

// Options are the flags of a Command that concern what a Program makes.
type Options struct {
	// Layout is chart, app, resource, folder, or empty for the default.
	Layout string
	// Metadata adds a file that says where objects are from.
	Metadata bool
	// Only is the pattern of charts that are of interest, and empty for all; a Program may make all of them anyway.
	Only string
}

// Describe is the Program of an App.
func Describe(settings Settings, describe func(app *App)) Program {
	return described{settings: settings, describe: describe}
}

type described struct {
	settings Settings
	describe func(app *App)
}

// Synth describes, synthesizes and arranges the App.
func (d described) Synth(o Options) (*Result, []File, error) {
	arrangement, err := o.arrangement(d.settings)
	if err != nil {
		return nil, nil, err
	}
	app := NewApp(d.settings)
	d.describe(app)
	result, err := app.Synth()
	if err != nil {
		return nil, nil, err
	}
	files, err := result.Files(arrangement)
	return result, files, err
}

// arrangement is what the flags say of the layout, else the settings.
func (o Options) arrangement(s Settings) (Arrangement, error) {
	splits := map[string]Split{"chart": PerChart, "app": PerApp, "resource": PerResource, "folder": FolderPerChart}
	layout, isLayout := s.Arrangement.(Layout)
	split, known := splits[o.Layout]
	switch {
	case o.Layout != "" && !known:
		return nil, fmt.Errorf("the layout %q is unknown; use chart, app, resource or folder", o.Layout)
	case o.Layout != "":
		layout.Split = split
	case s.Arrangement != nil && !isLayout:
		return s.Arrangement, nil
	}
	// The metadata of a part would replace those of the whole.
	layout.Metadata = (layout.Metadata || o.Metadata) && o.Only == ""
	return layout, nil
}

// Only is the result with the charts whose path or name matches a pattern of path.Match, in which * does not match a slash; all without
// a pattern.
func (r *Result) Only(pattern string) (*Result, error) {
	if pattern == "" {
		return r, nil
	}
	some := *r
	some.Charts = nil
	names := make([]string, len(r.Charts))
	for i, c := range r.Charts {
		names[i] = c.Path
		byPath, err := path.Match(pattern, c.Path)
		if err != nil {
			return nil, fmt.Errorf("reading the pattern %q: %w", pattern, err)
		}
		if byName, _ := path.Match(pattern, c.Name); byPath || byName {
			some.Charts = append(some.Charts, c)
		}
	}
	if len(some.Charts) == 0 {
		return nil, fmt.Errorf("no chart matches %q; there are %s", pattern, strings.Join(names, ", "))
	}
	return &some, nil
}

// filesOf are the files of some charts.
func filesOf(files []File, r *Result) ([]File, error) {
	var some []File
	for _, f := range files {
		if f.Chart == "" {
			return nil, fmt.Errorf("%s has objects of several charts; without a part of them it would lose the others: use another layout, or stdout", f.Path)
		}
		if slices.ContainsFunc(r.Charts, func(c Synthesized) bool { return c.Path == f.Chart }) {
			some = append(some, f)
		}
	}
	return some, nil
}
