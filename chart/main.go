package chart

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// Main is the main function of a module that describes charts, and what "headgate synth" runs:
//
//	func main() { os.Exit(chart.Main(chart.Settings{}, describe)) }
//
//	func describe(app *chart.App) { ... }
//
// It describes and synthesizes an App and writes its files. What is returned is the exit code: 0; 1 if -check found a difference; 2 for
// mistakes. The flags are
//
//	-out DIR         where files are written; dist
//	-layout LAYOUT   chart, app, resource or folder, instead of that of the Settings
//	-only PATTERN    only charts whose path or name matches, with * and ?; files of others stay
//	-check           writes nothing, and says what differs
//	-stdout          writes one stream of YAML to stdout instead
//	-metadata        adds construct-metadata.json
//	-progress json   says what happens as one Event of JSON a line, on stderr; without it in words
func Main(settings Settings, describe func(app *App)) int {
	return Command{Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr}.Run(settings, describe)
}

// Command is a run of Main with its surroundings.
type Command struct {
	// Args are the flags.
	Args []string
	// Stdout gets YAML, Stderr gets progress and mistakes.
	Stdout, Stderr io.Writer
}

// Event is a line of -progress json.
type Event struct {
	// Type is chart (a chart was synthesized), finding (of a check), error (a mistake in the description) or done (files were written
	// or compared). The fields below are those of a type; others are left out.
	Type string `json:"type"`

	// Chart is the path of a chart.
	Chart string `json:"chart,omitempty"`
	// Objects of the chart, or of all charts.
	Objects int `json:"objects,omitempty"`
	// Seconds that the chart took, or everything.
	Seconds float64 `json:"seconds,omitempty"`

	// Path of the construct of a finding or an error, and its line of Go.
	Path string `json:"path,omitempty"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Message of a finding or an error.
	Message string `json:"message,omitempty"`
	// Rule, Field and Severity (warning, info) of a finding.
	Rule     string `json:"rule,omitempty"`
	Field    string `json:"field,omitempty"`
	Severity string `json:"severity,omitempty"`

	// Dir is where files were written, or compared.
	Dir       string   `json:"dir,omitempty"`
	Added     []string `json:"added,omitempty"`
	Changed   []string `json:"changed,omitempty"`
	Removed   []string `json:"removed,omitempty"`
	Unchanged int      `json:"unchanged,omitempty"`
}

// exit codes of Main.
const (
	exitDone = iota
	exitDiffers
	exitMistake
)

// flags are those of Main.
type flags struct {
	out, layout, only, progress string
	check, stdout, metadata     bool
}

// Run does what Main does.
func (c Command) Run(settings Settings, describe func(app *App)) int {
	start := time.Now()
	var f flags
	set := flag.NewFlagSet("synth", flag.ContinueOnError)
	set.SetOutput(c.Stderr)
	set.StringVar(&f.out, "out", "dist", "the directory to write `DIR`")
	set.StringVar(&f.layout, "layout", "", "what has a file of its own: `chart, app, resource or folder`")
	set.StringVar(&f.only, "only", "", "only charts whose path or name matches the `PATTERN`")
	set.BoolVar(&f.check, "check", false, "write nothing, and say what differs")
	set.BoolVar(&f.stdout, "stdout", false, "write one stream of YAML to stdout")
	set.BoolVar(&f.metadata, "metadata", false, "add construct-metadata.json")
	set.StringVar(&f.progress, "progress", "", "`json`: events of JSON on stderr")
	if err := set.Parse(c.Args); err != nil {
		return exitMistake
	}
	r := reporter{out: c.Stderr, json: f.progress == "json"}
	if set.NArg() > 0 || (f.progress != "" && !r.json) {
		r.mistake(fmt.Errorf("unknown arguments: %s; see -help", strings.Join(c.Args, " ")))
		return exitMistake
	}
	app := NewApp(settings)
	describe(app)
	changes, err := c.synth(app, f, r, start)
	switch {
	case err != nil:
		r.mistake(err)
		return exitMistake
	case f.check && !changes.None():
		return exitDiffers
	}
	return exitDone
}

func (c Command) synth(app *App, f flags, r reporter, start time.Time) (Changes, error) {
	result, err := app.Synth()
	if err != nil {
		return Changes{}, err
	}
	matching, err := result.Only(f.only)
	if err != nil {
		return Changes{}, err
	}
	for _, one := range matching.Charts {
		r.chart(one)
	}
	r.findings(result)
	if f.stdout {
		_, err := c.Stdout.Write(matching.YAML())
		return Changes{}, err
	}
	arrangement, err := f.arrangement(app.settings)
	if err != nil {
		return Changes{}, err
	}
	files, err := result.Files(arrangement)
	if err != nil {
		return Changes{}, err
	}
	if f.only != "" {
		if files, err = filesOf(files, matching); err != nil {
			return Changes{}, err
		}
	}
	changes, err := Output{Dir: f.out, Check: f.check, Partial: f.only != ""}.Write(files)
	if err != nil {
		return Changes{}, err
	}
	r.done(f, changes, matching, time.Since(start))
	return changes, nil
}

// arrangement is what the flags say of the layout, else the settings.
func (f flags) arrangement(s Settings) (Arrangement, error) {
	splits := map[string]Split{"chart": PerChart, "app": PerApp, "resource": PerResource, "folder": FolderPerChart}
	layout, isLayout := s.Arrangement.(Layout)
	split, known := splits[f.layout]
	switch {
	case f.layout != "" && !known:
		return nil, fmt.Errorf("the layout %q is unknown; use chart, app, resource or folder", f.layout)
	case f.layout != "":
		layout.Split = split
	case s.Arrangement != nil && !isLayout:
		return s.Arrangement, nil
	}
	// The metadata of a part would replace those of the whole.
	layout.Metadata = (layout.Metadata || f.metadata) && f.only == ""
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
		if byName, _ := path.Match(pattern, c.Name); byPath || byName { //nolint:errcheck // it was checked with the path
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

// reporter says what happens, in words or as events.
type reporter struct {
	out  io.Writer
	json bool
}

func (r reporter) say(e Event, words string) {
	if !r.json {
		fmt.Fprintln(r.out, words) //nolint:errcheck // there is no other place to say it
		return
	}
	if line, err := json.Marshal(e); err == nil {
		fmt.Fprintf(r.out, "%s\n", line) //nolint:errcheck // see above
	}
}

func (r reporter) chart(c Synthesized) {
	seconds := c.Elapsed.Seconds()
	r.say(Event{Type: "chart", Chart: c.Path, Objects: len(c.Manifests), Seconds: seconds}, fmt.Sprintf("%s: %s, %.3f s", c.Path, count(len(c.Manifests), "object"), seconds))
}

func (r reporter) findings(result *Result) {
	manifests := result.Manifests()
	for _, f := range result.Findings {
		e := Event{Type: "finding", Message: f.Message, Rule: f.Rule, Field: f.Field, Severity: f.Severity.String()}
		placed := Error{Err: errors.New(f.Severity.String() + ": " + f.String())}
		if f.Manifest >= 0 && f.Manifest < len(manifests) {
			placed.Path, placed.At = manifests[f.Manifest].Path, manifests[f.Manifest].At
		}
		e.Path, e.File, e.Line = placed.Path, placed.At.File, placed.At.Line
		r.say(e, placed.Error())
	}
}

func (r reporter) mistake(err error) {
	var all Errors
	if !errors.As(err, &all) {
		r.say(Event{Type: "error", Message: err.Error()}, err.Error())
		return
	}
	for _, one := range all {
		r.say(Event{Type: "error", Path: one.Path, File: one.At.File, Line: one.At.Line, Message: one.Err.Error()}, one.Error())
	}
}

func (r reporter) done(f flags, c Changes, result *Result, elapsed time.Duration) {
	objects := 0
	for _, one := range result.Charts {
		objects += len(one.Manifests)
	}
	e := Event{
		Type: "done", Dir: f.out, Objects: objects, Seconds: elapsed.Seconds(),
		Added: c.Added, Changed: c.Changed, Removed: c.Removed, Unchanged: c.Unchanged,
	}
	var words []string
	for _, one := range []struct {
		files []string
		verb  string
	}{{c.Added, "added"}, {c.Changed, "changed"}, {c.Removed, "removed"}} {
		if f.check {
			for _, name := range one.files {
				words = append(words, fmt.Sprintf("%s would be %s", path.Join(f.out, name), one.verb))
			}
			continue
		}
		if len(one.files) > 0 {
			words = append(words, fmt.Sprintf("%d %s", len(one.files), one.verb))
		}
	}
	if f.check {
		r.say(e, cmp.Or(strings.Join(words, "\n"), f.out+" is up to date"))
		return
	}
	words = append(words, fmt.Sprintf("%d unchanged", c.Unchanged))
	r.say(e, fmt.Sprintf("%s: %s; %s in %.3f s", f.out, strings.Join(words, ", "), count(objects, "object"), elapsed.Seconds()))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
