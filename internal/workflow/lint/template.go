package lint

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/object"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// templateOf checks one template.
func (c *checker) templateOf(path string, t *v1alpha1.Template) {
	kinds := kindsOf(t)
	switch {
	case len(kinds) == 0 && executesLater(t):
	case len(kinds) == 0:
		c.add(path, "template type unspecified. choose one of: container, script, resource, http, suspend, steps, dag")
	case len(kinds) > 1:
		c.add(path, "multiple template types specified: %s. choose one", strings.Join(kinds, ", "))
	}
	c.parameters(path+".inputs", t.Inputs.Parameters)
	c.artifacts(path+".inputs", t.Inputs.Artifacts, isLeaf(t), false)
	c.outputs(path+".outputs", t)
	c.retry(path+".retryStrategy", t.RetryStrategy)
	c.duration(path+".timeout", t.Timeout)
	c.duration(path+".pendingTimeout", t.PendingTimeout)
	c.atLeast(path+".parallelism", t.Parallelism, 1)
	c.numeric(path+".activeDeadlineSeconds", t.ActiveDeadlineSeconds)
	if !isLeaf(t) && t.ActiveDeadlineSeconds != nil {
		c.add(path+".activeDeadlineSeconds", "it is only valid for leaf templates")
	}
	switch {
	case t.Container != nil:
		c.image(path+".container", t.Container.Image, c.defaults != nil && c.defaults.Container != nil)
	case t.Script != nil:
		c.image(path+".script", t.Script.Image, c.defaults != nil && c.defaults.Script != nil)
	case t.Resource != nil:
		c.resource(path+".resource", t)
	case t.HTTP != nil:
		c.request(path+".http", t.HTTP)
	case t.Suspend != nil:
		c.duration(path+".suspend.duration", t.Suspend.Duration)
	case t.Steps != nil:
		c.steps(path+".steps", t)
	case t.DAG != nil:
		c.dag(path+".dag", t)
	}
	c.references(path, t)
}

// kindsOf are the fields of a template that say what it executes.
func kindsOf(t *v1alpha1.Template) []string {
	var kinds []string
	for kind, set := range map[plan.TemplateKind]bool{
		plan.ContainerTemplate: t.Container != nil, plan.ScriptTemplate: t.Script != nil, plan.ResourceTemplate: t.Resource != nil,
		plan.HTTPTemplate: t.HTTP != nil, plan.SuspendTemplate: t.Suspend != nil, plan.StepsTemplate: t.Steps != nil, plan.DAGTemplate: t.DAG != nil,
	} {
		if set {
			kinds = append(kinds, string(kind))
		}
	}
	slices.Sort(kinds)
	return kinds
}

// executesLater reports whether a template executes something that is not supported, which is a finding of its own.
func executesLater(t *v1alpha1.Template) bool {
	return t.ContainerSet != nil || t.Data != nil || t.Plugin != nil
}

func isLeaf(t *v1alpha1.Template) bool { return t.Steps == nil && t.DAG == nil && t.Suspend == nil }

// image checks that there is one, here or in what is merged below.
func (c *checker) image(path, image string, merged bool) {
	if image == "" && !merged {
		c.add(path+".image", "it may not be empty")
	}
}

// parameters checks parameters of inputs or arguments.
func (c *checker) parameters(path string, parameters []v1alpha1.Parameter) {
	seen := map[string]bool{}
	for i := range parameters {
		p := &parameters[i]
		at := fmt.Sprintf("%s.parameters[%d]", path, i)
		c.named(at+".name", p.Name, seen)
		if p.Enum != nil && len(p.Enum) == 0 {
			c.add(at+".enum", "should contain at least one value")
		}
		for field, value := range map[string]*v1alpha1.AnyString{"value": p.Value, "default": p.Default} {
			if value == nil || len(p.Enum) == 0 || strings.Contains(value.String(), "{{") {
				continue
			}
			if !slices.Contains(p.Enum, *value) {
				c.add(at+"."+field, "%q should be present in 'enum' list", value.String())
			}
		}
		if p.Value != nil && p.ValueFrom != nil {
			c.add(at, "it has a value and a valueFrom; choose one")
		}
		if from := p.ValueFrom; from != nil && from.ConfigMapKeyRef == nil && from.Supplied == nil && from.Event == "" && from.Default == nil {
			c.add(at+".valueFrom", "an input has its value from configMapKeyRef or supplied")
		}
	}
}

func (c *checker) named(field, name string, seen map[string]bool) {
	switch {
	case name == "":
		c.add(field, "it is required")
	case !valueName.MatchString(name):
		c.add(field, "%q has other characters than letters, digits, '-', '_' and '.'", name)
	case seen[name]:
		c.add(field, "name '%s' is not unique", name)
	}
	seen[name] = true
}

// artifacts checks artifacts that are put somewhere, for which leaves need a path. One file may be several outputs, but has one content as an input.
func (c *checker) artifacts(path string, artifacts []v1alpha1.Artifact, pathNeeded, shared bool) {
	seen, paths := map[string]bool{}, map[string]string{}
	for i := range artifacts {
		a := &artifacts[i]
		at := fmt.Sprintf("%s.artifacts[%d]", path, i)
		c.named(at+".name", a.Name, seen)
		switch {
		case pathNeeded && a.Path == "":
			c.add(at+".path", "it is required: the file is put there, or taken from there")
		case !shared && a.Path != "" && paths[a.Path] != "":
			c.add(at+".path", "%q is also that of artifact %q", a.Path, paths[a.Path])
		}
		paths[a.Path] = a.Name
		if a.Mode != nil && (*a.Mode < 0 || *a.Mode > 0o777) {
			c.add(at+".mode", "it must be a value between 0 and 0777")
		}
		if a.From != "" && a.FromExpression != "" {
			c.add(at, "it has from and fromExpression; choose one")
		}
		if _, whole := text.Whole(a.From); a.From != "" && !whole {
			c.add(at+".from", "%q is not one tag, such as {{steps.build.outputs.artifacts.image}}", a.From)
		}
		c.expression(at+".fromExpression", a.FromExpression)
		c.location(at, a)
	}
}

// location checks that an artifact is in one place.
func (c *checker) location(path string, a *v1alpha1.Artifact) {
	var places []string
	for place, set := range map[string]bool{"raw": a.Raw != nil, "git": a.Git != nil, "http": a.HTTP != nil, "local": a.Local != nil, "s3": a.S3 != nil, "gcs": a.GCS != nil} {
		if set {
			places = append(places, place)
		}
	}
	if len(places) > 1 {
		slices.Sort(places)
		c.add(path, "it is in several places: %s", strings.Join(places, ", "))
	}
	if a.Git != nil && a.Git.Repo == "" {
		c.add(path+".git.repo", "it is required")
	}
	if a.HTTP != nil && a.HTTP.URL == "" {
		c.add(path+".http.url", "it is required")
	}
}

// outputs checks where outputs come from, which depends on what a template executes.
func (c *checker) outputs(path string, t *v1alpha1.Template) {
	seen := map[string]bool{}
	for i := range t.Outputs.Parameters {
		p := &t.Outputs.Parameters[i]
		at := fmt.Sprintf("%s.parameters[%d]", path, i)
		c.named(at+".name", p.Name, seen)
		from := p.ValueFrom
		switch {
		case from == nil && p.Value == nil:
			c.add(at, "value or valueFrom is required")
		case from == nil:
		case t.Steps != nil || t.DAG != nil:
			if from.Parameter == "" && from.Expression == "" {
				c.add(at+".valueFrom", "parameter or expression is required for %s", plan.KindOf(t))
			}
			c.expression(at+".valueFrom.expression", from.Expression)
		case t.Container != nil || t.Script != nil:
			if from.Path == "" {
				c.add(at+".valueFrom.path", "it is required for %s", plan.KindOf(t))
			}
		case t.Resource != nil:
			if from.JSONPath == "" && from.JQFilter == "" {
				c.add(at+".valueFrom", "jsonPath or jqFilter is required for resource")
			}
		case t.HTTP != nil:
			c.add(at, "a request has no output but its result")
		case t.Suspend != nil:
			if from.Supplied == nil {
				c.add(at+".valueFrom.supplied", "it is required for suspend")
			}
		}
	}
	c.artifacts(path, t.Outputs.Artifacts, t.Container != nil || t.Script != nil, true)
}

// retry checks how something is retried.
func (c *checker) retry(path string, r *v1alpha1.RetryStrategy) {
	if r == nil {
		return
	}
	c.oneOf(path+".retryPolicy", string(r.RetryPolicy), string(v1alpha1.RetryAlways), string(v1alpha1.RetryOnFailure), string(v1alpha1.RetryOnError), string(v1alpha1.RetryOnTransientError))
	c.numeric(path+".limit", r.Limit)
	c.expression(path+".expression", r.Expression)
	if r.Backoff == nil {
		return
	}
	if r.Backoff.Duration == "" {
		c.add(path+".backoff.duration", "no base duration specified for retryStrategy")
	}
	c.duration(path+".backoff.duration", r.Backoff.Duration)
	c.duration(path+".backoff.maxDuration", r.Backoff.MaxDuration)
	c.duration(path+".backoff.cap", r.Backoff.Cap)
	c.numeric(path+".backoff.factor", r.Backoff.Factor)
}

// numeric checks a number that may be written as a string, or as a tag.
func (c *checker) numeric(field string, value *intstr.IntOrString) {
	if value == nil || strings.Contains(value.String(), "{{") {
		return
	}
	if n := value.IntValue(); n < 0 || value.Type == intstr.String && fmt.Sprint(n) != value.StrVal {
		c.add(field, "%q is not a number that is at least 0", value.String())
	}
}

// resource checks what is done to an object.
func (c *checker) resource(path string, t *v1alpha1.Template) {
	r := t.Resource
	actions := []string{"get", "create", "apply", "delete", "replace", "patch"}
	if r.Action == "" {
		c.add(path+".action", "it is one of %s", strings.Join(actions, ", "))
	}
	c.oneOf(path+".action", r.Action, actions...)
	c.oneOf(path+".mergeStrategy", r.MergeStrategy, "strategic", "merge", "json")
	if r.MergeStrategy == "json" {
		c.unsupported(path+".mergeStrategy", "a json patch does not name its object, and flags of kubectl are not supported; use strategic or merge")
	}
	switch {
	case r.Manifest != "" && r.ManifestFrom != nil:
		c.add(path, "it has manifest and manifestFrom; choose one")
	case r.Manifest == "" && r.ManifestFrom == nil:
		c.add(path+".manifest", "manifest or manifestFrom is required")
	case r.ManifestFrom != nil && r.ManifestFrom.Artifact == nil:
		c.add(path+".manifestFrom.artifact", "it is required")
	case r.Manifest != "" && !strings.Contains(r.Manifest, "{{"):
		var parsed map[string]any
		if err := yaml.Unmarshal([]byte(r.Manifest), &parsed); err != nil {
			c.add(path+".manifest", "it is not the YAML of one object: %s", err)
		}
	}
	if !strings.Contains(r.SuccessCondition+r.FailureCondition, "{{") {
		_, err := object.ParseConditions(r.SuccessCondition, r.FailureCondition)
		c.err(path+".successCondition", err)
	}
}

// request checks a request.
func (c *checker) request(path string, h *v1alpha1.HTTPTemplate) {
	if h.URL == "" {
		c.add(path+".url", "it is required")
	}
	if h.Body != "" && h.BodyFrom != nil {
		c.add(path, "it has body and bodyFrom; choose one")
	}
	c.atLeast(path+".timeoutSeconds", h.TimeoutSeconds, 1)
	c.expression(path+".successCondition", h.SuccessCondition)
}
