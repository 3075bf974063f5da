package v1alpha1

import "k8s.io/apimachinery/pkg/util/intstr"

// Call is what steps, tasks and hooks have in common: the template that is executed, and its arguments.
type Call struct {
	// Template is the name of a template of the same object.
	Template string `json:"template,omitempty"`
	// TemplateRef names a template of another object.
	TemplateRef *TemplateRef `json:"templateRef,omitempty"`
	// Arguments are for the template.
	Arguments Arguments `json:"arguments,omitzero"`
}

// Loop expands one step or task into several. At most one of the three is set.
type Loop struct {
	// WithItems are the items.
	WithItems []Item `json:"withItems,omitempty"`
	// WithParam is a list of items in JSON.
	WithParam string `json:"withParam,omitempty"`
	// WithSequence are numbers.
	WithSequence *Sequence `json:"withSequence,omitempty"`
}

// Expands reports whether there is a loop.
func (l Loop) Expands() bool {
	return len(l.WithItems) > 0 || l.WithParam != "" || l.WithSequence != nil
}

// Sequence are numbers.
type Sequence struct {
	// Count is how many there are.
	Count *intstr.IntOrString `json:"count,omitempty"`
	// Start is the first one, 0 by default.
	Start *intstr.IntOrString `json:"start,omitempty"`
	// End is the last one, instead of a count.
	End *intstr.IntOrString `json:"end,omitempty"`
	// Format of each, as printf takes it.
	Format string `json:"format,omitempty"`
}

// Execution is what steps and tasks have in common besides the call.
type Execution struct {
	// Name of the step or task.
	Name string `json:"name,omitempty"`
	Call `json:",inline"`
	// Inline is a template that has no other callers.
	Inline *Template `json:"inline,omitempty"`
	Loop   `json:",inline"`
	// When is a condition, without which it is skipped.
	When string `json:"when,omitempty"`
	// ContinueOn names failures that do not fail the caller.
	ContinueOn *ContinueOn `json:"continueOn,omitempty"`
	// OnExit is the older spelling of the hook named exit.
	OnExit string `json:"onExit,omitempty"`
	// Hooks are executed once their expression is true; the one named exit at the end.
	Hooks LifecycleHooks `json:"hooks,omitempty"`
}

// WorkflowStep is one of several steps that run at the same time.
type WorkflowStep struct {
	Execution `json:",inline"`
}

// ParallelSteps are steps that run at the same time.
type ParallelSteps []WorkflowStep

// DAGTemplate is a graph of tasks.
type DAGTemplate struct {
	// Target are the names of the tasks to execute, with what they depend on; all by default.
	Target string `json:"target,omitempty"`
	// Tasks of the graph.
	Tasks []DAGTask `json:"tasks" patchStrategy:"merge" patchMergeKey:"name"`
	// FailFast starts no task after one has failed; true by default.
	FailFast *bool `json:"failFast,omitempty"`
}

// DAGTask is one task of a graph.
type DAGTask struct {
	Execution `json:",inline"`
	// Dependencies are tasks that have to succeed before.
	Dependencies []string `json:"dependencies,omitempty"`
	// Depends is an expression over the results of other tasks.
	Depends string `json:"depends,omitempty"`
}

// ContinueOn names failures that do not fail the caller.
type ContinueOn struct {
	// Error is set for errors of the engine or the cluster.
	Error bool `json:"error,omitempty"`
	// Failed is set for failures of what was executed.
	Failed bool `json:"failed,omitempty"`
}

// Covers reports whether a phase does not fail the caller.
func (c *ContinueOn) Covers(phase NodePhase) bool {
	return c != nil && (c.Error && phase == NodeError || c.Failed && phase == NodeFailed)
}

// ExitHook is the name of the hook that is executed at the end.
const ExitHook = "exit"

// LifecycleHooks are hooks by name.
type LifecycleHooks map[string]LifecycleHook

// LifecycleHook is a call that is made once its expression is true.
type LifecycleHook struct {
	Call `json:",inline"`
	// Expression that has to be true; the hook named exit needs none.
	Expression string `json:"expression,omitempty"`
}

// Exit is the hook at the end of a step or task, from either spelling; nil if there is none.
func (e *Execution) Exit() *LifecycleHook {
	if hook, found := e.Hooks[ExitHook]; found {
		return &hook
	}
	if e.OnExit != "" {
		return &LifecycleHook{Call: Call{Template: e.OnExit}}
	}
	return nil
}

// RetryStrategy says whether and how often a failure is retried.
type RetryStrategy struct {
	// Limit is how many retries there are; any number without it.
	Limit *intstr.IntOrString `json:"limit,omitempty"`
	// RetryPolicy says what is retried.
	RetryPolicy RetryPolicy `json:"retryPolicy,omitempty"`
	// Backoff is the wait before a retry.
	Backoff *Backoff `json:"backoff,omitempty"`
	// Affinity keeps retries off the same machine.
	Affinity *RetryAffinity `json:"affinity,omitempty"`
	// Expression has to be true for a retry.
	Expression string `json:"expression,omitempty"`
}

// Policy is what is retried: what the strategy says, else everything for one with an expression, else failures.
func (r *RetryStrategy) Policy() RetryPolicy {
	switch {
	case r.RetryPolicy != "":
		return r.RetryPolicy
	case r.Expression != "":
		return RetryAlways
	default:
		return RetryOnFailure
	}
}

// RetryPolicy says what is retried.
type RetryPolicy string

// The policies.
const (
	RetryAlways           RetryPolicy = "Always"
	RetryOnFailure        RetryPolicy = "OnFailure"
	RetryOnError          RetryPolicy = "OnError"
	RetryOnTransientError RetryPolicy = "OnTransientError"
)

// Backoff is the wait before a retry.
type Backoff struct {
	// Duration of the first wait.
	Duration string `json:"duration,omitempty"`
	// Factor by which each wait is longer.
	Factor *intstr.IntOrString `json:"factor,omitempty"`
	// MaxDuration is when no retry starts anymore, after the start of the first attempt.
	MaxDuration string `json:"maxDuration,omitempty"`
	// Cap is the longest wait.
	Cap string `json:"cap,omitempty"`
}

// RetryAffinity keeps retries off the same machine.
type RetryAffinity struct {
	// NodeAntiAffinity is empty.
	NodeAntiAffinity *RetryNodeAntiAffinity `json:"nodeAntiAffinity,omitempty"`
}

// RetryNodeAntiAffinity has no fields yet.
type RetryNodeAntiAffinity struct{}
