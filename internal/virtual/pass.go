package virtual

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/cluster/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/virtual/plan"
)

// steps are those of one pass: a finalizer, a start, what follows from it.
const steps = 4

// Pass brings a VirtualCluster closer to what it declares.
func (p *part) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	began := time.Now()
	err := p.pass(ctx, id)
	if vc, there := p.clusters.Get(id); there {
		p.Metrics.Pass(id.Kind, id.Namespace, id.Name, time.Since(began), meta.IsStatusConditionTrue(vc.Status.Conditions, v1alpha1.ConditionReady))
	}
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	return rounds.Done(err)
}

func (p *part) pass(ctx context.Context, id engine.UnitID) error {
	for range steps {
		vc, there := p.clusters.Get(id)
		if !there {
			return nil
		}
		r := p.alive(id)
		step := plan.Next(plan.Standing{
			Deleted: vc.DeletionTimestamp != nil, Kept: slices.Contains(vc.Finalizers, v1alpha1.Finalizer), Served: r != nil,
		})
		switch step {
		case plan.Keep:
			if err := p.keep(ctx, vc, true); err != nil {
				return err
			}
		case plan.Begin:
			if err := p.ended(ctx, vc); err != nil {
				return err
			}
			if err := p.begin(ctx, id); err != nil {
				return p.unready(ctx, vc, "ControlPlaneNotReady", err)
			}
		case plan.Supply:
			return p.supply(ctx, vc, r)
		case plan.End:
			return p.finish(ctx, vc)
		case plan.Rest:
			p.leave(id)
			return nil
		}
	}
	return nil
}

// ended has the status say that the control plane has ended that served a VirtualCluster until now. It is started again.
func (p *part) ended(ctx context.Context, vc *v1alpha1.VirtualCluster) error {
	p.mu.Lock()
	r := p.held[idOf(vc)]
	p.mu.Unlock()
	if r == nil {
		return nil
	}
	why := "it was stopped"
	if err := r.plane.Err(); err != nil {
		why = err.Error()
	}
	after := vc.DeepCopy()
	set(after, v1alpha1.ConditionReady, metav1.ConditionFalse, "ControlPlaneEnded",
		fmt.Sprintf("control plane %s has ended, and is started again: %s", r.plane.Name, why))
	return p.write(ctx, vc, after)
}

// keep sets the finalizer, or removes it.
func (p *part) keep(ctx context.Context, vc *v1alpha1.VirtualCluster, on bool) error {
	u, err := p.writer.Finalizer(ctx, vc, v1alpha1.Finalizer, on)
	if err != nil || u == nil {
		return err
	}
	_, err = p.clusters.Put(u)
	return err
}

// supply writes the credentials, copies the Secrets and says so in the status.
func (p *part) supply(ctx context.Context, vc *v1alpha1.VirtualCluster, r *running) error {
	c, err := credentials(r.plane)
	if err != nil {
		return p.unready(ctx, vc, "CredentialsNotRead", err)
	}
	if err := p.publish(ctx, vc, c); err != nil {
		reason := "CredentialsNotWritten"
		if errors.Is(err, errTaken) {
			reason = "NameTaken"
		}
		return p.unready(ctx, vc, reason, err)
	}
	problems, failure := p.copy(ctx, vc, r)
	after := vc.DeepCopy()
	after.Status.ObservedGeneration, after.Status.ControlPlane, after.Status.Server = vc.Generation, r.plane.Name, c.Server
	after.Status.Secret, after.Status.Cluster = plan.AccessName(vc.Name), ""
	if vc.Spec.ClusterSecret != nil {
		after.Status.Cluster = vc.Namespace
	}
	set(after, v1alpha1.ConditionReady, metav1.ConditionTrue, "Running", "its API answers at "+c.Server)
	switch {
	case failure != nil:
		set(after, v1alpha1.ConditionSecretsSynced, metav1.ConditionFalse, "NotCopied", failure.Error())
	case len(problems) > 0:
		set(after, v1alpha1.ConditionSecretsSynced, metav1.ConditionFalse, "Refused", summary(problems))
	default:
		set(after, v1alpha1.ConditionSecretsSynced, metav1.ConditionTrue, "Copied", "it has every Secret that its mappings name")
	}
	return errors.Join(failure, p.write(ctx, vc, after))
}

// named is how many problems a message names.
const named = 5

// summary names the first problems, and how many there are.
func summary(problems []plan.Problem) string {
	var texts []string
	for i, problem := range problems {
		if i == named {
			texts = append(texts, fmt.Sprintf("and %d more", len(problems)-named))
			break
		}
		texts = append(texts, problem.Error())
	}
	return strings.Join(texts, "; ")
}

// unready has the status say why a VirtualCluster is not ready. It returns the cause, by which the pass is made again.
func (p *part) unready(ctx context.Context, vc *v1alpha1.VirtualCluster, reason string, cause error) error {
	if ctx.Err() != nil {
		return cause
	}
	after := vc.DeepCopy()
	after.Status.ObservedGeneration = vc.Generation
	set(after, v1alpha1.ConditionReady, metav1.ConditionFalse, reason, cause.Error())
	return errors.Join(cause, p.write(ctx, vc, after))
}

func set(vc *v1alpha1.VirtualCluster, kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&vc.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: vc.Generation,
	})
}

// write writes a status that differs.
func (p *part) write(ctx context.Context, before, after *v1alpha1.VirtualCluster) error {
	u, err := p.writer.Status(ctx, after, before.Status, after.Status)
	if err != nil || u == nil {
		return err
	}
	_, err = p.clusters.Put(u)
	return err
}

// finish deletes what a VirtualCluster leaves outside itself, and lets it go. The Secret of Argo CD goes first, so that nothing is sent
// to a control plane that is about to stop.
func (p *part) finish(ctx context.Context, vc *v1alpha1.VirtualCluster) error {
	if err := p.withdraw(ctx, vc); err != nil {
		return p.unready(ctx, vc, "NotDeleted", err)
	}
	p.leave(idOf(vc))
	if err := p.options.Backing.Delete(ctx, plan.ControlPlane(plan.Name{Namespace: vc.Namespace, Name: vc.Name})); err != nil {
		return p.unready(ctx, vc, "NotDeleted", err)
	}
	return p.keep(ctx, vc, false)
}
