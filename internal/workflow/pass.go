package workflow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/lint"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// workflowPasses are passes over Workflows.
type workflowPasses struct{ *part }

// Share is the namespace: Workflows of one do not keep others from being served.
func (workflowPasses) Share(name types.NamespacedName) string { return name.Namespace }

// decisions is how often a pass decides before others have their turn.
const decisions = 16

// Pass decides what a Workflow does next, records it, and has it carried out, until nothing is left to do without waiting.
func (w workflowPasses) Pass(ctx context.Context, name types.NamespacedName) rounds.Next {
	if err := w.forget(ctx, name); err != nil {
		return rounds.Retry(err)
	}
	if u := w.takeBroken(idOf(v1alpha1.WorkflowKind, name)); u != nil {
		return rounds.Done(w.refuse(ctx, u))
	}
	for range decisions {
		wf, known := w.workflow(name)
		if !known {
			return rounds.Rest()
		}
		if wf.DeletionTimestamp != nil {
			return rounds.Done(w.executor.Forget(ctx, execute.Of(wf)))
		}
		d, changed, err := w.advance(ctx, wf)
		switch {
		case errors.Is(err, errGone):
			return rounds.Rest()
		case apierrors.IsConflict(err):
			if err := w.readAgain(ctx, name); err != nil {
				return rounds.Retry(err)
			}
			continue
		case err != nil:
			return rounds.Retry(fmt.Errorf("Workflow %s: %w", name, err))
		case changed:
			continue
		case !d.Wake.IsZero():
			return rounds.After(time.Until(d.Wake))
		default:
			return rounds.Rest()
		}
	}
	return rounds.After(0)
}

// forget has the executors forget what was deleted.
func (p *part) forget(ctx context.Context, name types.NamespacedName) error {
	p.mu.Lock()
	gone := p.gone[name]
	p.mu.Unlock()
	for _, of := range gone {
		if err := p.executor.Forget(ctx, of); err != nil {
			return fmt.Errorf("forgetting Workflow %s: %w", name, err)
		}
		p.mu.Lock()
		if p.gone[name] = p.gone[name][1:]; len(p.gone[name]) == 0 {
			delete(p.gone, name)
		}
		p.mu.Unlock()
	}
	return nil
}

// advance makes one decision, writes it into the object, and carries it out. Nothing is carried out that could not be written.
func (p *part) advance(ctx context.Context, wf *v1alpha1.Workflow) (d plan.Decision, changed bool, err error) {
	given, err := plan.Expanded(wf)
	if err != nil {
		return d, false, err
	}
	if d, err = p.decide(ctx, given); err != nil {
		return d, false, err
	}
	written, err := p.record(ctx, wf, &d)
	if err != nil {
		return d, false, err
	}
	if written != nil {
		p.tell(wf, written)
	}
	p.executor.here.Recorded(d.Workflow)
	acted, err := p.carryOut(ctx, d)
	return d, written != nil || acted, err
}

// decide gathers the facts that a decision needs, and makes it.
func (p *part) decide(ctx context.Context, wf *v1alpha1.Workflow) (plan.Decision, error) {
	now := time.Now()
	if wf.Status.Phase == "" && wf.Status.StartedAt.IsZero() {
		if err := p.check(wf); err != nil {
			return plan.Refuse(wf, now, err), nil
		}
	}
	facts, err := p.facts(ctx, wf, now)
	if err != nil {
		return plan.Decision{}, err
	}
	for {
		d := plan.Next(wf, facts)
		more, err := p.provide(ctx, wf.Namespace, d, &facts)
		var mistake *mistakeError
		if errors.As(err, &mistake) {
			return plan.Refuse(wf, now, err), nil
		}
		if err != nil || !more {
			return d, err
		}
	}
}

// maxFindings is how many mistakes a status names.
const maxFindings = 10

// check is what is wrong with a Workflow before it has begun, by the names of the fields.
func (p *part) check(wf *v1alpha1.Workflow) error {
	id := idOf(v1alpha1.WorkflowKind, types.NamespacedName{Namespace: wf.Namespace, Name: wf.Name})
	return p.findings(p.workflows.Raw(id), wf.Namespace)
}

// findings is what is wrong with an object, as one error; nil if nothing is.
func (p *part) findings(raw map[string]any, namespace string) error {
	document, err := (&unstructured.Unstructured{Object: raw}).MarshalJSON()
	if err != nil {
		return fmt.Errorf("invalid spec: %w", err)
	}
	return told(lint.Check(document, p.library(namespace)))
}

// told puts findings into one error.
func told(findings []lint.Finding) error {
	if len(findings) == 0 {
		return nil
	}
	texts := make([]string, 0, len(findings))
	for i, finding := range findings {
		if i == maxFindings {
			texts = append(texts, fmt.Sprintf("and %d more", len(findings)-maxFindings))
			break
		}
		text := finding.Field + ": " + finding.Text
		if finding.Template != "" {
			text = fmt.Sprintf("template %q: %s", finding.Template, text)
		}
		texts = append(texts, text)
	}
	return errors.New("invalid spec: " + strings.Join(texts, "; "))
}

// refuse ends a Workflow that cannot be read.
func (p *part) refuse(ctx context.Context, u *unstructured.Unstructured) error {
	bare := &v1alpha1.Workflow{ObjectMeta: metav1.ObjectMeta{
		Name: u.GetName(), Namespace: u.GetNamespace(), UID: u.GetUID(), ResourceVersion: u.GetResourceVersion(), Labels: u.GetLabels(),
	}}
	if phase, _, _ := unstructured.NestedString(u.Object, "status", "phase"); v1alpha1.WorkflowPhase(phase).Completed() {
		return nil
	}
	err := p.findings(u.Object, u.GetNamespace())
	if err == nil {
		err = errors.New("invalid spec: it cannot be read")
	}
	d := plan.Refuse(bare, time.Now(), err)
	_, err = p.write(ctx, u.Object, bare, d.Workflow)
	if apierrors.IsConflict(err) {
		return nil // the change that came between is seen by the watch
	}
	return err
}

// readAgain takes a Workflow as it is stored, since it was changed after it was seen.
func (p *part) readAgain(ctx context.Context, name types.NamespacedName) error {
	u, err := p.client.Resource(v1alpha1.GroupVersion.WithResource("workflows")).Namespace(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil // the watch tells
	}
	if err != nil {
		return fmt.Errorf("reading Workflow %s: %w", name, err)
	}
	p.putWorkflow(u)
	return nil
}
