package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// WorkflowPlugin is the plugin by which a Workflow measures. It is one of Headgate: Argo Rollouts has none for Workflows.
	WorkflowPlugin = "headgate.dev/workflow"
	// maxDepth bounds how deep the specification of a Job is nested.
	maxDepth = 50
	jobKind  = "Job"
)

func (p Provider) check() error {
	switch {
	case p.Web != nil && p.Job == nil && p.Plugin == nil:
		if p.Web.Authentication != nil {
			return errors.New("provider.web.authentication is not supported: use a header, with an argument from a Secret")
		}
		return nil
	case p.Job != nil && p.Web == nil && p.Plugin == nil:
		if len(p.Job.Spec) == 0 {
			return errors.New("provider.job.spec: it is missing")
		}
		return nil
	case p.Plugin != nil && p.Web == nil && p.Job == nil:
		_, err := p.workflow()
		return err
	}
	return fmt.Errorf("provider: one of web, job and plugin %q is carried out here; Argo Rollouts carries out the others", WorkflowPlugin)
}

// workflow is what the plugin declares.
func (p Provider) workflow() (Workflow, error) {
	var w Workflow
	declared, there := p.Plugin[WorkflowPlugin]
	if !there || len(p.Plugin) != 1 {
		return w, fmt.Errorf("provider.plugin: only %q is carried out here; Argo Rollouts carries out others", WorkflowPlugin)
	}
	data, err := json.Marshal(declared)
	if err == nil {
		err = json.Unmarshal(data, &w)
	}
	if err != nil {
		return w, fmt.Errorf("provider.plugin[%s]: %w", WorkflowPlugin, err)
	}
	if w.WorkflowTemplateRef.Name == "" {
		return w, fmt.Errorf("provider.plugin[%s].workflowTemplateRef.name: it is missing", WorkflowPlugin)
	}
	return w, nil
}

// Object is the Job or the Workflow by which a metric is measured, without a name, filled in with the values of arguments. Values of Secrets are not among them:
// they would be readable in the object.
func (m Metric) Object(values map[string]string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	var (
		fields map[string]any
		about  Metadata
		field  string
		err    error
	)
	if m.Provider.Job != nil {
		field, fields, about = "provider.job", m.Provider.Job.Spec, m.Provider.Job.Metadata
		u.SetAPIVersion("batch/v1")
		u.SetKind(jobKind)
	} else {
		var w Workflow
		if w, err = m.Provider.workflow(); err != nil {
			return nil, err
		}
		field, about = "provider.plugin["+WorkflowPlugin+"]", w.Metadata
		w.Metadata = Metadata{}
		if fields, err = Fields(w); err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		u.SetAPIVersion("argoproj.io/v1alpha1")
		u.SetKind("Workflow")
	}
	filled, err := fillAll(fields, values, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; values of Secrets are given to a container by env.valueFrom", field, err)
	}
	u.SetUnstructuredContent(map[string]any{"apiVersion": u.GetAPIVersion(), "kind": u.GetKind(), "spec": filled})
	u.SetLabels(maps.Clone(about.Labels))
	u.SetAnnotations(maps.Clone(about.Annotations))
	return u, nil
}

// Fields are those of a value as an object has them.
func Fields(value any) (map[string]any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	return fields, json.Unmarshal(data, &fields)
}

// fillAll fills the texts of a value.
func fillAll(value any, values map[string]string, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	switch v := value.(type) {
	case string:
		return Fill(v, values)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = fillAll(item, values, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			var err error
			if out[key], err = fillAll(item, values, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return value, nil
}

// Outcome is the phase of a measurement by a Job or a Workflow, and why it did not succeed.
func Outcome(u *unstructured.Unstructured) (phase, message string) {
	if u.GetKind() == jobKind {
		return outcomeOfJob(u)
	}
	message, _, _ = unstructured.NestedString(u.Object, "status", "message")
	switch at, _, _ := unstructured.NestedString(u.Object, "status", "phase"); at {
	case "Succeeded":
		return Successful, ""
	case "Failed":
		return Failed, message
	case "Error":
		return Error, message
	}
	return Running, ""
}

func outcomeOfJob(u *unstructured.Unstructured) (phase, message string) {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range conditions {
		c, _ := item.(map[string]any)
		if c["status"] != "True" {
			continue
		}
		switch c["type"] {
		case "Complete":
			return Successful, ""
		case "Failed":
			message, _ = c["message"].(string)
			return Failed, message
		}
	}
	return Running, ""
}
