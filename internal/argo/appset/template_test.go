package appset

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestGoTemplates(t *testing.T) {
	params := map[string]any{
		"name": "Feat/One_Two", "port": 8080.0, "labels": map[string]string{"a": "b"}, "any": map[string]any{"k": "v"}, "list": []any{"x", "y"},
		"long": "feat/areally+long_pull_request_name_to_test_argo_slugification_and_branch_name_shortening_feature",
	}
	cases := map[string]struct {
		reason, text, want, failure string
		options                     []string
	}{
		"Plain":        {reason: "no template at all", text: "a } b { c", want: "a } b { c"},
		"Normalize":    {reason: "names of objects", text: "{{normalize .name}}", want: "feat-one-two"},
		"Slugify":      {reason: "whole words by default", text: "{{slugify 23 .long}}", want: "feat-areally-long-pull"},
		"SlugifyLong":  {reason: "fifty at most", text: "{{slugify .long}}", want: "feat-areally-long-pull-request-name-to-test-argo"},
		"SlugifyCut":   {reason: "cut anywhere", text: "{{slugify 50 false .long}}", want: "feat-areally-long-pull-request-name-to-test-argo-s"},
		"SlugifyOne":   {reason: "one long word", text: `{{slugify 3 "abcdef"}}`, want: "abc"},
		"SlugifyDots":  {reason: "no dots, no two dashes", text: `{{slugify "-a..b--c."}}`, want: "a-b-c"},
		"SlugifyBad":   {reason: "what is no text", text: `{{slugify .port}}`, failure: "the text is a float64"},
		"SlugifySize":  {reason: "what is no size", text: `{{slugify "x" "y"}}`, failure: "the length is not a number"},
		"Yaml":         {reason: "to YAML and back", text: `{{toYaml .any}} {{(fromYaml "a: b").a}} {{index (fromYamlArray "[p, q]") 1}}`, want: "k: v b q"},
		"YamlBad":      {reason: "what is no YAML", text: `{{fromYaml "["}}`, failure: "line 1"},
		"Sprig":        {reason: "functions of the library", text: `{{.name | lower | replace "/" "-" | trunc 6 | quote}} {{join "," .list}} {{default "d" .none}}`, want: `"feat-o" x,y d`},
		"Range":        {reason: "loops", text: `{{range $i, $x := .list}}{{if $i}},{{end}}{{$x}}{{else}}none{{end}}`, want: "x,y"},
		"Break":        {reason: "loops that end", text: `{{range .list}}{{.}}{{break}}{{end}}{{range .list}}{{if eq . "x"}}{{continue}}{{end}}{{.}}{{end}}`, want: "xy"},
		"Define":       {reason: "templates within templates", text: `{{define "t"}}<{{.}}>{{end}}{{template "t" .port}}`, want: "<8080>"},
		"Missing":      {reason: "what is not there", text: "{{.none}}", want: "<no value>"},
		"MissingLabel": {reason: "a label that is looked for and not there is no text", text: `[{{index .labels "none"}}]`, want: "[]"},
		"MissingError": {reason: "on request an error", text: "{{.none}}", options: []string{"missingkey=error"}, failure: `line 1: <.none>: map has no entry for key "none"`},
		"NoEnv":        {reason: "the environment is nobody's business", text: `{{env "HOME"}}`, failure: `function "env" not defined`},
		"NoExpand":     {reason: "nor this way", text: `{{expandenv "$HOME"}}`, failure: "not defined"},
		"NoNetwork":    {reason: "nor is the network", text: `{{getHostByName "x"}}`, failure: "not defined"},
		"Fail":         {reason: "an error of the template itself", text: "\n{{fail \"no\"}}", failure: "line 2: <fail \"no\">: error calling fail: no"},
		"Syntax":       {reason: "what cannot be read", text: "{{if}}", failure: "line 1: missing value for if"},
		"Output":       {reason: "too much text", text: `{{range until 100000}}{{$.long}}{{end}}`, failure: errOutput.Error()},
		"Loop":         {reason: "too much work", text: `{{range until 100000}}{{range until 100000}}{{end}}{{end}}`, failure: errSteps.Error()},
		"LoopNumber":   {reason: "numbers are ranges too", text: `{{range 1000000000}}{{end}}`, failure: errSteps.Error()},
		"Recursion": {
			reason: "templates that call each other", failure: errSteps.Error(),
			text: `{{define "a"}}{{template "b"}}{{template "b"}}{{end}}{{define "b"}}{{template "c"}}{{template "c"}}{{end}}{{define "c"}}{{range 600000}}{{end}}{{end}}{{template "a"}}`,
		},
		"Doubling":     {reason: "text that doubles", text: `{{$x := "xxxx"}}{{range until 100}}{{$x = printf "%s%s" $x $x}}{{end}}`, failure: errWeight.Error()},
		"DoublingList": {reason: "lists that double", text: `{{$x := list 1}}{{range until 100}}{{$x = list $x $x}}{{end}}{{$x}}`, failure: errWeight.Error()},
		"Cycle":        {reason: "a map that contains itself", text: `{{$d := dict}}{{$_ := set $d "d" $d}}{{$d}}`, failure: errWeight.Error()},
		"Until":        {reason: "numbers have a bound", text: `{{until 100000000}}`, failure: "100000000 is more than 100000"},
		"Seq":          {reason: "these too", text: `{{seq 1 100000000}}`, failure: "is more than 100000"},
		"Repeat":       {reason: "text that is repeated", text: `{{repeat 100000 .long}}`, failure: errWeight.Error()},
		"Indent":       {reason: "lines that move far", text: `{{indent 100000 (join "\n" (until 10000))}}`, failure: errWeight.Error()},
		"Replace":      {reason: "text that is replaced by more", text: `{{replace "x" (repeat 10000 "y") (repeat 10000 "x")}}`, failure: errWeight.Error()},
		"Width":        {reason: "widths", text: `{{printf "%1000000d" 1}}`, failure: "a width or a precision must be a number below 1000"},
		"Uniq":         {reason: "all compared with all", text: `{{len (uniq (until 100000))}}`, failure: errSteps.Error()},
		"Without":      {reason: "and with some", text: `{{$a := until 50000}}{{len (without $a $a $a)}}{{range until 1000}}{{$_ := without $a 1 2 3}}{{end}}`, failure: errSteps.Error()},
		"Regex":        {reason: "large regular expressions over long text", text: `{{regexMatch "(.?b?){300}$" (repeat 50000 "aaaaaaaaaa")}}`, failure: errSteps.Error()},
		"RegexCounted": {reason: "regular expressions of a few bytes", text: `{{mustRegexMatch "((.?){100}b){10}((.?){100}c){10}((.?){100}d){10}" "a"}}`, failure: "counted repetitions"},
		"RegexUsual":   {reason: "usual ones", text: `{{regexReplaceAll "[^a-z]+" .name "-"}} {{regexFind "[A-Z]" .name}}`, want: "-eat-ne-wo F"},
		"Keys":         {reason: "keys that take long to make, over and over", text: `{{range until 1000}}{{$_ := bcrypt "x"}}{{end}}`, failure: errSteps.Error()},
		"Long":         {reason: "a template that is too long", text: "{{/*" + strings.Repeat("x", maxTemplate) + "*/}}", failure: "a template may have at most 256 KiB"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e, err := newGoEngine(t.Context(), c.options)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.render(c.text, params)
			if (err != nil) != (c.failure != "") || err != nil && !strings.Contains(err.Error(), c.failure) {
				t.Fatalf("%s: the error is %v, and should have %q", c.reason, err, c.failure)
			}
			if got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

func TestGoOptions(t *testing.T) {
	if _, err := newGoEngine(t.Context(), []string{"missingkey=error", "missingkey=oops"}); err == nil || !strings.Contains(err.Error(), `spec.goTemplateOptions[1]: unknown option "missingkey=oops"`) {
		t.Errorf("an option that nobody knows: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	e, err := newGoEngine(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.render("{{range 100000}}{{end}}", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a template ends with its context: %v", err)
	}
}

func TestPlainTemplates(t *testing.T) {
	params := map[string]any{"name": "one", "path.basename": "b", "path[0]": "p", "number": 1, "": "empty"}
	cases := map[string]struct{ reason, text, want, failure string }{
		"Known":    {reason: "blanks do not matter", text: "{{name}}-{{ path.basename }}-{{path[0]}}", want: "one-b-p"},
		"Unknown":  {reason: "what is not there stays, blanks and all", text: "{{ other }}-{{name}}", want: "{{ other }}-one"},
		"NoText":   {reason: "what is no text stays", text: "{{number}}{{}}", want: "{{number}}{{}}"},
		"Multiple": {reason: "delimiters in different lines are no template", text: "{{name\n}}", want: "{{name\n}}"},
		"Unclosed": {reason: "a tag without an end", text: "{{name}} {{", failure: `without "}}"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := plainEngine{}.render(c.text, params)
			if (err != nil) != (c.failure != "") || err != nil && !strings.Contains(err.Error(), c.failure) {
				t.Fatalf("%s: the error is %v, and should have %q", c.reason, err, c.failure)
			}
			if got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

func TestNotForPlain(t *testing.T) {
	for text, want := range map[string]bool{
		"{{ .path.basename }}": true, "{{- if x }}": true, "{{ x -}}": true, "{{ if x }}": true, "{{end}}": true, "{{ range $i := x }}": true, "{{ toYaml .x }}": true,
		"{{ x | quote }}": true, "{{/* c */}}": true, "{{ $x }}": true, `{{ "x" }}`: true, "{{\n  .x\n}}": true,
		"{{ path.basename }}": false, "{{name}}": false, "{{ metadata.labels.app.kubernetes.io/name }}": false, "{{values.my-value}}": false, "{{path[0]}}": false, "no": false,
		"{{ endpoint }}": false, "{{ iffy }}": false, "{ {.x} }": false,
	} {
		if err := notForPlain(text); (err != nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzGoTemplate(f *testing.F) {
	for _, seed := range []string{"{{.name}}", `{{range until 10}}{{repeat . "x"}}{{end}}`, `{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`, `{{slugify 3 true "x"}}`, "{{"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		e, err := newGoEngine(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.render(text, map[string]any{"name": "x", "list": []any{"a", 1.0}, "labels": map[string]string{"k": "v"}})
		if len(out) > maxOutput || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d bytes, %v", len(out), err)
		}
	})
}

func FuzzPlainTemplate(f *testing.F) {
	f.Add("{{name}} {{ other }} {{")
	f.Fuzz(func(t *testing.T, text string) {
		out, err := plainEngine{}.render(text, map[string]any{"name": "x"})
		if err == nil && !strings.Contains(text, "name") && out != text {
			t.Errorf("%q became %q", text, out)
		}
	})
}
