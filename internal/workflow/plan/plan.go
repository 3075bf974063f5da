// Package plan decides what a workflow does next: a pure function of the workflow as it is stored, of what was observed, and of the time.
// It gives the status that is to be written and the actions to be carried out.
//
// Every action has a name that follows from the workflow and the node, and is decided again until it is observed. So it does not
// matter whether the status is written before or after the actions, nor where a process was killed between them: the next pass
// decides the same, and what is already there is adopted.
//
// The package knows no cluster and no clock. What it has to know and was not given, such as a template of another object, it requests by
// name, and it starts nothing that depends on the answer.
package plan

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// Source names an object with templates.
type Source struct {
	Name string
	// Cluster is set for a ClusterWorkflowTemplate.
	Cluster bool
}

// Facts are what was observed.
type Facts struct {
	// Now is the time of the pass.
	Now time.Time
	// Leaves are the executions that exist, by the IDs of their nodes. All of them have to be there: one that is missing is
	// started, and if it had been seen running, it is started again if that does no harm, and lost otherwise.
	Leaves map[string]Leaf
	// Claims are the claims of the workflow that exist, by name.
	Claims map[string]bool
	// Templates are the specs of other objects; nil for one that does not exist. What is missing is requested.
	Templates map[Source]*v1alpha1.WorkflowSpec
	// Configs are values of ConfigMaps; what is missing is requested.
	Configs text.ConfigValues
	// Defaults are merged below every spec.
	Defaults *v1alpha1.WorkflowSpec
}

// Leaf is one execution: a pod, a process, an action on an object, a request.
type Leaf struct {
	// Phase is Pending, Running, Succeeded, Failed or Error.
	Phase v1alpha1.NodePhase
	// Message says why.
	Message string
	// Outputs are those that the template declares, each with its value, besides result and exit code.
	Outputs *v1alpha1.Outputs
	// StartedAt is when it left the queue, FinishedAt when it ended.
	StartedAt, FinishedAt time.Time
	// Host is the machine.
	Host string
	// Progress is what it reports, as N/M.
	Progress string
	// Transient is set for an end that another attempt may avoid without a change, Final for one that no attempt will.
	Transient, Final bool
	// Labels are those of the execution.
	Labels map[string]string `json:",omitempty"`
}

// Decision is what happens next.
type Decision struct {
	// Workflow is the object as it is to be written: status, labels and annotations. It is a copy.
	Workflow *v1alpha1.Workflow
	// Actions are to be carried out, in their order.
	Actions []Action
	// Templates and Configs have to be read before anything that needs them can continue.
	Templates []Source
	Configs   []text.ConfigKey
	// Wake is when to decide again without any change; zero for never.
	Wake time.Time
}

// Do is what an action does.
type Do string

// The actions. All of them may be carried out again: what is started already is adopted, what is gone stays gone.
const (
	Start          Do = "Start"
	Stop           Do = "Stop"
	Remove         Do = "Remove"
	CreateClaim    Do = "CreateClaim"
	DeleteClaim    Do = "DeleteClaim"
	DeleteWorkflow Do = "DeleteWorkflow"
)

// Action is one thing to carry out.
type Action struct {
	Do Do
	// Node is the ID of the node whose execution is meant.
	Node string
	// Run is what is started.
	Run *Run
	// Reason says why an execution is stopped; it is to be the message of its end.
	Reason string
	// Claim is the one to create; of one to delete, it has the name.
	Claim *corev1.PersistentVolumeClaim
	// Selector restricts a removal to executions with some labels.
	Selector *metav1.LabelSelector
	// Labels are those of the execution to remove.
	Labels map[string]string
}

// Kind is what carries out an execution.
type Kind string

// The kinds of executions.
const (
	Pod      Kind = "Pod"
	Resource Kind = "Resource"
	HTTP     Kind = "HTTP"
)

// Run is one execution with everything that it takes: no tags are left that anything could replace.
type Run struct {
	Kind Kind
	// NodeID and NodeName are those of the node, Name is that of the pod or process.
	NodeID, NodeName, Name string
	// Template has its inputs with their values.
	Template *v1alpha1.Template
	// Object is that of a resource template, with a name of its own where the manifest has only the beginning of one.
	Object *unstructured.Unstructured
	// Settings are those of the spec.
	Settings v1alpha1.PodSettings
	// Begun is set if the execution was seen running before and is gone: an object that it had created is not created again.
	Begun bool
	// Deadline is when it is to end; zero for never.
	Deadline time.Time
	// Avoid are the machines of earlier attempts.
	Avoid []string
	// Result is set if what the execution prints, or the body of the response, is to be in the outputs. Nothing else that a program prints gets into a
	// status, since it may be secret.
	Result bool
}

// Labels are those that the user declares for the execution.
func (r *Run) Labels() map[string]string {
	all := map[string]string{}
	if r.Settings.PodMetadata != nil {
		maps.Copy(all, r.Settings.PodMetadata.Labels)
	}
	if r.Template != nil {
		maps.Copy(all, r.Template.Metadata.Labels)
	}
	return all
}

// Next decides what a workflow does next.
func Next(workflow *v1alpha1.Workflow, facts Facts) Decision {
	p := &planner{facts: facts, before: workflow, wf: workflow.DeepCopy(), nodes: map[string]*v1alpha1.NodeStatus{}}
	for id, node := range p.wf.Status.Nodes {
		p.nodes[id] = &node
	}
	switch {
	case p.wf.Status.Phase.Completed():
		p.afterwards()
	case p.unpack() && !p.restarts():
		p.advance()
	}
	return p.decision()
}

// planner is one pass over one workflow.
type planner struct {
	facts      Facts
	before, wf *v1alpha1.Workflow
	// spec is that of the workflow with what is merged below it.
	spec   *v1alpha1.WorkflowSpec
	global *text.Scope
	nodes  map[string]*v1alpha1.NodeStatus

	actions   []Action
	templates []Source
	configs   []text.ConfigKey
	wake      time.Time
	depth     int
}

// decision puts together what the pass found out.
func (p *planner) decision() Decision {
	if len(p.nodes) > 0 {
		p.wf.Status.Nodes = make(v1alpha1.Nodes, len(p.nodes))
		for id, node := range p.nodes {
			p.wf.Status.Nodes[id] = *node
		}
	}
	return Decision{Workflow: p.wf, Actions: p.actions, Templates: p.templates, Configs: p.configs, Wake: p.wake}
}

// advance is a pass over a workflow that has not ended.
func (p *planner) advance() {
	if !p.prepare() {
		return
	}
	p.observe()
	p.limit()
	defer p.summarize()
	if p.spec.Suspend != nil && *p.spec.Suspend {
		return
	}
	p.claims()
	root, err := p.execute(request{
		name: p.wf.Name, call: v1alpha1.Call{Template: p.spec.Entrypoint}, arguments: p.spec.Arguments, scope: p.global,
	})
	switch {
	case err != nil:
		p.end(v1alpha1.WorkflowError, "error in entry template execution: "+err.Error())
	case root != nil:
		p.conclude(root)
	}
}

// conclude runs the hooks of the workflow, and ends it once everything is done.
func (p *planner) conclude(root *v1alpha1.NodeStatus) {
	p.global.Set("workflow.status", string(workflowPhase(root.Phase)))
	p.global.Set("workflow.failures", p.failures())
	done, err := p.workflowHooks()
	if err != nil {
		p.mark(root, v1alpha1.NodeError, err.Error())
	}
	if !done || !root.Phase.Fulfilled() {
		return
	}
	exit, done, err := p.workflowExit()
	if err != nil {
		p.end(v1alpha1.WorkflowError, "error in exit template execution : "+err.Error())
		return
	}
	if !done {
		return
	}
	message := root.Message
	if root.Phase.Bad() && p.shutdown() != "" {
		message = stopped(p.shutdown())
	}
	switch phase := workflowPhase(root.Phase); {
	case phase == v1alpha1.WorkflowSucceeded && exit != nil && exit.Phase.Bad():
		p.end(workflowPhase(exit.Phase), exit.Message)
	case phase == v1alpha1.WorkflowSucceeded:
		p.end(phase, "")
	default:
		p.end(phase, message)
	}
}

// workflowPhase is the phase of a workflow whose entrypoint has one.
func workflowPhase(phase v1alpha1.NodePhase) v1alpha1.WorkflowPhase {
	switch phase {
	case v1alpha1.NodeSucceeded, v1alpha1.NodeSkipped, v1alpha1.NodeOmitted:
		return v1alpha1.WorkflowSucceeded
	case v1alpha1.NodeFailed:
		return v1alpha1.WorkflowFailed
	case v1alpha1.NodeError:
		return v1alpha1.WorkflowError
	case v1alpha1.NodePending:
		return v1alpha1.WorkflowPending
	default:
		return v1alpha1.WorkflowRunning
	}
}

// wakeAt requests a pass at a time, if none comes earlier.
func (p *planner) wakeAt(at time.Time) {
	if p.wake.IsZero() || at.Before(p.wake) {
		p.wake = at
	}
}

func (p *planner) do(a Action) { p.actions = append(p.actions, a) }

// askTemplate remembers an object that has to be read.
func (p *planner) askTemplate(source Source) {
	if !slices.Contains(p.templates, source) {
		p.templates = append(p.templates, source)
	}
}

// askConfig remembers a ConfigMap that has to be read.
func (p *planner) askConfig(key text.ConfigKey) {
	if !slices.Contains(p.configs, key) {
		p.configs = append(p.configs, key)
	}
}
