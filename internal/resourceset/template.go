package resourceset

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// maxOutput bounds what one template may write.
const maxOutput = 16 << 20

// inputsName is the function by which templates reach their inputs.
const inputsName = "inputs"

// parsed is a template that can be rendered.
type parsed struct {
	name     string
	template *template.Template
}

func parse(t Template) (*parsed, error) {
	made := template.New(t.Name).Delims("<<", ">>").Option("missingkey=error").Funcs(functions())
	made = made.Funcs(template.FuncMap{inputsName: func() map[string]any { return nil }})
	made, err := made.Parse(t.Text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, plain(err))
	}
	return &parsed{name: t.Name, template: made}, nil
}

// render makes the objects for one set of inputs.
func (p *parsed) render(in Input) (objects []*unstructured.Unstructured, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: with %s: %w", p.name, in.From, err)
		}
	}()
	out := &bounded{}
	once, err := p.template.Clone()
	if err != nil {
		return nil, err
	}
	once.Funcs(template.FuncMap{inputsName: func() map[string]any { return in.Values }})
	if err := once.Execute(out, nil); err != nil {
		return nil, plain(err)
	}
	for _, d := range documents(out.text.String()) {
		made, err := d.objects()
		if err != nil {
			return nil, err
		}
		objects = append(objects, made...)
	}
	return objects, nil
}

// bounded takes what a template writes, up to a bound.
type bounded struct{ text strings.Builder }

var errTooLong = errors.New("the template renders more than 16 MiB")

// Write takes a piece.
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > maxOutput {
		return 0, errTooLong
	}
	return b.text.Write(p)
}

// place is the prefix of the library's errors: the name of the template, a line, and the action.
var place = regexp.MustCompile(`(?s)^template: .*?:(\d+)(?::\d+)?: (?:executing ".*?" at )?(.*)$`)

// plain is an error of the library in our words: the line, and what is wrong there.
func plain(err error) error {
	found := place.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	return fmt.Errorf("line %s: %s", found[1], found[2])
}

// document is one of several in a text of YAML.
type document struct {
	text string
	// line is where it begins.
	line int
}

var separator = regexp.MustCompile(`(?m)^---(?:[ \t].*)?$`)

// documents takes a text apart.
func documents(text string) []document {
	var found []document
	line := 1
	for len(text) > 0 {
		cut := separator.FindStringIndex(text)
		if cut == nil {
			break
		}
		found = append(found, document{text[:cut[0]], line})
		line += strings.Count(text[:cut[1]], "\n")
		text = text[cut[1]:]
	}
	return append(found, document{text, line})
}

// objects reads the objects of a document: none, one, or those of a list.
func (d document) objects() ([]*unstructured.Unstructured, error) {
	data, err := yaml.YAMLToJSON([]byte(d.text))
	if err != nil {
		return nil, fmt.Errorf("the document at line %d of the rendered template is not YAML: %w", d.line, err)
	}
	var read any
	if err := utiljson.Unmarshal(data, &read); err != nil {
		return nil, fmt.Errorf("the document at line %d of the rendered template: %w", d.line, err)
	}
	if read == nil {
		return nil, nil
	}
	found, err := objectsOf(read)
	if err != nil {
		return nil, fmt.Errorf("the document at line %d of the rendered template: %w", d.line, err)
	}
	return found, nil
}

func objectsOf(read any) ([]*unstructured.Unstructured, error) {
	fields, ok := read.(map[string]any)
	if !ok {
		return nil, errors.New("not an object")
	}
	o := &unstructured.Unstructured{Object: fields}
	if err := legible(fields); err != nil {
		return nil, err
	}
	items, listed := fields["items"].([]any)
	if o.GetAPIVersion() != "v1" || o.GetKind() != "List" || !listed {
		return []*unstructured.Unstructured{o}, check(o)
	}
	var all []*unstructured.Unstructured
	for _, item := range items {
		found, err := objectsOf(item)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// legible reports metadata that the API would not accept: reading it would silently give nothing.
func legible(fields map[string]any) error {
	metadata, there := fields["metadata"]
	if !there {
		return nil
	}
	named, ok := metadata.(map[string]any)
	if !ok {
		return errors.New("metadata is not an object")
	}
	for _, name := range []string{"name", "namespace"} {
		if value, there := named[name]; there && value != nil {
			if _, ok := value.(string); !ok {
				return fmt.Errorf("metadata.%s: %v is not a string; use quote", name, value)
			}
		}
	}
	for _, name := range []string{"labels", "annotations"} {
		if err := strung(named[name]); err != nil {
			return fmt.Errorf("metadata.%s: %w", name, err)
		}
	}
	return nil
}

// strung reports values that are not strings.
func strung(value any) error {
	if value == nil {
		return nil
	}
	pairs, ok := value.(map[string]any)
	if !ok {
		return errors.New("not an object")
	}
	for _, key := range keys(pairs) {
		if _, ok := pairs[key].(string); !ok {
			return fmt.Errorf("%s: %v is not a string; use quote", key, pairs[key])
		}
	}
	return nil
}
