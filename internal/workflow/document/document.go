// Package document reads workflows, templates of workflows and schedules from files, checks them as they were written, and knows the line
// of each field that something is wrong with.
//
// It takes the bytes of files. What is in the same files counts as known: the templates that others refer to. It asks nothing else,
// and opens nothing.
package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	jsonyaml "sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/lint"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// File is one with its content.
type File struct {
	Name string
	Data []byte
}

// Object is one of a file.
type Object struct {
	// File and Line are where it begins.
	File string
	Line int
	// Kind, Namespace and Name are what it says of itself.
	Kind, Namespace, Name string
	// JSON is what it says, as JSON.
	JSON []byte
	// root is what it says, with lines.
	root *yaml.Node
	// offset is added to the lines of root.
	offset int
}

// Finding is one thing that is wrong, with where that is.
type Finding struct {
	lint.Finding

	File string
	Line int
}

func (f Finding) String() string {
	where := fmt.Sprintf("%s:%d: ", f.File, f.Line)
	if f.Object == "" {
		return where + f.Text
	}
	return where + f.Finding.String()
}

// kinds are those that are checked.
var kinds = []string{v1alpha1.WorkflowKind, v1alpha1.WorkflowTemplateKind, v1alpha1.ClusterWorkflowTemplateKind, v1alpha1.CronWorkflowKind}

// Check checks all workflows, templates and schedules of the files, and gives how many there are. Objects of other kinds are passed over.
func Check(files []File) (findings []Finding, checked int) {
	var objects []Object
	for _, file := range files {
		found, broken := Read(file)
		objects, findings = append(objects, found...), append(findings, broken...)
	}
	for _, o := range objects {
		library := lint.Library{Specs: specs(objects, o.Namespace)}
		for _, f := range lint.Check(o.JSON, library) {
			findings = append(findings, Finding{Finding: f, File: o.File, Line: o.line(f.Field)})
		}
	}
	findings = append(findings, duplicates(objects)...)
	order := map[string]int{}
	for i, file := range files {
		order[file.Name] = i
	}
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line))
	})
	return findings, len(objects)
}

// specs are those of the templates that an object of a namespace may refer to. An object that names no namespace may be applied to any.
func specs(objects []Object, namespace string) map[plan.Source]*v1alpha1.WorkflowSpec {
	all := map[plan.Source]*v1alpha1.WorkflowSpec{}
	for _, o := range objects {
		cluster := o.Kind == v1alpha1.ClusterWorkflowTemplateKind
		near := cluster || o.Namespace == "" || namespace == "" || o.Namespace == namespace
		if !near || !cluster && o.Kind != v1alpha1.WorkflowTemplateKind {
			continue
		}
		template := v1alpha1.WorkflowTemplate{}
		if json.Unmarshal(o.JSON, &template) == nil {
			all[plan.Source{Name: o.Name, Cluster: cluster}] = &template.Spec
		}
	}
	return all
}

// duplicates are objects that are there more than once.
func duplicates(objects []Object) []Finding {
	var findings []Finding
	first := map[string]Object{}
	for _, o := range objects {
		key := o.Kind + "/" + o.Namespace + "/" + o.Name
		if earlier, known := first[key]; known && o.Name != "" {
			findings = append(findings, Finding{
				Finding: lint.Finding{Object: o.title(), Field: "metadata.name", Text: fmt.Sprintf("it is also in %s:%d", earlier.File, earlier.Line)},
				File:    o.File, Line: o.line("metadata.name"),
			})
			continue
		}
		first[key] = o
	}
	return findings
}

func (o Object) title() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Read reads the workflows, templates and schedules of a file, those in lists as well. What cannot be read is a finding.
func Read(file File) ([]Object, []Finding) {
	var objects []Object
	var findings []Finding
	for _, part := range split(file.Data) {
		found, err := part.objects(file.Name)
		if err != nil {
			findings = append(findings, Finding{Finding: lint.Finding{Text: err.text}, File: file.Name, Line: err.line})
		}
		objects = append(objects, found...)
	}
	return objects, findings
}

// part is the text of one document, and how many lines are before it.
type part struct {
	text   []byte
	offset int
}

// split splits a file at its separators.
func split(data []byte) []part {
	var parts []part
	current := part{}
	for i, line := range bytes.SplitAfter(data, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("---")) && (len(bytes.TrimSpace(line)) == 3 || line[3] == ' ') {
			parts = append(parts, current)
			current = part{offset: i + 1}
			continue
		}
		current.text = append(current.text, line...)
	}
	return append(parts, current)
}

// brokenError is a document that cannot be read, with the line.
type brokenError struct {
	line int
	text string
}

// objects are those of a document.
func (p part) objects(file string) ([]Object, *brokenError) {
	var root yaml.Node
	if err := yaml.Unmarshal(p.text, &root); err != nil {
		return nil, p.broken(err)
	}
	if len(root.Content) == 0 {
		return nil, nil
	}
	data, err := jsonyaml.YAMLToJSONStrict(p.text)
	if err != nil {
		return nil, p.broken(err)
	}
	return p.of(file, root.Content[0], data), nil
}

// of are the objects of a value, which may be a list of objects.
func (p part) of(file string, root *yaml.Node, data []byte) []Object {
	head := struct {
		APIVersion, Kind string
		Metadata         struct{ Name, GenerateName, Namespace string }
		Items            []json.RawMessage
	}{}
	if json.Unmarshal(data, &head) != nil {
		return nil // it is not an object of Kubernetes
	}
	if items := child(root, "items"); strings.HasSuffix(head.Kind, "List") && items != nil && len(items.Content) == len(head.Items) {
		var all []Object
		for i, item := range head.Items {
			all = append(all, p.of(file, items.Content[i], item)...)
		}
		return all
	}
	group, _, _ := strings.Cut(head.APIVersion, "/")
	if group != v1alpha1.GroupVersion.Group || !slices.Contains(kinds, head.Kind) {
		return nil
	}
	return []Object{{
		File: file, Line: root.Line + p.offset, Kind: head.Kind, Namespace: head.Metadata.Namespace,
		Name: head.Metadata.Name, JSON: data, root: root, offset: p.offset,
	}}
}

// lineOf is the line that a parser names in an error.
var lineOf = regexp.MustCompile(`line (\d+): ?`)

func (p part) broken(err error) *brokenError {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
	b := &brokenError{line: p.offset + 1, text: text}
	if found := lineOf.FindStringSubmatch(text); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil {
			b.line, b.text = p.offset+n, strings.Replace(text, found[0], "", 1)
		}
	}
	b.text = "it is not valid YAML: " + strings.Join(strings.Fields(b.text), " ")
	return b
}
