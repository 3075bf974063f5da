package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/lestrrat-go/strftime"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// verbs are the letters by which parts of a time are named, as in workflow.creationTimestamp.Y.
const verbs = "AaBbCcDdeFHIjkLlMmnpRrSTtUuVvWwXxYyZz"

// scope collects the values that all templates see.
func (p *planner) scope() error {
	g := text.NewScope(p.facts.Now)
	p.global = g
	g.Set("workflow.name", p.wf.Name)
	g.Set("workflow.namespace", p.wf.Namespace)
	g.Set("workflow.uid", string(p.wf.UID))
	g.Set("workflow.mainEntrypoint", p.spec.Entrypoint)
	g.Set("workflow.serviceAccountName", p.spec.ServiceAccountName)
	if p.spec.Priority != nil {
		g.Set("workflow.priority", strconv.Itoa(int(*p.spec.Priority)))
	}
	if at, found := p.wf.Annotations[v1alpha1.AnnotationScheduledTime]; found {
		g.Set("workflow.scheduledTime", at)
	}
	p.setTimes(g)
	setMap(g, "workflow.labels", p.wf.Labels)
	setMap(g, "workflow.annotations", p.wf.Annotations)
	if err := p.setParameters(g); err != nil {
		return err
	}
	if outputs := p.wf.Status.Outputs; outputs != nil {
		p.exportAll(outputs)
	}
	return nil
}

// setTimes gives the time of creation its names. In expressions it is one value, from which functions make the others.
func (p *planner) setTimes(g *text.Scope) {
	created := p.wf.CreationTimestamp.UTC()
	const name = "workflow.creationTimestamp"
	g.Set(name, created.Format(time.RFC3339))
	g.SetTag(name+".RFC3339", created.Format(time.RFC3339))
	g.SetTag(name+".s", strconv.FormatInt(created.Unix(), 10))
	for _, verb := range verbs {
		if formatted, err := strftime.Format("%"+string(verb), created); err == nil {
			g.SetTag(name+"."+string(verb), formatted)
		}
	}
	if started := p.wf.Status.StartedAt; !started.IsZero() {
		g.Set("workflow.duration", strconv.FormatFloat(p.facts.Now.Sub(started.Time).Seconds(), 'f', 6, 64))
	}
}

// setMap gives the fields of labels or annotations their names, and all of them one.
func setMap(g *text.Scope, name string, values map[string]string) {
	for key, value := range values {
		g.Set(name+"."+key, value)
	}
	all := maps.Clone(values)
	if all == nil {
		all = map[string]string{}
	}
	if data, err := json.Marshal(all); err == nil {
		g.Set(name+".json", string(data))
	}
}

// setParameters gives the arguments of the workflow their names, in their order: one may be in terms of an earlier one.
func (p *planner) setParameters(g *text.Scope) error {
	for i := range p.spec.Arguments.Parameters {
		parameter := &p.spec.Arguments.Parameters[i]
		value := parameter.Value
		if value == nil {
			found, err := text.FromConfig(parameter.ValueFrom, p.facts.Configs)
			if err != nil {
				return fmt.Errorf("spec.arguments.parameters.%s: %w", parameter.Name, err)
			}
			value = found
		}
		if value == nil {
			value = parameter.Default
		}
		if value == nil {
			return fmt.Errorf("spec.arguments.%s.value or spec.arguments.%s.valueFrom is required", parameter.Name, parameter.Name)
		}
		replaced, err := text.Replace(value.String(), g, text.Mode{Late: lateAnywhere})
		if err != nil {
			return fmt.Errorf("spec.arguments.parameters.%s: %w", parameter.Name, err)
		}
		parameter.Value = v1alpha1.Any(replaced)
		g.Set("workflow.parameters."+parameter.Name, replaced)
	}
	list, err := parametersJSON(p.spec.Arguments.Parameters)
	if err != nil {
		return err
	}
	g.Set("workflow.parameters.json", list)
	return nil
}

// parametersJSON is a list of parameters as tags that name all of them see it.
func parametersJSON(parameters []v1alpha1.Parameter) (string, error) {
	if parameters == nil {
		parameters = []v1alpha1.Parameter{}
	}
	data, err := json.Marshal(parameters)
	if err != nil {
		return "", fmt.Errorf("writing parameters as JSON: %w", err)
	}
	return string(data), nil
}

// exportAll gives outputs of the workflow their names.
func (p *planner) exportAll(outputs *v1alpha1.Outputs) {
	for _, parameter := range outputs.Parameters {
		if parameter.Value != nil {
			p.global.Set("workflow.outputs.parameters."+parameter.Name, parameter.Value.String())
		}
	}
	for _, artifact := range outputs.Artifacts {
		p.global.SetArtifact("workflow.outputs.artifacts."+artifact.Name, artifact)
	}
}

// export makes outputs with a global name outputs of the workflow.
func (p *planner) export(outputs *v1alpha1.Outputs) {
	if outputs == nil {
		return
	}
	for _, parameter := range outputs.Parameters {
		if parameter.GlobalName == "" || parameter.Value == nil {
			continue
		}
		all := p.outputs()
		all.Parameters = upsert(all.Parameters, v1alpha1.Parameter{Name: parameter.GlobalName, Value: parameter.Value}, func(one v1alpha1.Parameter) string { return one.Name })
	}
	for _, artifact := range outputs.Artifacts {
		if artifact.GlobalName == "" {
			continue
		}
		all := p.outputs()
		artifact.Name, artifact.GlobalName, artifact.Path = artifact.GlobalName, "", ""
		all.Artifacts = upsert(all.Artifacts, artifact, func(one v1alpha1.Artifact) string { return one.Name })
	}
	if p.wf.Status.Outputs != nil {
		p.exportAll(p.wf.Status.Outputs)
	}
}

func (p *planner) outputs() *v1alpha1.Outputs {
	if p.wf.Status.Outputs == nil {
		p.wf.Status.Outputs = &v1alpha1.Outputs{}
	}
	return p.wf.Status.Outputs
}

// upsert puts a value into a list, and replaces one with the same name.
func upsert[T any](all []T, one T, name func(T) string) []T {
	for i := range all {
		if name(all[i]) == name(one) {
			all[i] = one
			return all
		}
	}
	return append(all, one)
}

// failures are the nodes that failed, as exit handlers see them: a list in JSON, in quotes.
func (p *planner) failures() string {
	type failure struct {
		DisplayName  string `json:"displayName"`
		Message      string `json:"message"`
		TemplateName string `json:"templateName"`
		Phase        string `json:"phase"`
		PodName      string `json:"podName"`
		FinishedAt   string `json:"finishedAt"`
	}
	all := []failure{}
	for _, id := range p.sorted() {
		node := p.nodes[id]
		if node.Phase.Bad() {
			template := templateOf(node)
			all = append(all, failure{
				node.DisplayName, node.Message, template, string(node.Phase), PodName(p.wf.Name, template, node.Name), node.FinishedAt.UTC().Format(time.RFC3339),
			})
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		return "[]" // strings can always be written
	}
	return strconv.Quote(strings.TrimSpace(string(data)))
}

// templateOf is the name of the template of a node.
func templateOf(node *v1alpha1.NodeStatus) string {
	if node.TemplateRef != nil {
		return node.TemplateRef.Template
	}
	return node.TemplateName
}
