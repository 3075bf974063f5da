package plan

import (
	"errors"
	"fmt"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// maxDepth is how deep templates may call each other.
const maxDepth = 100

var errDepth = errors.New("Maximum recursion depth exceeded. See https://argo-workflows.readthedocs.io/en/latest/workflow-restrictions/")

// request is a template to be executed as one node.
type request struct {
	// name is that of the node.
	name string
	// call names the template, unless it is inline; place is where names are looked up.
	call   v1alpha1.Call
	inline *v1alpha1.Template
	place  place
	// arguments have no tags left.
	arguments v1alpha1.Arguments
	// boundary is the ID of the steps or graph that the node is part of, owner its template.
	boundary string
	owner    *v1alpha1.Template
	// step is the name of the step or task, without an item.
	step string
	// caller is the name of the variable for the name of the step or task, and that name.
	caller [2]string
	// exit is set for what is part of an exit handler.
	exit bool
	flag v1alpha1.NodeFlag
	// scope are the values that the template sees besides its inputs.
	scope *text.Scope
	// until is when retries end that this is an attempt of; zero for never.
	until time.Time
	// avoid are the machines of earlier attempts.
	avoid []string
}

// Names that have a value only in some places, and stay as they are in others.
var (
	// lateAnywhere are those of a loop, of a retry and of an exit handler, and those of nodes.
	lateAnywhere = []string{"item", "retries", "lastRetry", "workflow.status", "workflow.failures", "workflow.outputs", "inputs", "outputs", "steps", "tasks", "pod", "node"}
	// lateInRetry are those that each attempt has for itself.
	lateInRetry = []string{"retries", "lastRetry", "pod.name", "workflow.status", "workflow.failures"}
	// lateInCaller are those that steps and tasks get when they are called.
	lateInCaller = []string{"item", "retries", "lastRetry", "steps", "tasks", "workflow.status", "workflow.failures", "workflow.outputs", "pod", "node"}
	// lateInLeaf are those that have a value in exit handlers only.
	lateInLeaf = []string{"workflow.status", "workflow.failures"}
	// resolved are the beginnings of names that have to have a value once they are not late.
	resolved = []string{"inputs", "steps", "tasks", "workflow"}
)

// execute brings the node of a request further. The node is nil if nothing could be started yet. An error is a mistake that was
// found before anything was executed; the node then has it as its message.
func (p *planner) execute(r request) (*v1alpha1.NodeStatus, error) {
	existing := p.node(r.name)
	if existing != nil && existing.Phase.Fulfilled() {
		return existing, nil
	}
	p.depth++
	defer func() { p.depth-- }()
	if p.depth >= maxDepth {
		return p.fail(r, errDepth), errDepth
	}
	found, at, err := p.resolve(r)
	if err != nil {
		return p.fail(r, err), err
	}
	if found == nil {
		return existing, nil // another object has to be read
	}
	if existing != nil && existing.Inputs != nil {
		// What it was begun with counts, even if an expression would give something else by now.
		r.arguments = v1alpha1.Arguments(*existing.Inputs)
	}
	template, scope, err := p.bind(r, found)
	var unread *text.UnknownConfigError
	if errors.As(err, &unread) {
		p.askConfig(unread.ConfigKey)
		return existing, nil
	}
	if err != nil {
		return p.fail(r, err), err
	}
	if existing == nil && !p.mayCreate(r, template) {
		return nil, nil
	}
	c := call{request: r, template: template, at: at, inner: scope}
	if strategy := p.strategy(template); strategy != nil {
		return p.retry(c, strategy)
	}
	return p.carryOut(c)
}

// call is a request with the template that it means.
type call struct {
	request

	template *v1alpha1.Template
	// at is where the template names others, inner what it sees.
	at    place
	inner *text.Scope
}

// carryOut brings the node of a call further, by what its template executes.
func (p *planner) carryOut(c call) (*v1alpha1.NodeStatus, error) {
	switch KindOf(c.template) {
	case StepsTemplate:
		return p.steps(c), nil
	case DAGTemplate:
		return p.dag(c), nil
	case SuspendTemplate:
		return p.suspend(c)
	case "":
		err := fmt.Errorf("template %q missing specification", c.template.Name)
		return p.fail(c.request, err), err
	default:
		return p.leaf(c)
	}
}

// bind gives a template its inputs, and replaces the tags that they and the workflow have values for.
func (p *planner) bind(r request, template *v1alpha1.Template) (*v1alpha1.Template, *text.Scope, error) {
	outer := r.scope.Inside()
	outer.Set("node.name", r.name)
	if r.caller[0] != "" {
		outer.Set(r.caller[0], r.caller[1])
	}
	inputs, err := text.Replace(template.Inputs, outer, text.Mode{Late: lateAnywhere, Must: resolved})
	if err != nil {
		return nil, nil, err
	}
	if template.Inputs, err = text.Bind(inputs, r.arguments, p.facts.Configs); err != nil {
		return nil, nil, err
	}
	late := lateInLeaf
	switch {
	case template.Steps != nil || template.DAG != nil:
		late = lateInCaller
	case p.strategy(template) != nil:
		late = lateInRetry
	default:
		outer.Set("pod.name", PodName(p.wf.Name, template.Name, r.name))
	}
	mode := text.Mode{Late: late, Must: resolved}
	scope, err := text.Settle(template.Inputs.Parameters, r.arguments.Parameters, outer, mode)
	if err != nil {
		return nil, nil, err
	}
	list, err := parametersJSON(template.Inputs.Parameters)
	if err != nil {
		return nil, nil, err
	}
	scope.Set("inputs.parameters", list)
	setPaths(scope, template)
	bound, err := replaceTemplate(template, scope, mode)
	return bound, scope, err
}

// setPaths gives artifacts, and files with outputs, their names.
func setPaths(scope *text.Scope, template *v1alpha1.Template) {
	for _, artifact := range template.Inputs.Artifacts {
		scope.SetArtifact("inputs.artifacts."+artifact.Name, artifact)
		if artifact.Path != "" {
			scope.Set("inputs.artifacts."+artifact.Name+".path", artifact.Path)
		}
	}
	for _, artifact := range template.Outputs.Artifacts {
		if artifact.Path != "" {
			scope.Set("outputs.artifacts."+artifact.Name+".path", artifact.Path)
		}
	}
	for _, parameter := range template.Outputs.Parameters {
		if parameter.ValueFrom != nil && parameter.ValueFrom.Path != "" {
			scope.Set("outputs.parameters."+parameter.Name+".path", parameter.ValueFrom.Path)
		}
	}
	// An optional artifact that was not supplied has no place.
	scope.Finish("inputs.artifacts")
}

// replaceTemplate replaces the tags of a template, but for those of templates inside of it, which have inputs of their own.
func replaceTemplate(template *v1alpha1.Template, scope *text.Scope, mode text.Mode) (*v1alpha1.Template, error) {
	copied := template.DeepCopy()
	var inline []*v1alpha1.Template
	each := func(do func(*v1alpha1.Execution)) {
		for i := range copied.Steps {
			for j := range copied.Steps[i] {
				do(&copied.Steps[i][j].Execution)
			}
		}
		if copied.DAG != nil {
			for i := range copied.DAG.Tasks {
				do(&copied.DAG.Tasks[i].Execution)
			}
		}
	}
	each(func(e *v1alpha1.Execution) { inline, e.Inline = append(inline, e.Inline), nil })
	replaced, err := text.Replace(*copied, scope, mode)
	if err != nil {
		return nil, err
	}
	copied = &replaced
	each(func(e *v1alpha1.Execution) { e.Inline, inline = inline[0], inline[1:] })
	return copied, nil
}
