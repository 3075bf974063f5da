package lint

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/cron"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

var (
	// names of templates, steps and tasks.
	templateName = regexp.MustCompile(`^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$`)
	callName     = regexp.MustCompile(`^[a-zA-Z0-9][-a-zA-Z0-9_]*$`)
	// names of parameters and artifacts.
	valueName = regexp.MustCompile(`^[-a-zA-Z0-9_.]+$`)
)

// spec checks that of a workflow, or of a template of workflows, which need not be complete.
func (c *checker) spec(path string, spec *v1alpha1.WorkflowSpec, run bool) {
	c.refuseSpec(path, spec)
	c.own, c.defaults = map[string]*v1alpha1.Template{}, spec.TemplateDefaults
	for i := range spec.Templates {
		template := &spec.Templates[i]
		at := fmt.Sprintf("%s.templates[%d].name", path, i)
		switch {
		case template.Name == "":
			c.add(at, "a template has a name")
		case c.own[template.Name] != nil:
			c.add(at, "the template name %q is not unique", template.Name)
		case !templateName.MatchString(template.Name):
			c.add(at, "%q has other characters than letters, digits and '-'", template.Name)
		}
		c.own[template.Name] = template
	}
	if run {
		c.knownArguments(spec)
	}
	for i := range spec.Templates {
		c.template = spec.Templates[i].Name
		c.templateOf(fmt.Sprintf("%s.templates[%d]", path, i), &spec.Templates[i])
		c.template = ""
	}
	c.entrypoint(path, spec, run)
	c.limits(path, spec)
	c.parameters(path+".arguments", spec.Arguments.Parameters)
	if run && spec.WorkflowTemplateRef == nil {
		for i, parameter := range spec.Arguments.Parameters {
			if parameter.Value == nil && parameter.ValueFrom == nil && parameter.Default == nil {
				c.add(fmt.Sprintf("%s.arguments.parameters[%d]", path, i), "spec.arguments.%s.value or spec.arguments.%s.valueFrom is required", parameter.Name, parameter.Name)
			}
		}
	}
	c.hooks(path, spec.Hooks)
}

// refuseSpec names the fields that nothing acts on, each with the template that it is in.
func (c *checker) refuseSpec(path string, spec *v1alpha1.WorkflowSpec) {
	rest := *spec
	rest.Templates = nil
	c.refuse(path, reflect.ValueOf(rest))
	for i := range spec.Templates {
		c.template = spec.Templates[i].Name
		c.refuse(fmt.Sprintf("%s.templates[%d]", path, i), reflect.ValueOf(spec.Templates[i]))
		c.template = ""
	}
}

// knownArguments collects the parameters of the workflow, if they can all be known.
func (c *checker) knownArguments(spec *v1alpha1.WorkflowSpec) {
	c.arguments = map[string]bool{}
	add := func(parameters []v1alpha1.Parameter) {
		for _, parameter := range parameters {
			c.arguments[parameter.Name] = true
		}
	}
	add(spec.Arguments.Parameters)
	if c.library.Defaults != nil {
		add(c.library.Defaults.Arguments.Parameters)
	}
	if ref := spec.WorkflowTemplateRef; ref != nil {
		below := c.library.Specs[plan.Source{Name: ref.Name, Cluster: ref.ClusterScope}]
		if below == nil {
			c.arguments = nil
			return
		}
		add(below.Arguments.Parameters)
	}
}

// entrypoint checks what is executed first, and last.
func (c *checker) entrypoint(path string, spec *v1alpha1.WorkflowSpec, run bool) {
	if ref := spec.WorkflowTemplateRef; ref != nil {
		source := plan.Source{Name: ref.Name, Cluster: ref.ClusterScope}
		if ref.Name == "" {
			c.add(path+".workflowTemplateRef.name", "it is required")
		} else if below, known := c.library.Specs[source]; known && below == nil {
			c.add(path+".workflowTemplateRef.name", "%q does not exist", ref.Name)
		}
		if len(spec.Templates) > 0 {
			c.add(path+".templates", "templates is invalid field in spec if workflow referred WorkflowTemplate reference")
		}
		return
	}
	if run && spec.Entrypoint == "" && (c.library.Defaults == nil || c.library.Defaults.Entrypoint == "") {
		c.add(path+".entrypoint", "spec.entrypoint is required")
	}
	if spec.Entrypoint != "" && c.own[spec.Entrypoint] == nil && !strings.Contains(spec.Entrypoint, "{{") {
		c.add(path+".entrypoint", "template name '%s' undefined", spec.Entrypoint)
	}
	if spec.OnExit != "" && c.own[spec.OnExit] == nil && !strings.Contains(spec.OnExit, "{{") {
		c.add(path+".onExit", "template name '%s' undefined", spec.OnExit)
	}
	if entry := c.own[spec.Entrypoint]; run && entry != nil {
		c.supplied(path+".arguments", entry, spec.Arguments)
	}
}

// limits checks what bounds a run, and what follows its end.
func (c *checker) limits(path string, spec *v1alpha1.WorkflowSpec) {
	c.atLeast(path+".parallelism", spec.Parallelism, 1)
	c.atLeast(path+".activeDeadlineSeconds", spec.ActiveDeadlineSeconds, 0)
	c.oneOf(path+".shutdown", string(spec.Shutdown), string(v1alpha1.ShutdownStop), string(v1alpha1.ShutdownTerminate))
	if gc := spec.PodGC; gc != nil {
		c.oneOf(path+".podGC.strategy", string(gc.Strategy), string(v1alpha1.PodGCOnPodCompletion), string(v1alpha1.PodGCOnPodSuccess),
			string(v1alpha1.PodGCOnWorkflowCompletion), string(v1alpha1.PodGCOnWorkflowSuccess))
		c.duration(path+".podGC.deleteDelayDuration", gc.DeleteDelayDuration)
	}
	if gc := spec.VolumeClaimGC; gc != nil {
		c.oneOf(path+".volumeClaimGC.strategy", gc.Strategy, string(v1alpha1.PodGCOnWorkflowCompletion), string(v1alpha1.PodGCOnWorkflowSuccess))
	}
	c.retry(path+".retryStrategy", spec.RetryStrategy)
	if metadata := spec.WorkflowMetadata; metadata != nil {
		for _, name := range slices.Sorted(maps.Keys(metadata.LabelsFrom)) {
			c.expression(path+".workflowMetadata.labelsFrom."+name+".expression", metadata.LabelsFrom[name].Expression)
		}
	}
}

func (c *checker) atLeast(field string, value *int64, least int64) {
	if value != nil && *value < least {
		c.add(field, "%d is less than %d", *value, least)
	}
}

// duration checks a duration, unless tags are left in it.
func (c *checker) duration(field, value string) {
	if value == "" || strings.Contains(value, "{{") {
		return
	}
	_, err := text.Duration(value)
	c.err(field, err)
}

func (c *checker) expression(field, expression string) {
	if expression == "" || strings.Contains(expression, "{{") {
		return
	}
	_, err := text.Names(expression)
	c.err(field, err)
}

// cron checks a schedule with the spec of its runs.
func (c *checker) cron(object *v1alpha1.CronWorkflow) {
	const longestName = 52
	if len(object.Name) > longestName {
		c.add("metadata.name", "cron workflow name must not be more than %d characters long: runs have the time in theirs", longestName)
	}
	spec := &object.Spec
	if _, err := cron.ParseSchedules(spec); err != nil {
		field := "spec.schedules"
		if len(spec.Schedules) == 0 && spec.Schedule != "" {
			field = "spec.schedule"
		}
		c.err(field, err)
	}
	c.oneOf("spec.concurrencyPolicy", string(spec.ConcurrencyPolicy), string(v1alpha1.AllowConcurrent), string(v1alpha1.ForbidConcurrent), string(v1alpha1.ReplaceConcurrent))
	c.atLeast("spec.startingDeadlineSeconds", spec.StartingDeadlineSeconds, 0)
	if stop := spec.StopStrategy; stop != nil {
		c.expression("spec.stopStrategy.expression", stop.Expression)
		c.expression("spec.stopStrategy.condition", stop.Condition)
		if stop.Expression == "" && stop.Condition == "" {
			c.add("spec.stopStrategy.expression", "it is required")
		}
	}
	_, expressions := text.Tags(spec.When)
	for _, one := range expressions {
		_, err := text.Names(one)
		c.err("spec.when", err)
	}
	c.spec("spec.workflowSpec", &spec.WorkflowSpec, true)
}
