package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// retry brings a node further that stands for all attempts of a call.
func (p *planner) retry(c call, strategy *v1alpha1.RetryStrategy) (*v1alpha1.NodeStatus, error) {
	node := p.node(c.name)
	if node == nil {
		node = p.create(c.request, v1alpha1.NodeTypeRetry, v1alpha1.NodeRunning, "")
		if inputs := c.template.Inputs; len(inputs.Parameters)+len(inputs.Artifacts) > 0 {
			node.Inputs = inputs.DeepCopy()
		}
	}
	ended, err := p.judged(c, strategy, node)
	if err != nil {
		return p.mark(node, v1alpha1.NodeError, err.Error()), err
	}
	if ended {
		return node, nil
	}
	child, err := p.attempt(c, strategy, node)
	switch {
	case err != nil:
		// What is wrong with the template is wrong in every attempt.
		return p.mark(node, child.Phase, child.Message), err
	case child != nil && child.Phase.Fulfilled():
		if ended, err = p.judged(c, strategy, node); err != nil {
			return p.mark(node, v1alpha1.NodeError, err.Error()), err
		}
		if !ended {
			// An attempt that ends at once is not followed by another one at once.
			p.wakeAt(p.facts.Now.Add(time.Second))
		}
	}
	return node, nil
}

// judged ends the node, or has it wait, if that follows from the attempts so far. Otherwise, another attempt may begin.
func (p *planner) judged(c call, strategy *v1alpha1.RetryStrategy, node *v1alpha1.NodeStatus) (bool, error) {
	attempts := p.attempts(node)
	if len(attempts) == 0 || !attempts[len(attempts)-1].Phase.Fulfilled() {
		return false, nil
	}
	v, err := p.judge(c, strategy, attempts, strings.HasPrefix(node.Message, BackingOff))
	if err != nil {
		return false, err
	}
	node.Message = v.message
	if v.phase != "" {
		node.Outputs = attempts[len(attempts)-1].Outputs.DeepCopy()
		p.mark(node, v.phase, v.message)
	}
	return v.phase != "" || v.wait, nil
}

// BackingOff begins the message of a node that waits for another attempt. It also says that there will be one: the cause of
// the failure may have been removed when the wait is over.
const BackingOff = "Backoff for "

// attempt brings the last attempt further, or begins the next one.
func (p *planner) attempt(c call, strategy *v1alpha1.RetryStrategy, node *v1alpha1.NodeStatus) (*v1alpha1.NodeStatus, error) {
	attempts := p.attempts(node)
	number := len(attempts)
	previous := attempts
	if number > 0 && !attempts[number-1].Phase.Fulfilled() {
		number--
		previous = attempts[:number]
	}
	r := c.request
	r.name = c.name + "(" + strconv.Itoa(number) + ")"
	r.flag.Retried = true
	until, err := lastEnd(strategy.Backoff, previous)
	if err != nil {
		return p.fail(r, err), err
	}
	if !until.IsZero() {
		r.until = until
	}
	if strategy.Affinity != nil && strategy.Affinity.NodeAntiAffinity != nil {
		for _, one := range previous {
			if host := one.HostNodeName; host != "" && !slices.Contains(r.avoid, host) {
				r.avoid = append(r.avoid, host)
			}
		}
	}
	scope := c.inner.Inside()
	scope.Set("pod.name", PodName(p.wf.Name, c.template.Name, r.name))
	scope.Set("retries", strconv.Itoa(number))
	for name, value := range lastRetry(previous, "0") {
		scope.Set("lastRetry."+name, value)
	}
	mode := text.Mode{Late: lateInLeaf, Must: resolved}
	if c.template.Steps != nil || c.template.DAG != nil {
		mode.Late = lateInCaller
	}
	template, err := replaceTemplate(c.template, scope, mode)
	if err != nil {
		child := p.fail(r, err)
		p.adopt(node, child)
		return child, err
	}
	if p.node(r.name) == nil && number > 0 && !p.mayCreate(r, template) {
		return nil, nil
	}
	child, err := p.carryOut(call{request: r, template: template, at: c.at, inner: scope})
	if child != nil {
		p.adopt(node, child)
	}
	return child, err
}

// verdict is what follows from the attempts so far: an end with a phase, a wait, or another attempt.
type verdict struct {
	phase   v1alpha1.NodePhase
	message string
	wait    bool
}

// judge decides what follows from attempts of which the last one has ended.
func (p *planner) judge(c call, strategy *v1alpha1.RetryStrategy, attempts []*v1alpha1.NodeStatus, decided bool) (verdict, error) {
	last := attempts[len(attempts)-1]
	if !last.Phase.Bad() {
		return verdict{phase: v1alpha1.NodeSucceeded}, nil
	}
	if p.shutting(c.exit) {
		return verdict{phase: last.Phase, message: stopped(p.shutdown())}, nil
	}
	if p.overdue(c.exit) {
		return verdict{phase: last.Phase, message: fmt.Sprintf("retry exceeded workflow deadline %s", p.workflowDeadline())}, nil
	}
	if !decided && !p.retries(strategy.Policy(), last) {
		return verdict{phase: last.Phase, message: last.Message}, nil
	}
	limit, err := whole("limit", strategy.Limit)
	if err != nil {
		return verdict{}, err
	}
	left := limit == nil || int64(len(attempts)) <= *limit
	pause, err := p.pause(strategy.Backoff, attempts)
	if err != nil {
		return verdict{}, err
	}
	switch {
	case pause.phase != "":
		return pause, nil
	case pause.wait && left:
		return pause, nil
	}
	if !left {
		return verdict{phase: last.Phase, message: "No more retries left"}, nil
	}
	if strategy.Expression != "" {
		again, err := text.Bool(strategy.Expression, c.inner, map[string]any{
			"retries": strconv.Itoa(len(attempts) - 1), "lastRetry": values(lastRetry(attempts, "-1")),
		})
		if err != nil {
			return verdict{}, err
		}
		if !again {
			return verdict{phase: last.Phase, message: "retryStrategy.expression evaluated to false"}, nil
		}
	}
	return verdict{}, nil
}

// pause decides whether the time for another attempt has come, or is over.
func (p *planner) pause(backoff *v1alpha1.Backoff, attempts []*v1alpha1.NodeStatus) (verdict, error) {
	if backoff == nil {
		return verdict{}, nil
	}
	last := attempts[len(attempts)-1]
	until, err := lastEnd(backoff, attempts)
	if err != nil {
		return verdict{}, err
	}
	if !until.IsZero() && p.facts.Now.After(until) {
		return verdict{phase: last.Phase, message: "Max duration limit exceeded"}, nil
	}
	wait, err := interval(backoff, len(attempts))
	if err != nil {
		return verdict{}, err
	}
	at := last.FinishedAt.Add(wait)
	if !until.IsZero() && at.After(until) {
		return verdict{phase: last.Phase, message: "Backoff would exceed max duration limit"}, nil
	}
	if p.facts.Now.Before(at) {
		p.wakeAt(at)
		return verdict{wait: true, message: BackingOff + wait.String()}, nil
	}
	return verdict{}, nil
}

// lastEnd is when the last attempt has to have ended; zero for never.
func lastEnd(backoff *v1alpha1.Backoff, attempts []*v1alpha1.NodeStatus) (time.Time, error) {
	if backoff == nil || backoff.MaxDuration == "" || len(attempts) == 0 {
		return time.Time{}, nil
	}
	longest, err := text.Duration(backoff.MaxDuration)
	if err != nil {
		return time.Time{}, fmt.Errorf("retryStrategy.backoff.maxDuration: %w", err)
	}
	return attempts[0].StartedAt.Add(longest), nil
}

// interval is the wait after a number of attempts.
func interval(backoff *v1alpha1.Backoff, attempts int) (time.Duration, error) {
	if backoff.Duration == "" {
		return 0, fmt.Errorf("no base duration specified for retryStrategy")
	}
	base, err := text.Duration(backoff.Duration)
	if err != nil {
		return 0, fmt.Errorf("retryStrategy.backoff.duration: %w", err)
	}
	longest := time.Duration(math.MaxInt64 / 4)
	if backoff.Cap != "" {
		if longest, err = text.Duration(backoff.Cap); err != nil {
			return 0, fmt.Errorf("retryStrategy.backoff.cap: %w", err)
		}
	}
	factor, err := whole("backoff.factor", backoff.Factor)
	if err != nil {
		return 0, err
	}
	wait := float64(base)
	if factor != nil && *factor > 0 {
		wait *= math.Pow(float64(*factor), float64(attempts-1))
	}
	if wait > float64(longest) {
		return longest, nil
	}
	return time.Duration(wait), nil
}

// whole is a number that may be written as a string.
func whole(field string, value *intstr.IntOrString) (*int64, error) {
	if value == nil {
		return nil, nil
	}
	number, err := strconv.ParseInt(value.String(), 10, 32)
	if err != nil {
		return nil, fmt.Errorf("retryStrategy.%s %q is not a number", field, value.String())
	}
	return &number, nil
}

// retries reports whether a policy covers how an attempt ended.
func (p *planner) retries(policy v1alpha1.RetryPolicy, last *v1alpha1.NodeStatus) bool {
	leaf := p.facts.Leaves[last.ID]
	if leaf.Final {
		return false
	}
	switch policy {
	case v1alpha1.RetryAlways:
		return true
	case v1alpha1.RetryOnError:
		return last.Phase == v1alpha1.NodeError
	case v1alpha1.RetryOnTransientError:
		return leaf.Transient
	default:
		return last.Phase == v1alpha1.NodeFailed
	}
}

// lastRetry are the values of the last of several attempts. The exit code of one that has none is given.
func lastRetry(attempts []*v1alpha1.NodeStatus, code string) map[string]string {
	fields := map[string]string{"exitCode": code, "duration": "0", "status": "", "message": ""}
	if len(attempts) == 0 {
		return fields
	}
	last := attempts[len(attempts)-1]
	if last.Outputs != nil && last.Outputs.ExitCode != nil {
		fields["exitCode"] = *last.Outputs.ExitCode
	}
	fields["status"], fields["message"] = string(last.Phase), last.Message
	fields["duration"] = strconv.FormatFloat(last.FinishedAt.Sub(last.StartedAt.Time).Seconds(), 'f', -1, 64)
	return fields
}

func values(fields map[string]string) map[string]any {
	all := map[string]any{}
	for name, value := range fields {
		all[name] = value
	}
	return all
}
