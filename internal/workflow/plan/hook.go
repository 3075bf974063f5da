package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// hooks brings the hooks of the node of a step or task further, and reports whether none is going on.
func (p *planner) hooks(e *v1alpha1.Execution, node *v1alpha1.NodeStatus, r request, name string, scope *text.Scope) (bool, error) {
	if node.Phase == v1alpha1.NodeSkipped || node.Phase == v1alpha1.NodeOmitted {
		return true, nil
	}
	inner := scope.Inside()
	p.describe(inner, name, node, r)
	done, err := p.lifecycle(e.Hooks, node, r, inner)
	if err != nil || !node.Phase.Completed() {
		return done, err
	}
	exit := e.Exit()
	if exit == nil || p.shutting(true) {
		return done, nil
	}
	child, err := p.hook(*p.withArguments(exit), exitName(node.Name), r, true, inner)
	if child == nil {
		return false, err
	}
	p.adopt(node, child)
	// An exit handler that failed has ended as well.
	return done && child.Phase.Fulfilled(), nil
}

// lifecycle brings the hooks other than the one at the end further. A hook is executed once its expression has been true.
func (p *planner) lifecycle(hooks v1alpha1.LifecycleHooks, parent *v1alpha1.NodeStatus, r request, scope *text.Scope) (bool, error) {
	done := true
	for _, event := range slices.Sorted(maps.Keys(hooks)) {
		if event == v1alpha1.ExitHook {
			continue
		}
		hook, name := hooks[event], hookName(parent.Name, event)
		triggered := p.node(name) != nil
		if !triggered {
			if hook.Expression == "" {
				return false, fmt.Errorf("Expression required for hook %s", name)
			}
			var err error
			if triggered, err = text.Bool(hook.Expression, scope, nil); err != nil {
				return false, err
			}
		}
		if !triggered {
			continue
		}
		child, err := p.hook(hook, name, r, r.exit, scope)
		if child != nil {
			p.adopt(parent, child)
		}
		if err != nil {
			return false, err
		}
		done = done && child != nil && child.Phase.Fulfilled()
	}
	return done, nil
}

// hook brings one hook further.
func (p *planner) hook(hook v1alpha1.LifecycleHook, name string, r request, exit bool, scope *text.Scope) (*v1alpha1.NodeStatus, error) {
	hooked := request{
		name: name, call: hook.Call, place: r.place, boundary: r.boundary, exit: exit || r.exit,
		flag: v1alpha1.NodeFlag{Hooked: true}, scope: r.scope,
	}
	if existing := p.node(name); existing != nil && existing.Phase.Fulfilled() {
		return existing, nil
	}
	if p.node(name) == nil {
		arguments, err := argue(hook.Arguments, scope)
		if err != nil {
			return p.fail(hooked, err), err
		}
		hooked.arguments = arguments
	}
	return p.execute(hooked)
}

// withArguments gives an exit handler without arguments those of the workflow.
func (p *planner) withArguments(hook *v1alpha1.LifecycleHook) *v1alpha1.LifecycleHook {
	if len(hook.Arguments.Parameters)+len(hook.Arguments.Artifacts) == 0 {
		hook.Arguments = p.spec.Arguments
	}
	return hook
}

// workflowHooks brings the hooks of the workflow further, and reports whether none is going on.
func (p *planner) workflowHooks() (bool, error) {
	root := p.node(p.wf.Name)
	return p.lifecycle(p.spec.Hooks, root, request{scope: p.global}, p.global)
}

// workflowExit brings the exit handler of the workflow further, and reports whether it has ended. The node is nil if there is none.
func (p *planner) workflowExit() (*v1alpha1.NodeStatus, bool, error) {
	execution := v1alpha1.Execution{OnExit: p.spec.OnExit, Hooks: p.spec.Hooks}
	hook := execution.Exit()
	name := exitName(p.wf.Name)
	if hook == nil || p.shutting(true) && p.node(name) == nil {
		return nil, true, nil
	}
	node, err := p.hook(*p.withArguments(hook), name, request{scope: p.global}, true, p.global)
	return node, node != nil && node.Phase.Fulfilled(), err
}
