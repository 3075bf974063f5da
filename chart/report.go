package chart

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

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

// reporter says what happens, in words or as events.
type reporter struct {
	out  io.Writer
	json bool
}

func (r reporter) say(e Event, words string) {
	if !r.json {
		fmt.Fprintln(r.out, words)
		return
	}
	if line, err := json.Marshal(e); err == nil {
		fmt.Fprintf(r.out, "%s\n", line)
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
