package lint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strict "sigs.k8s.io/json"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// decoded is an object as its type has it; one of the three is set.
type decoded struct {
	title    string
	workflow *v1alpha1.Workflow
	template *v1alpha1.WorkflowSpec
	cron     *v1alpha1.CronWorkflow
}

// decode reads an object, and names every field that its type does not have. It is nil for one that cannot be read.
func decode(document []byte) (*decoded, []Finding) {
	head := struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}{}
	if err := json.Unmarshal(document, &head); err != nil {
		return nil, []Finding{{Object: "object", Field: "kind", Text: "it is not an object: " + err.Error()}}
	}
	d := &decoded{title: title(head.Kind, head.ObjectMeta)}
	var into any
	switch head.Kind {
	case v1alpha1.WorkflowKind:
		d.workflow = &v1alpha1.Workflow{}
		into = d.workflow
	case v1alpha1.WorkflowTemplateKind:
		template := &v1alpha1.WorkflowTemplate{}
		d.template, into = &template.Spec, template
	case v1alpha1.ClusterWorkflowTemplateKind:
		template := &v1alpha1.ClusterWorkflowTemplate{}
		d.template, into = &template.Spec, template
	case v1alpha1.CronWorkflowKind:
		d.cron = &v1alpha1.CronWorkflow{}
		into = d.cron
	default:
		return nil, []Finding{{Object: d.title, Field: "kind", Text: fmt.Sprintf("%q is not a kind of workflow", head.Kind)}}
	}
	problems, err := strict.UnmarshalStrict(document, into)
	if err != nil {
		return nil, []Finding{{Object: d.title, Field: fieldOf(err), Text: err.Error()}}
	}
	var findings []Finding
	for _, problem := range problems {
		field, text := unknown(problem.Error())
		if strings.HasPrefix(field, "status") {
			continue // what the upstream's controller wrote is not a mistake of the user
		}
		findings = append(findings, Finding{Object: d.title, Template: templateAt(d, field), Field: field, Text: text})
	}
	return d, findings
}

func title(kind string, meta metav1.ObjectMeta) string {
	name := meta.Name
	if name == "" {
		name = meta.GenerateName
	}
	if meta.Namespace != "" {
		name = meta.Namespace + "/" + name
	}
	return strings.TrimSpace(kind + " " + name)
}

// fieldOf is the field that an error of the decoder names.
func fieldOf(err error) string {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) && typed.Field != "" {
		return typed.Field
	}
	return "spec"
}

// unknown is the field of an error such as: unknown field "spec.x".
func unknown(text string) (field, message string) {
	kind, quoted, found := strings.Cut(text, ` "`)
	if !found {
		return "spec", text
	}
	if path, err := strconv.Unquote(`"` + quoted); err == nil {
		return path, kind
	}
	return "spec", text
}

// templateAt is the name of the template that a field is in.
func templateAt(d *decoded, field string) string {
	var spec *v1alpha1.WorkflowSpec
	rest := ""
	switch {
	case d.workflow != nil:
		spec, rest = &d.workflow.Spec, strings.TrimPrefix(field, "spec.templates[")
	case d.template != nil:
		spec, rest = d.template, strings.TrimPrefix(field, "spec.templates[")
	default:
		spec, rest = &d.cron.Spec.WorkflowSpec, strings.TrimPrefix(field, "spec.workflowSpec.templates[")
	}
	index, err := strconv.Atoi(rest[:max(0, strings.Index(rest, "]"))])
	if rest == field || err != nil || index >= len(spec.Templates) {
		return ""
	}
	return spec.Templates[index].Name
}
