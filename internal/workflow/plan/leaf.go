package plan

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// leaf brings the node of an execution further: a pod, an action on an object, a request.
func (p *planner) leaf(c call) (*v1alpha1.NodeStatus, error) {
	node := p.node(c.name)
	if node == nil {
		node = p.create(c.request, leafType(c.template), v1alpha1.NodePending, "")
		inputs := c.template.Inputs
		if len(inputs.Parameters)+len(inputs.Artifacts) > 0 {
			node.Inputs = inputs.DeepCopy()
		}
		node.Outputs = constants(c.template)
		// After a crash, what it stands for may be running already.
		p.see(node)
	}
	if node.Phase.Fulfilled() {
		return node, nil
	}
	if _, exists := p.facts.Leaves[node.ID]; !exists && node.Phase == v1alpha1.NodeRunning {
		if reason := lost(c.template); reason != "" {
			return p.mark(node, v1alpha1.NodeError, reason), nil
		}
		// What was created is not created again, so it stays known that it was.
		if !creates(c.template) {
			node.Phase = v1alpha1.NodePending
		}
	}
	deadline, err := p.deadlines(c, node)
	if err != nil {
		return p.mark(node, v1alpha1.NodeError, err.Error()), err
	}
	if _, exists := p.facts.Leaves[node.ID]; exists || node.Phase.Fulfilled() {
		return node, nil
	}
	if reason := p.refusal(c.exit); reason != "" {
		return p.mark(node, v1alpha1.NodeFailed, reason), nil
	}
	run, err := p.run(c, node, deadline)
	if err != nil {
		return p.mark(node, v1alpha1.NodeError, err.Error()), err
	}
	p.do(Action{Do: Start, Node: node.ID, Run: run})
	return node, nil
}

func leafType(t *v1alpha1.Template) v1alpha1.NodeType {
	if t.HTTP != nil {
		return v1alpha1.NodeTypeHTTP
	}
	return v1alpha1.NodeTypePod
}

// creates reports whether a template creates an object.
func creates(t *v1alpha1.Template) bool { return t.Resource != nil && t.Resource.Action == "create" }

// Repeatable reports whether what a template executes may be carried out again when it is unknown how far it got.
func Repeatable(t *v1alpha1.Template) bool { return lost(t) == "" }

// repeatable are the methods of requests that have the same effect twice; none is the first of them.
var repeatable = []string{"", "GET", "HEAD", "OPTIONS", "PUT", "DELETE"}

// lost is why an execution that was seen running and is gone ends its node; empty for one that may simply be carried out again: an action on an object
// which has the same effect twice, or a request that is meant to be repeated. A pod may have done anything.
func lost(t *v1alpha1.Template) string {
	switch {
	case t.Resource != nil:
		return ""
	case t.HTTP == nil:
		return "pod deleted"
	case slices.Contains(repeatable, t.HTTP.Method):
		return ""
	default:
		return "it is unknown whether the request was answered"
	}
}

// run is what is to be started for a node.
func (p *planner) run(c call, node *v1alpha1.NodeStatus, deadline time.Time) (*Run, error) {
	settings, err := text.Replace(p.spec.PodSettings, c.inner, text.Mode{Late: lateAnywhere, Must: resolved})
	if err != nil {
		return nil, err
	}
	settings.Volumes = append(settings.Volumes, p.wf.Status.PersistentVolumeClaims...)
	run := &Run{
		Kind: Pod, NodeID: node.ID, NodeName: node.Name, Name: PodName(p.wf.Name, c.template.Name, node.Name),
		Template: reporting(c.template), Settings: settings, Deadline: deadline, Avoid: c.avoid, Result: c.wantsResult(),
		Begun: node.Phase == v1alpha1.NodeRunning,
	}
	switch {
	case c.template.HTTP != nil:
		run.Kind = HTTP
	case c.template.Resource != nil:
		run.Kind = Resource
		if run.Object, err = p.object(c.template, node); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// constants are the outputs that a template declares with their values; nil if there are none.
func constants(t *v1alpha1.Template) *v1alpha1.Outputs {
	var outputs *v1alpha1.Outputs
	for _, parameter := range t.Outputs.Parameters {
		if parameter.Value == nil || parameter.ValueFrom != nil {
			continue
		}
		if outputs == nil {
			outputs = &v1alpha1.Outputs{}
		}
		outputs.Parameters = append(outputs.Parameters, parameter)
	}
	return outputs
}

// reporting is a template without the outputs whose values it declares: an execution has nothing to report of them.
func reporting(t *v1alpha1.Template) *v1alpha1.Template {
	if constants(t) == nil {
		return t
	}
	copied := t.DeepCopy()
	copied.Outputs.Parameters = slices.DeleteFunc(copied.Outputs.Parameters, func(p v1alpha1.Parameter) bool { return p.Value != nil && p.ValueFrom == nil })
	return copied
}

// wantsResult reports whether what the call prints is used: by the template that it is a step or task of.
func (c call) wantsResult() bool {
	if c.owner == nil || c.step == "" {
		return false
	}
	data, err := json.Marshal(c.owner)
	if err != nil {
		return true
	}
	used := regexp.MustCompile(`(\.` + regexp.QuoteMeta(c.step) + `|\[(\\"|')` + regexp.QuoteMeta(c.step) + `(\\"|')\])\??\.outputs\??(\.result|\[)`)
	return used.Match(data)
}

// object is the one of a resource template; nil if its manifest is in an artifact.
func (p *planner) object(t *v1alpha1.Template, node *v1alpha1.NodeStatus) (*unstructured.Unstructured, error) {
	if t.Resource.Manifest == "" {
		return nil, nil
	}
	return Manifest(p.wf, t, t.Resource.Manifest, node.ID)
}

// Manifest reads the object of a resource template. A generated name follows from the node, so that an attempt which is repeated after a crash finds
// what it has created.
func Manifest(wf *v1alpha1.Workflow, t *v1alpha1.Template, manifest, nodeID string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		return nil, fmt.Errorf("template %q: resource.manifest is not the YAML of one object: %w", t.Name, err)
	}
	if u.GetKind() == "" || u.GetAPIVersion() == "" {
		return nil, fmt.Errorf("template %q: resource.manifest has no apiVersion or no kind", t.Name)
	}
	if t.Resource.SetOwnerReference {
		u.SetOwnerReferences(append(u.GetOwnerReferences(), *metav1.NewControllerRef(wf, v1alpha1.GroupVersion.WithKind(v1alpha1.WorkflowKind))))
	}
	if !creates(t) {
		return u, nil
	}
	run := string(wf.UID)
	if retried := wf.Annotations[v1alpha1.AnnotationRetried]; retried != "" {
		run += "/" + retried
	}
	if u.GetName() == "" && u.GetGenerateName() != "" {
		u.SetName(GeneratedName(u.GetGenerateName(), run, nodeID))
		u.SetGenerateName("")
	}
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.AnnotationRun] = run + "/" + nodeID
	u.SetAnnotations(annotations)
	return u, nil
}

// deadlines ends a node that took too long, and tells when it will have.
func (p *planner) deadlines(c call, node *v1alpha1.NodeStatus) (time.Time, error) {
	deadline := c.until
	earlier := func(at time.Time) {
		if deadline.IsZero() || at.Before(deadline) {
			deadline = at
		}
	}
	if c.template.Timeout != "" {
		timeout, err := text.Duration(c.template.Timeout)
		if err != nil {
			return deadline, fmt.Errorf("invalid timeout format. %w", err)
		}
		earlier(node.StartedAt.Add(timeout))
	}
	if pending := c.template.PendingTimeout; pending != "" && node.Phase == v1alpha1.NodePending {
		timeout, err := text.Duration(pending)
		if err != nil {
			return deadline, fmt.Errorf("invalid pendingTimeout format. %w", err)
		}
		p.expire(node, node.StartedAt.Add(timeout), "Step exceeded its pending timeout")
	}
	if at := p.workflowDeadline(); !at.IsZero() && !c.exit {
		earlier(at)
	}
	if !deadline.IsZero() && !node.Phase.Fulfilled() {
		p.expire(node, deadline, "Step exceeded its deadline")
	}
	if active := c.template.ActiveDeadlineSeconds; active != nil {
		seconds, err := strconv.Atoi(active.String())
		if err != nil {
			return deadline, fmt.Errorf("activeDeadlineSeconds %q is not a number", active.String())
		}
		if leaf := p.facts.Leaves[node.ID]; node.Phase == v1alpha1.NodeRunning && !leaf.StartedAt.IsZero() {
			p.expire(node, leaf.StartedAt.Add(time.Duration(seconds)*time.Second), "Pod was active on the node longer than the specified deadline")
		}
	}
	return deadline, nil
}

// expire ends a node at a time: one that waits at once, one that runs by stopping it, after which it reports how it ended.
func (p *planner) expire(node *v1alpha1.NodeStatus, at time.Time, reason string) {
	if node.Phase.Fulfilled() {
		return
	}
	if p.facts.Now.Before(at) {
		p.wakeAt(at)
		return
	}
	if _, exists := p.facts.Leaves[node.ID]; exists {
		p.do(Action{Do: Stop, Node: node.ID, Reason: reason})
	}
	if node.Phase == v1alpha1.NodePending {
		p.mark(node, v1alpha1.NodeFailed, reason)
	}
}
